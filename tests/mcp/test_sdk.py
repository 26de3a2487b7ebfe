"""The official SDK's client understands the server, in both revisions."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.speaking import ENVELOPE, HANDSHAKE
from tests.mcp.transcripts import CALLS, kept, read

pytest.importorskip("mcp", reason="the SDK is not there: make mcp installs it")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("mode", "revision"),
    [("legacy", HANDSHAKE), (ENVELOPE, ENVELOPE), ("auto", ENVELOPE)],
)
def test_every_transcript(demo_warehouse: Path, mode: str, revision: str) -> None:
    """The client checks each answer against the tool's schema, too."""
    names = list(CALLS) if mode != "auto" else ["sql"]
    found = asyncio.run(spoken(demo_warehouse, mode, names))
    assert found.pop("revision") == revision
    assert found.pop("prompts") == ["oom", "regression", "ci-gate"]
    answers = {name: kept(answer, demo_warehouse) for name, answer in found.items()}
    assert answers == {name: read(name) for name in names}


async def spoken(db: Path, mode: str, names: list[str]) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters, stdio_client

    arguments = ["-m", "hlodb", "mcp", "--db", str(db)]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    found: dict[str, Any] = {}
    async with Client(stdio_client(server), mode=mode) as client:
        found["revision"] = client.protocol_version
        found["prompts"] = [p.name for p in (await client.list_prompts()).prompts]
        await client.list_tools()
        for name in names:
            tool, given = CALLS[name]
            result = await client.call_tool(tool, given)
            assert not result.is_error
            found[name] = result.structured_content
    return found

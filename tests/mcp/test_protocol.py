"""Requests that are broken, cancelled, too long, of other revisions, or many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.speaking import (
    ENVELOPE,
    HANDSHAKE,
    Client,
    answer_of,
    error_of,
    spoken_with,
)

ENDLESS = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b"
_PREFIX = "io.modelcontextprotocol/"


def code_of(answer: dict[str, Any]) -> int:
    code: int = answer["error"]["code"]
    return code


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'"x"', -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32600),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
        (b'"' + b"x" * (1 << 20) + b'"', -32600),
    ],
)
def test_broken_lines_are_answered(client: Client, line: bytes, code: int) -> None:
    number = json.loads(line).get("id") if line.startswith(b'{"') else None
    client.write(line)
    assert code_of(client.answer_to(number if number in (1, 7) else None)) == code
    assert client.request("ping")["result"] == {}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", {}, -32601),
        ("tools/call", {"name": "nix"}, -32602),
        ("tools/call", {"name": 1}, -32602),
        ("tools/call", {"name": "ask", "arguments": [1]}, -32602),
        ("prompts/get", {"name": "nix"}, -32602),
        ("prompts/get", {"name": "oom", "arguments": {"x": "y"}}, -32602),
    ],
)
def test_what_is_not_there_is_an_error(
    client: Client, method: str, params: dict[str, Any], code: int
) -> None:
    assert code_of(client.request(method, params)) == code


def test_revisions_are_agreed(demo_warehouse: Path) -> None:
    with spoken_with(demo_warehouse, revision=ENVELOPE) as client:
        client.revision = "1999-01-01"
        assert code_of(client.request("tools/list")) == -32602
        for wanted in ("2024-11-05", HANDSHAKE):
            client.revision = wanted
            found = client.initialize()["result"]
            assert found["protocolVersion"] == wanted
        client.revision = "2099-01-01"
        found = client.initialize()["result"]
        assert found["protocolVersion"] == HANDSHAKE
        meta = {f"{_PREFIX}protocolVersion": "2099-01-01"}
        half = client.request("tools/list", {"_meta": meta})
        assert code_of(half) == -32602
        meta[f"{_PREFIX}clientCapabilities"] = "{}"
        newer = client.request("tools/list", {"_meta": meta})
        assert newer["error"]["code"] == -32022
        assert newer["error"]["data"] == {
            "supported": [ENVELOPE],
            "requested": "2099-01-01",
        }


def test_a_cancelled_call_ends_without_an_answer(client: Client) -> None:
    asked = {"name": "sql", "arguments": {"statement": ENDLESS}}
    number = client.send("tools/call", asked)
    cancelled = {"requestId": number, "reason": "no more"}
    note = {"method": "notifications/cancelled", "params": cancelled}
    client.write({"jsonrpc": "2.0", **note})
    client.write({"jsonrpc": "2.0", **note, "params": {"requestId": "unknown"}})
    # All threads are free again: as many calls as there are threads are answered.
    quick = {"name": "sql", "arguments": {"statement": "SELECT 1 AS one"}}
    numbers = [client.send("tools/call", quick) for _ in range(5)]
    for each in numbers:
        assert answer_of(client.answer_to(each)["result"])["rows"] == [[1]]
    assert number not in client._waiting


def test_ten_calls_at_once(client: Client) -> None:
    numbers = {
        n: client.send(
            "tools/call",
            {"name": "sql", "arguments": {"statement": f"SELECT {n} AS n FROM runs"}},
        )
        for n in range(10)
    }
    for n, number in reversed(numbers.items()):
        answer = answer_of(client.answer_to(number)["result"])
        assert answer["rows"] == [[n]] * 10


def test_running_calls_end_with_the_client(demo_warehouse: Path) -> None:
    with spoken_with(demo_warehouse) as client:
        asked = {"name": "sql", "arguments": {"statement": ENDLESS}}
        client.send("tools/call", asked)


def test_a_call_that_takes_too_long_says_so(
    demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hlodb.mcp import tools
    from hlodb.mcp.protocol import Call, Stopped
    from hlodb.mcp.session import Session

    monkeypatch.setattr(tools, "SQL_SECONDS", 0.05)
    call = Call()
    with pytest.raises(Exception):  # noqa: B017
        tools.sql(Session(demo_warehouse), call, {"statement": ENDLESS, "limit": 10})
    call.end()
    assert call.reason == "this took longer than 0.05 seconds: ask for less"
    with pytest.raises(Stopped, match="longer than"):
        call.check()


def test_errors_are_short(client: Client) -> None:
    text = error_of(client.call("describe", name="x" * 15_000))
    assert len(text) == 2_000

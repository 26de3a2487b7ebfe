"""Hostile inputs come to what docs/hostile-input.md says; hostile names do no harm."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.commands.limit_option import parse_limits
from hlodb.errors import UsageError
from hlodb.ingest.limits import Limits
from tests.ingest.dumps import write
from tests.reliability.hostile import ARCHIVES, INPUTS, SOUND
from tests.reliability.hostile_page import PAGE, outcomes, page
from tests.reliability.integrity import faults


def test_the_page_is_what_happens() -> None:
    """`python -m tests.reliability.hostile_page` renews it; review with git diff."""
    assert len(ARCHIVES) >= 10 and len(INPUTS) >= 40
    assert page(outcomes()) == PAGE.read_text(encoding="utf-8")


HOSTILE = "a'b\"c|d<script>alert(1)</script>\u202eevil\x1b[31m`x`"
"""Quote, double quote, bar, markup, text that turns round, colour, command."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse whose run, series, program and file have that name."""
    folder = tmp_path_factory.mktemp("names")
    name = f"module_0001.{HOSTILE.replace('/', '_')}.before_optimizations.txt"
    text = SOUND.replace(b"jit_f", HOSTILE.encode())
    dump = write(folder / "dump", {name: text})
    db = folder / "w.duckdb"
    options = ["--run", f"{HOSTILE}\nx", "--series", HOSTILE, "--label", f"x={HOSTILE}"]
    assert main(["ingest", str(dump), "--db", str(db), *options]) == 0
    assert faults(db) == []
    return db


def answer(db: Path, form: str, capfd: pytest.CaptureFixture[str]) -> str:
    capfd.readouterr()
    for command in (["runs"], ["modules"], ["query", "ingest_ledger"]):
        assert main([*command, "--db", str(db), "--format", form]) == 0
    return capfd.readouterr().out


def test_names_on_a_terminal(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(hostile, "table", capfd)
    assert "evil" in text
    assert [c for c in text if c in "\x1b\u202e" or (c < " " and c != "\n")] == []


def test_names_in_markdown(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(hostile, "markdown", capfd)
    assert "evil" in text
    assert re.search(r"(?<!\\)<script", text) is None and "\x1b" not in text
    rows = [line for line in text.splitlines() if "evil" in line]
    assert rows and all(line.startswith("|") and line.endswith("|") for line in rows)


def test_names_in_json(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["runs", "--db", str(hostile), "--format", "json"]) == 0
    [row] = json.loads(capfd.readouterr().out)
    assert (row["run"], row["series"]) == (f"{HOSTILE}\nx", HOSTILE)


def test_names_as_parameters(hostile: Path) -> None:
    run = ["-p", f"run={HOSTILE}\nx"]
    assert main(["query", "module_list", *run, "--db", str(hostile)]) == 0
    assert main(["rm", f"{HOSTILE}\ny", "--db", str(hostile)]) == 2


def test_limits() -> None:
    assert parse_limits(["file_bytes=2G", "archive_members=7"]) == Limits(
        file_bytes=2 << 30, archive_members=7
    )
    for text in ("file_bytes", "file_bytes=", "file_bytes=-1", "file_bytes=1X", "no=1"):
        with pytest.raises(UsageError, match="limit"):
            parse_limits([text])

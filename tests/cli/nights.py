"""Nights of a small world, and what reports and triage say of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from tests.reports.worlds import World, make


def build(folder: Path, *worlds: World) -> Path:
    return make(folder / "hlodb.duckdb", *worlds)


def configure(text: str) -> None:
    Path("hlodb.toml").write_text(text)


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["triage", "--format", "jsonl", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def headline(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.partition("\n")[0]


@contextmanager
def held_open(path: Path) -> Iterator[None]:
    """Another process has the warehouse open for writing."""
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]);"
        " print('held', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate()

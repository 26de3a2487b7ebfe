"""What becomes of a process whose output, or what it says beside, is not written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMANDS = [
    ["--help"],
    ["report"],
    ["report", "--help"],
    ["query"],
    ["schema"],
    ["runs"],
    ["sql", "FROM modules", "--format", "jsonl"],
    ["sql", "FROM modules", "--format", "arrow"],
]


@pytest.fixture
def no_reader() -> Iterator[int]:
    """Return a pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def full_disk() -> Iterator[int]:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


def ended(
    arguments: list[str], db: Path, stdout: int, stderr: int = subprocess.PIPE
) -> tuple[int, str | None]:
    done = subprocess.run(
        [sys.executable, "-m", "hlodb", *arguments],
        env={**os.environ, "HLODB_DB": str(db)},
        stdout=stdout,
        stderr=stderr,
        text=True,
    )
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_has_enough(
    arguments: list[str], demo_warehouse: Path, no_reader: int
) -> None:
    assert ended(arguments, demo_warehouse, no_reader) == (141, "")
    assert ended(arguments, demo_warehouse, no_reader, no_reader) == (141, None)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk(
    arguments: list[str], demo_warehouse: Path, full_disk: int
) -> None:
    said = "hlodb: cannot write the standard output: No space left on device\n"
    assert ended(arguments, demo_warehouse, full_disk) == (2, said)


def test_what_is_said_beside_the_output_changes_no_code(
    demo_warehouse: Path, no_reader: int
) -> None:
    pipe = subprocess.PIPE
    assert ended(["nothing"], demo_warehouse, pipe, no_reader) == (2, None)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_closed_output_is_no_failure(
    arguments: list[str], demo_warehouse: Path
) -> None:
    shell = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh"]
    done = subprocess.run(
        [*shell, sys.executable, "-m", "hlodb", *arguments],
        env={**os.environ, "HLODB_DB": str(demo_warehouse)},
    )
    open_code, _ = ended(arguments, demo_warehouse, subprocess.DEVNULL)
    assert done.returncode == open_code

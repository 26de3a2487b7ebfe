"""Drafts of killed processes go with a later ingest, those of living ones stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.backup import back_up
from hlodb.schema.drafts import ABANDONED_SECONDS
from tests.conftest import DATA
from tests.ingest.loading import load

_BEGINS_DRAFTS = """
import sys
from pathlib import Path
from hlodb.schema.drafts import draft_beside, new_beside
for name in sys.argv[1:]:
    draft = draft_beside(Path(name))
    for path in (draft, Path(f"{draft}.wal"), new_beside(Path(name))):
        path.write_text("half")
    Path(f"{draft}.tmp").mkdir()
    Path(f"{draft}.tmp", "block").write_text("half")
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a process that has begun drafts of w.duckdb, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", _BEGINS_DRAFTS, str(tmp_path / "w.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    yield process
    process.kill()
    process.communicate()


def drafts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".w.duckdb.*"))


def grow_old(folder: Path) -> None:
    long_ago = time.time() - 2 * ABANDONED_SECONDS
    for path in drafts(folder):
        os.utime(path, (long_ago, long_ago))


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_drafts_of_a_killed_process_go(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    assert len(drafts(tmp_path)) == 4
    others = [
        tmp_path / f".v.duckdb.draft-{writer.pid}",
        tmp_path / f".w.duckdb.draft-{writer.pid}.kept",
    ]
    for other in others:
        other.write_text("of nobody we know")
    kill(writer)
    grow_old(tmp_path)
    load(tmp_path / "w.duckdb", DATA / "moved_lines" / "before")
    assert drafts(tmp_path) == others[1:]
    assert others[0].exists()


def test_what_was_changed_of_late_stays(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    """On another machine, which shares the disk, its process may be alive."""
    begun = drafts(tmp_path)
    kill(writer)
    load(tmp_path / "w.duckdb", DATA / "moved_lines" / "before")
    assert drafts(tmp_path) == begun


def test_drafts_of_a_living_process_stay(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    begun = drafts(tmp_path)
    grow_old(tmp_path)
    load(tmp_path / "w.duckdb", DATA / "moved_lines" / "before")
    assert drafts(tmp_path) == begun
    assert writer.poll() is None


def test_a_backup_removes_drafts_of_its_own(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    kill(writer)
    grow_old(tmp_path)
    source = tmp_path / "source.duckdb"
    ingest([str(DATA / "moved_lines" / "before")], source)
    back_up(source, tmp_path / "w.duckdb")
    assert drafts(tmp_path) == []

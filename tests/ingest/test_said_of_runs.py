"""What the user says of a run: what is missing is filled in, what is there stays."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from hlodb.ingest.ingest import ingest
from hlodb.ingest.run_records import RunRequest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

SAID = "name, series, commit_sha, branch, platform, labels, started_at"


def said(dump: Path, db: Path, **request: Any) -> tuple[list[Any], list[str]]:
    """Ingest; give what the warehouse has of the run, and the notes about it."""
    [summary] = ingest([str(dump)], db, request=RunRequest(**request), jobs=1)
    with connect(db) as connection:
        [row] = connection.execute(f"SELECT {SAID} FROM runs").fetchall()
    return [*row[:5], json.loads(row[5]), row[6]], summary.notes


def test_what_was_not_said_before_is_taken_later(tmp_path: Path) -> None:
    dump = shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "dump")
    for file in dump.rglob("*"):
        os.utime(file, (0, 86400))
    db, first = tmp_path / "w.duckdb", datetime(1970, 1, 2)
    assert said(dump, db) == (["dump", None, None, None, "cpu", {}, first], [])
    labels = {"branch": "main", "team": "x", "platform": "gpu"}
    row = ["dump", "s", "c", "main", "cpu", labels, first]
    assert said(dump, db, series="s", commit="c", labels=labels) == (row, [])
    assert said(dump, db) == (row, [])


def test_what_was_said_otherwise_before_stays_and_is_told(tmp_path: Path) -> None:
    dump, db = DATA / "moved_lines" / "before", tmp_path / "w.duckdb"
    one, other = datetime(2026, 1, 2), datetime(2026, 1, 3)
    request = {"series": "s", "commit": "c", "started_at": one}
    row = ["before", "s", "c", "b", "cpu", {"branch": "b"}, one]
    assert said(dump, db, labels={"branch": "b"}, **request) == (row, [])
    assert said(dump, db, series="t", commit="d", labels={"branch": "a", "x": "y"}) == (
        [*row[:5], {"branch": "b", "x": "y"}, one],
        [
            "run before keeps its series s, not t: `hlodb rm` forgets a run",
            "run before keeps its commit c, not d: `hlodb rm` forgets a run",
            "run before keeps its label branch b, not a: `hlodb rm` forgets a run",
        ],
    )
    assert said(dump, db, started_at=other)[0][-1] == other


def test_a_time_that_was_given_outlives_the_times_of_files(tmp_path: Path) -> None:
    dump = shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "dump")
    db, given = tmp_path / "w.duckdb", datetime(2026, 1, 2)
    assert said(dump, db, started_at=given)[0][-1] == given
    for file in dump.rglob("*"):
        os.utime(file, (0, 86400))
    assert said(dump, db)[0][-1] == given
    with (dump / "memory_analysis.json").open("w") as more:
        more.write("[]")
    assert said(dump, db)[0][-1] == given

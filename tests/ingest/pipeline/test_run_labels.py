"""What the user says of a run: what is missing is filled in, what is there stays."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.dumps import write

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


HOST = "module_0000.jit_h.cpu_after_optimizations.txt"
DEVICE = (
    "module_0001.jit_f.cl_933746096.after_optimizations.txt",
    "module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt",
)


@pytest.mark.parametrize("device", DEVICE)
@pytest.mark.parametrize("is_host_first", [True, False])
def test_the_platform_is_the_devices_though_the_host_compiles_too(
    tmp_path: Path, device: str, is_host_first: bool
) -> None:
    """At once, where the host's program has the lower number, or one by one."""
    platform, dump, db = {}, tmp_path / "dump", tmp_path / "w.duckdb"
    names = [HOST, device] if is_host_first else [device, HOST]
    for name in names:
        write(dump, {name: b"HloModule jit_f\n"})
        platform[name] = said(dump, db)[0][4]
    found = "tpu" if device == DEVICE[0] else "gpu"
    assert platform == {device: found, HOST: "cpu" if is_host_first else found}
    assert said(dump, tmp_path / "once.duckdb")[0][4] == found

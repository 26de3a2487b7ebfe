"""Runs follow one another by time, then by name, however they arrived."""

from __future__ import annotations

import shutil
from datetime import datetime
from itertools import permutations
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.sources.discover import discover
from hlodb.lake.ingestion import ingest_into_lake
from hlodb.lake.layout import create_lake
from hlodb.lake.opening import reading
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.occurrences import store_modules
from tests.queries.stored import add

NOON = datetime(2026, 11, 20, 12)
NAMES = ("v0.9", "base", "v0.10")


def run_names(connection: Connection) -> list[str]:
    return [row["run"] for row in run_query(connection, "run_list", {}).dicts()]


def test_a_run_counts_its_programs_files_and_rejects(warehouse: Connection) -> None:
    """The second has a program twice; of the first nothing but a name is known."""
    facts = {"series": "nightly", "platform": "tpu", "device": "TPU v5e"}
    facts |= {"compiler_version": "0.10.2", "commit_sha": "abc"}
    add(warehouse, "runs", run_id=1, name="old")
    add(warehouse, "runs", run_id=2, name="new", started_at=NOON, **facts)
    modules = [("jit_f", 1), ("jit_f", 2), ("jit_g", 3)]
    store_modules(
        warehouse,
        [
            {"run_id": 2, "module_id": n, "path": str(n), "part": 0, "program": program}
            for program, n in modules
        ],
    )
    for file_id, size in ((1, 1000), (2, 234)):
        add(warehouse, "store.files", file_id=file_id, path="x", size_bytes=size)
        add(warehouse, "store.run_files", run_id=2, file_id=file_id)
    for line in (1, 2, 3, 4):
        add(warehouse, "rejects", run_id=2, path="x", line=line)
    known = ("nightly", NOON, "0.10.2", "tpu", "TPU v5e", "abc")
    new = ("new", *known, 2, 3, 2, 1234, 4)
    old = ("old", *(None,) * 6, 0, 0, 0, 0, 0)
    assert run_query(warehouse, "run_list", {}).rows == [new, old]
    assert run_query(warehouse, "run_list", {"series": "nightly"}).rows == [new]


@pytest.mark.slow
def test_runs_of_one_time_are_ordered_by_name_in_files_and_lakes(
    tmp_path: Path,
) -> None:
    dump = shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "dump")
    for number, names in enumerate(permutations(NAMES)):
        file, lake = tmp_path / f"{number}.duckdb", tmp_path / f"{number}.lake"
        create_lake(lake)
        for name in names:
            request = RunRequest(name=name, started_at=NOON)
            ingest([str(dump)], file, request=request, jobs=1)
        for name in reversed(names):
            request = RunRequest(name=name, started_at=NOON)
            sources = discover([str(dump)], run_name=name)
            ingest_into_lake(sources, lake, request=request, jobs=1)
        with connect(file) as one, reading(lake) as other:
            histories = [run_query(c, "peak_history", {}).dicts() for c in (one, other)]
            assert histories[0] == histories[1]
            assert run_names(one) == run_names(other) == ["v0.10", "v0.9", "base"]

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

NOON = datetime(2026, 11, 20, 12)
NAMES = ("v0.9", "base", "v0.10")


def run_names(connection: Connection) -> list[str]:
    return [row["run"] for row in run_query(connection, "run_list", {}).dicts()]


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

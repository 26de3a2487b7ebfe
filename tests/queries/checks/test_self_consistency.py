"""Whether figures agree, and which of several runs stands for equal modules."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

DUMP = DATA / "changes" / "donation" / "base"


def test_the_earliest_run_is_named_though_it_came_last(tmp_path: Path) -> None:
    """As in a lake, into which runs come in any order; in `check_results`, too."""
    path = tmp_path / "w.duckdb"
    for name, day in (("second", 2), ("third", 3), ("first", 1)):
        request = RunRequest(name=name, started_at=datetime(2027, 1, day))
        ingest([str(DUMP)], path, request=request, jobs=1)
    with connect(path, read_only=False) as connection:
        agreeing = run_query(connection, "self_consistency").dicts()
        connection.execute("UPDATE allocations SET size_bytes = size_bytes + 1")
        results = run_query(connection, "check_results").dicts()
    assert {(row["run"], row["occurrence_count"]) for row in agreeing} == {("first", 3)}
    faults = [row for row in results if row["program"]]
    assert {row["run"] for row in faults} == {"first"}

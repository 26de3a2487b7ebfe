"""Whose line it is: no answer names a line of a framework's own."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.tables.location_rows import is_framework_file
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

QUERIES = (
    "buffer_diff",
    "collective_inventory",
    "copy_census",
    "dead_values",
    "donation_ledger",
    "instruction_sources",
    "longest_live_ranges",
    "missed_donation_value",
    "peak_by_source_line",
    "peak_contents",
    "value_sources",
)


def files_named(connection: duckdb.DuckDBPyConnection, query: str) -> set[str]:
    found = set()
    for (run,) in connection.execute("SELECT name FROM runs").fetchall():
        which = "candidate" if query == "buffer_diff" else "run"
        rows = run_query(connection, query, {which: run}).dicts()
        found |= {row["source_file"] for row in rows if row["source_file"]}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_no_answer_names_a_line_of_a_framework(
    query: str, steps_warehouse: Path, training_warehouse: Path
) -> None:
    """TensorFlow since 2.15 has none but its own, PyTorch some."""
    with connect(steps_warehouse) as connection:
        assert files_named(connection, query) == set()
    with connect(training_warehouse) as connection:
        assert not any(map(is_framework_file, files_named(connection, query)))


def test_memory_of_such_a_line_counts_for_no_other(steps_warehouse: Path) -> None:
    """Nor is what the compiler adds read by one of the user; its path is known."""
    with connect(steps_warehouse) as connection:
        rows = run_query(connection, "value_sources").dicts()
    assert {row["source_line"] for row in rows} == {None}
    assert {"defined", "read"} == {r["attribution"] for r in rows if r["op_name"]}

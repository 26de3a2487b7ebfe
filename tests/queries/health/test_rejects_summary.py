"""Rejects counted by code, section and kind of file."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from hlodb.queries.run import Value, run_query
from tests.queries.stored import add

FILES = [
    (1, 1, "a-buffer-assignment.txt", "buffer_assignment", 1000),
    (2, 1, "b-buffer-assignment.txt", "buffer_assignment", 200),
    (3, 1, "c.txt", "hlo_text", 30),
    (4, 2, "a-buffer-assignment.txt", "buffer_assignment", 5),
]
"""Number, run, path, kind and size."""

REJECTS = [
    (1, FILES[0][2], 9, 4, "allocations", "cut", "second"),
    (1, FILES[0][2], 9, None, "allocations", "cut", "first of line 9"),
    (1, FILES[0][2], 12, None, "values", "cut", "in values"),
    (1, FILES[1][2], 2, None, "allocations", "cut", "in the other file"),
    (1, FILES[2][2], None, None, "allocations", "cut", "the whole file"),
    (2, FILES[3][2], 1, 1, "allocations", "cut", "in the other run"),
    (2, "lost.txt", 3, None, "allocations", "cut", "of no file"),
]
"""Run, path, line, column, section, code and message."""


@pytest.fixture
def rejecting(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    for run_id in (1, 2):
        add(warehouse, "runs", run_id=run_id, name=f"night-{run_id}")
    for file_id, run_id, path, kind, size in FILES:
        facts = {"file_id": file_id, "path": path, "kind": kind, "size_bytes": size}
        add(warehouse, "store.files", **facts)
        add(warehouse, "store.run_files", run_id=run_id, file_id=file_id)
    for run_id, path, line, column, section, code, message in REJECTS:
        place = {"run_id": run_id, "path": path, "line": line, "column_number": column}
        problem = {"section": section, "code": code, "message": message}
        add(warehouse, "rejects", **place, **problem)
    return warehouse


def rows(
    connection: duckdb.DuckDBPyConnection, **asked: Value
) -> list[tuple[Any, ...]]:
    return run_query(connection, "rejects_summary", asked).rows


def test_a_file_counts_once_however_many_places_it_has(
    rejecting: duckdb.DuckDBPyConnection,
) -> None:
    a, kind = FILES[0][2], "buffer_assignment"
    first, whole = f"night-1:{a}:9", f"night-1:{FILES[2][2]}"
    assert rows(rejecting) == [
        ("cut", "allocations", kind, 4, 3, 1205, first, "first of line 9"),
        ("cut", "allocations", "hlo_text", 1, 1, 30, whole, "the whole file"),
        ("cut", "allocations", None, 1, 1, 0, "night-2:lost.txt:3", "of no file"),
        ("cut", "values", kind, 1, 1, 1000, f"night-1:{a}:12", "in values"),
    ]


def test_one_run_is_counted_by_itself(rejecting: duckdb.DuckDBPyConnection) -> None:
    a, kind = FILES[3][2], "buffer_assignment"
    first = f"night-2:{a}:1:1"
    assert rows(rejecting, run="night-2") == [
        ("cut", "allocations", kind, 1, 1, 5, first, "in the other run"),
        ("cut", "allocations", None, 1, 1, 0, "night-2:lost.txt:3", "of no file"),
    ]

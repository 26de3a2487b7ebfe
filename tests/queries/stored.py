"""Assignments in a warehouse for the length of a test's example."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
from hypothesis import HealthCheck, settings

from tests.queries.assignments import Assignment, store

Connection = duckdb.DuckDBPyConnection

examples = settings(
    max_examples=int(os.environ.get("HLODB_TEST_EXAMPLES", "20")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@contextmanager
def stored(connection: Connection, *assignments: Assignment) -> Iterator[Connection]:
    connection.execute("BEGIN")
    try:
        store(connection, [*assignments])
        yield connection
    finally:
        connection.execute("ROLLBACK")


def add(connection: Connection, table: str, **row: Any) -> None:
    """Add a row that says what an assignment alone does not."""
    names = ", ".join(f"? AS {name}" for name in row)
    connection.execute(f"INSERT INTO {table} BY NAME SELECT {names}", [*row.values()])

"""An assignment in a warehouse for the length of a test's example."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
from hypothesis import HealthCheck, settings

from tests.queries.assignments import Assignment, store

Connection = duckdb.DuckDBPyConnection

examples = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@contextmanager
def stored(connection: Connection, assignment: Assignment) -> Iterator[Connection]:
    connection.execute("BEGIN")
    try:
        store(connection, [assignment])
        yield connection
    finally:
        connection.execute("ROLLBACK")

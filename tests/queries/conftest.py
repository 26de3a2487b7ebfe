"""A warehouse in memory, with every built-in query installed."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.queries.macros import install_macros
from hlodb.schema.creation import create_schema


@pytest.fixture(scope="session")
def empty_warehouse() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_schema(connection)
        install_macros(connection)
        yield connection


@pytest.fixture
def warehouse(
    empty_warehouse: duckdb.DuckDBPyConnection,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, empty again after the test."""
    empty_warehouse.execute("BEGIN")
    yield empty_warehouse
    empty_warehouse.execute("ROLLBACK")

"""Warehouses: in memory with every built-in query, and of the gold results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.queries.renewal import renew_macros
from hlodb.schema.creation import create_schema
from tests.conftest import Made
from tests.gold_results import make_smaller_warehouse, make_warehouse

OWNERS = """\
-- title: Our owners
-- question: Who looks after which source files?
-- definition: A table.
-- grain: path prefix
-- column path_prefix VARCHAR name neutral: Beginning of a path.
-- column owner VARCHAR name neutral: Who looks after it.
SELECT 'models/' AS path_prefix, 'vision' AS owner
"""
"""A query of a user's own."""


@pytest.fixture(scope="module", autouse=True)
def as_after_an_ingest(queries_installed: None) -> None:
    """Let queries read warehouses that `hlodb ingest` made."""


@pytest.fixture(scope="session")
def empty_warehouse() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_schema(connection)
        renew_macros(connection)
        yield connection


@pytest.fixture
def warehouse(
    empty_warehouse: duckdb.DuckDBPyConnection,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return the warehouse, empty again after the test."""
    empty_warehouse.execute("BEGIN")
    yield empty_warehouse
    empty_warehouse.execute("ROLLBACK")


@pytest.fixture(scope="session")
def gold_warehouse(made: Made) -> Path:
    """Return the dumps that the gold results are about."""
    return made("gold", make_warehouse)


@pytest.fixture(scope="session")
def smaller_gold_warehouse(made: Made) -> Path:
    """Return the dumps of what those of the demo lack."""
    return made("smaller", make_smaller_warehouse)

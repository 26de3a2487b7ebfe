"""Macros are made once, and again when a query has changed."""

from pathlib import Path

import duckdb
import pytest

from hlodb.queries import macros, renewal
from hlodb.schema.warehouse import connect


@pytest.fixture
def warehouse(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    return connect(tmp_path / "w.duckdb", read_only=False)


def test_macros_are_made_once_for_the_same_queries(
    warehouse: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[duckdb.DuckDBPyConnection] = []
    monkeypatch.setattr(macros, "install_macros", installed.append)
    renewal.renew_macros(warehouse)
    renewal.renew_macros(warehouse)
    assert installed == [warehouse]


def test_macros_are_made_anew_for_other_queries(
    warehouse: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[duckdb.DuckDBPyConnection] = []
    monkeypatch.setattr(macros, "install_macros", installed.append)
    renewal.renew_macros(warehouse)
    monkeypatch.setattr(renewal, "_source_digest", lambda: "of other queries")
    renewal.renew_macros(warehouse)
    assert installed == [warehouse, warehouse]

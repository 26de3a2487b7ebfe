"""Macros are made once, and again when a query has changed."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.queries import macros, renewal
from hlodb.schema.warehouse import connect


@pytest.fixture(scope="module", autouse=True)
def as_after_an_ingest() -> None:
    """Warehouses have no queries yet."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(tmp_path / "w.duckdb", read_only=False) as connection:
        yield connection


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


def test_a_transaction_that_is_gone_is_a_warning(
    warehouse: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As when the disk is full: then there is nothing to roll back."""

    def end(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("COMMIT")
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(macros, "install_macros", end)
    renewal.renew_macros(warehouse)
    assert caplog.messages == [
        "queries are not installed as macros: No space left on device"
    ]

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
    monkeypatch.setattr(renewal, "_queries_digest", lambda: "of other queries")
    renewal.renew_macros(warehouse)
    assert installed == [warehouse, warehouse]


@pytest.mark.parametrize(
    "error", [duckdb.BinderException("amiss"), duckdb.IOException("No space left")]
)
def test_a_transaction_that_is_gone_is_not_rolled_back(
    warehouse: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: duckdb.Error,
) -> None:
    """A query that DuckDB takes amiss is a warning, a full disk an error."""

    def end(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("COMMIT")
        raise error

    monkeypatch.setattr(macros, "install_macros", end)
    if isinstance(error, duckdb.IOException):
        with pytest.raises(duckdb.IOException, match="No space left"):
            renewal.renew_macros(warehouse)
        assert caplog.messages == []
    else:
        renewal.renew_macros(warehouse)
        assert caplog.messages == ["queries are not installed as macros: amiss"]

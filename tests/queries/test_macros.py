"""Macros are made once, and again when a query has changed; answers use them."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.queries import macros, renewal
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.conftest import OWNERS


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


def made_here(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the names of macros that only this connection has."""
    rows = connection.execute("""
        SELECT function_name FROM duckdb_functions()
        WHERE function_type = 'table_macro' AND database_name = 'temp'
    """)
    return {name for (name,) in rows.fetchall()}


@pytest.mark.slow
def test_a_query_uses_the_macros_of_the_warehouse(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    renewal.renew_macros(warehouse)
    assert run_query(warehouse, "unsound_modules").rows == []
    assert made_here(warehouse) == set()


@pytest.mark.slow
def test_one_made_for_a_small_query_does_not_hide_the_others(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    renewal.renew_macros(warehouse)
    run_query(warehouse, "self_consistency")
    run_query(warehouse, "unsound_modules")
    assert made_here(warehouse) == {"module_sums", "run_order", "self_consistency"}


@pytest.mark.slow
def test_a_query_makes_macros_where_those_of_the_warehouse_are_others(
    warehouse: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewal.renew_macros(warehouse)
    monkeypatch.setattr(renewal, "_source_digest", lambda: "of other queries")
    assert run_query(warehouse, "unsound_modules").rows == []
    assert "unsound_modules" in made_here(warehouse)


@pytest.mark.slow
def test_rules_of_a_user_hide_ours_in_no_later_answer(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    renewal.renew_macros(warehouse)
    (tmp_path / "owner_rules.sql").write_text(OWNERS)
    run_query(warehouse, "peak_by_owner", catalogue=load_catalogue([tmp_path]))
    assert warehouse.execute("FROM owner_rules()").fetchall() == [("models/", "vision")]
    run_query(warehouse, "peak_by_owner")
    assert warehouse.execute("FROM owner_rules()").fetchall() == []


def test_what_was_made_together_is_not_made_again(
    warehouse: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    macros.install_together(warehouse, ["peak_by_owner"], load_catalogue())
    monkeypatch.setattr(macros, "macro_sql", None)
    assert run_query(warehouse, "peak_by_owner").rows == []


def test_what_was_made_together_gives_way_to_rules_of_a_user(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    macros.install_together(warehouse, ["peak_by_owner"], load_catalogue())
    assert warehouse.execute("FROM owner_rules()").fetchall() == []
    (tmp_path / "owner_rules.sql").write_text(OWNERS)
    run_query(warehouse, "peak_by_owner", catalogue=load_catalogue([tmp_path]))
    assert warehouse.execute("FROM owner_rules()").fetchall() == [("models/", "vision")]
    run_query(warehouse, "peak_by_owner")
    assert warehouse.execute("FROM owner_rules()").fetchall() == []

"""Every canned query on real dumps, whole results; `make gold` renews them."""

from pathlib import Path

import duckdb
import pytest

from hlodb.schema.warehouse import connect
from tests.gold_results import FOLDER, gold_text, make_warehouse, queries

QUERIES = {query.name: query for query in queries()}


@pytest.fixture(scope="session")
def gold_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "gold.duckdb"
    make_warehouse(path)
    return path


@pytest.fixture(scope="module")
def connection(gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return connect(gold_warehouse)


def test_every_query_has_a_gold_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(QUERIES)


@pytest.mark.parametrize("name", QUERIES)
def test_gold(name: str, connection: duckdb.DuckDBPyConnection) -> None:
    expected = (FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    assert gold_text(connection, QUERIES[name]) == expected

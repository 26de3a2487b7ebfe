"""Every canned query on real dumps, whole results; `make gold` renews them."""

from pathlib import Path

import duckdb
import pytest

from hlodb.schema.warehouse import open_connection
from tests.gold_results import FOLDER, gold_text, is_ordered, queries

QUERIES = {query.name: query for query in queries()}


@pytest.fixture(scope="module")
def connection(gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(gold_warehouse)


def test_every_query_has_a_gold_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(QUERIES)


def test_every_answer_has_an_order() -> None:
    """All but building blocks of other queries, and checks that find nothing."""
    unordered = {q.group for q in QUERIES.values() if not is_ordered(q)}
    assert unordered == {"checks", "parts"}


@pytest.mark.parametrize("name", QUERIES)
def test_gold(name: str, connection: duckdb.DuckDBPyConnection) -> None:
    expected = (FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    assert gold_text(connection, QUERIES[name]) == expected

"""Every canned query on real dumps, whole results; `make gold` renews them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import pytest

from hlodb.queries.catalogue import BUILDING_BLOCKS
from hlodb.queries.result import Result
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import open_connection
from tests.gold_results import FOLDER, answers, calls, gold_text, is_ordered, queries
from tests.queries.bare_duckdb import assert_equal, told_by_duckdb

Answered = Callable[[str], list[Result]]

QUERIES = {query.name: query for query in queries()}
LIMITED = [q.name for q in queries() if "top" in {p.name for p in q.parameters}]


@pytest.fixture(scope="module")
def connection(gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(gold_warehouse)


@pytest.fixture(scope="module")
def answered(connection: duckdb.DuckDBPyConnection) -> Answered:
    """Return the answers of a query by its name, each asked for once."""
    return cache(lambda name: answers(connection, QUERIES[name]))


def test_every_query_has_a_gold_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(QUERIES)


def test_every_answer_has_an_order() -> None:
    """All but building blocks of other queries, and checks that find nothing."""
    unordered = {q.group for q in QUERIES.values() if not is_ordered(q)}
    assert unordered == {"checks", *BUILDING_BLOCKS}


@pytest.mark.parametrize("name", QUERIES)
def test_gold(name: str, answered: Answered) -> None:
    expected = (FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    assert gold_text(QUERIES[name], answered(name)) == expected


def test_the_bare_duckdb_gives_the_same_rows(
    gold_warehouse: Path, answered: Answered
) -> None:
    asked = [(query, call) for query in QUERIES.values() for call in calls(query)]
    told = told_by_duckdb(gold_warehouse, asked)
    given = [answer for name in QUERIES for answer in answered(name)]
    for call, rows, answer in zip(asked, told, given, strict=True):
        assert_equal(call, rows, answer)


@pytest.mark.parametrize("name", LIMITED)
def test_no_limit_gives_every_row(
    name: str, connection: duckdb.DuckDBPyConnection
) -> None:
    asked = calls(QUERIES[name])[0]
    every = run_query(connection, name, {**asked, "top": 1_000_000}).rows
    assert run_query(connection, name, {**asked, "top": None}).rows == every
    assert run_query(connection, name, {**asked, "top": 0}).rows == []

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
from tests.gold_results import (
    FOLDER,
    IN_SMALLER,
    WITHOUT_ROWS,
    answers,
    calls,
    gold_text,
    is_ordered,
    queries,
)
from tests.queries.bare_duckdb import assert_equal, told_by_duckdb

Answered = Callable[[str], list[Result]]

QUERIES = {query.name: query for query in queries()}
IN_DEMO = sorted(QUERIES.keys() - IN_SMALLER.keys() - WITHOUT_ROWS)
LIMITED = [q.name for q in queries() if "top" in {p.name for p in q.parameters}]


@pytest.fixture(scope="module")
def connection(gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(gold_warehouse)


@pytest.fixture(scope="module")
def smaller(smaller_gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(smaller_gold_warehouse)


@pytest.fixture(scope="module")
def answered(connection: duckdb.DuckDBPyConnection) -> Answered:
    """Return the answers of a query by its name, each asked for once."""
    return cache(lambda name: answers(connection, QUERIES[name]))


def test_every_query_that_finds_something_has_a_gold_file() -> None:
    found = {path.stem for path in FOLDER.glob("*.csv")}
    assert found == QUERIES.keys() - WITHOUT_ROWS
    for path in FOLDER.glob("*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        headers = sum(line.startswith(f"# {path.stem}") for line in lines)
        assert len(lines) > 2 * headers, path.name


def test_all_others_find_nothing(answered: Answered) -> None:
    assert [n for n in WITHOUT_ROWS if any(a.rows for a in answered(n))] == []


def test_every_answer_has_an_order() -> None:
    """All but building blocks of other queries, and checks that find nothing."""
    unordered = {q.group for q in QUERIES.values() if not is_ordered(q)}
    assert unordered == {"checks", *BUILDING_BLOCKS}


def gold(name: str) -> str:
    return (FOLDER / f"{name}.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", IN_DEMO)
def test_gold(name: str, answered: Answered) -> None:
    query = QUERIES[name]
    assert gold_text(query, calls(query), answered(name)) == gold(name)


@pytest.mark.parametrize("name", IN_SMALLER)
def test_gold_of_smaller_dumps(name: str, smaller: duckdb.DuckDBPyConnection) -> None:
    asked = IN_SMALLER[name]
    result = run_query(smaller, name, asked)
    assert gold_text(QUERIES[name], [asked], [result]) == gold(name)


@pytest.mark.slow
def test_the_bare_duckdb_gives_the_same_rows(
    gold_warehouse: Path, answered: Answered
) -> None:
    asked = [(query, call) for query in QUERIES.values() for call in calls(query)]
    told = told_by_duckdb(gold_warehouse, asked)
    given = [answer for name in QUERIES for answer in answered(name)]
    for call, rows, answer in zip(asked, told, given, strict=True):
        assert_equal(call, rows, answer)


@pytest.mark.slow
def test_the_bare_duckdb_gives_the_same_rows_of_smaller_dumps(
    smaller_gold_warehouse: Path, smaller: duckdb.DuckDBPyConnection
) -> None:
    asked = [(QUERIES[name], call) for name, call in IN_SMALLER.items()]
    told = told_by_duckdb(smaller_gold_warehouse, asked)
    for (query, call), rows in zip(asked, told, strict=True):
        assert_equal((query, call), rows, run_query(smaller, query.name, call))


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_no_limit_gives_every_row(
    name: str, connection: duckdb.DuckDBPyConnection
) -> None:
    asked = calls(QUERIES[name])[0]
    every = run_query(connection, name, {**asked, "top": 1_000_000}).rows
    assert run_query(connection, name, {**asked, "top": None}).rows == every
    assert run_query(connection, name, {**asked, "top": 0}).rows == []

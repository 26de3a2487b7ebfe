"""Every canned query in the DuckDB command line gives the rows that hlodb gives.

The binary reads the macros that a warehouse carries; hlodb makes its own here, as for
a warehouse of another release.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.ingest import ingest
from hlodb.queries import run
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import in_order, install_macros, macro_sql
from hlodb.queries.query import Query
from hlodb.queries.renewal import renew_macros
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA, SHARED
from tests.gold_results import CLOCK, Parameters, calls, is_ordered

DUCKDB = Path(sys.executable).parent / "duckdb"
MARK = "-- rows of "

Call = tuple[Query, Parameters]
Rows = list[dict[str, Any]]

CATALOGUE = load_catalogue()
BY_DEFAULT: list[Call] = [(query, {}) for query in CATALOGUE.values()]

SMALL = [
    *(DATA / "seeds", DATA / "passes" / "jit_ring.tar.xz"),
    *sorted((DATA / "proto").glob("*.tar.xz")),
]
"""Kinds of dumps that the demo has not."""


@pytest.fixture(autouse=True)
def macros_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that `assert_equal` makes; with every query they'd be made anew."""
    monkeypatch.setattr(run, "install_temporary", lambda *_: None)


def test_the_demo_dumps(gold_warehouse: Path) -> None:
    """With the parameters that the gold results are asked with."""
    assert_equal(
        gold_warehouse,
        [(query, call) for query in CATALOGUE.values() for call in calls(query)],
    )


def test_a_warehouse_without_runs(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with transaction(db) as connection:
        install_macros(connection)
    assert_equal(db, BY_DEFAULT)


def test_dumps_of_all_kinds(tmp_path: Path) -> None:
    """The full ones where they are, else those of the repository."""
    full = [*sorted(SHARED.glob("*/*.tar.xz")), SHARED / "seeds"]
    db = tmp_path / "w.duckdb"
    ingest(
        [str(path) for path in (full if SHARED.is_dir() else SMALL)],
        db,
        prepare=renew_macros,
    )
    assert_equal(db, BY_DEFAULT)


def assert_equal(db: Path, asked: list[Call]) -> None:
    """Compare rows, in their order where they have one."""
    told = told_by_duckdb(db, asked)
    with connect(db) as connection:
        for query in in_order(CATALOGUE.values(), CATALOGUE):
            connection.execute(macro_sql(query, temporary=True))
        for (query, parameters), found in zip(asked, told, strict=True):
            expected = told_by_hlodb(connection, query, parameters)
            if not is_ordered(query):
                expected.sort(key=repr)
                found.sort(key=repr)
            assert found == expected, statement(query, parameters)


def told_by_hlodb(
    connection: duckdb.DuckDBPyConnection, query: Query, parameters: Parameters
) -> Rows:
    rows = run_query(connection, query.name, parameters, CATALOGUE).dicts()
    return [{k: v for k, v in row.items() if k not in CLOCK} for row in rows]


def told_by_duckdb(db: Path, asked: Iterable[Call]) -> list[Rows]:
    """Give the rows of every statement; one process, and nothing beside the data."""
    lines = [".mode jsonlines"]
    for query, parameters in asked:
        lines += [f".print {MARK}{query.name}", statement(query, parameters)]
    done = subprocess.run(
        [str(DUCKDB), "-readonly", "-bail", str(db)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    _, *answers = done.stdout.split(MARK)
    return [
        list(parsed(answer.split("\n")[1:], query))
        for answer, (query, _) in zip(answers, asked, strict=True)
    ]


def parsed(lines: Iterable[str], query: Query) -> Iterator[dict[str, Any]]:
    times = {c.name for c in query.columns if c.type == "TIMESTAMP"}
    for line in lines:
        row = json.loads(line) if line else {}
        for name in times & row.keys():
            row[name] = row[name] and datetime.fromisoformat(row[name])
        if row:
            yield {k: v for k, v in row.items() if k not in CLOCK}


def statement(query: Query, parameters: Parameters) -> str:
    values = ", ".join(f"{k} := {literal(v)}" for k, v in parameters.items())
    return f"FROM {query.name}({values});"


def literal(value: Value) -> str:
    if value is None:
        return "NULL"
    return (
        "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"{value}"
    )

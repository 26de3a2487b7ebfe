"""Rows as the DuckDB command line gives them, compared with those of hlodb.

The binary reads the macros that a warehouse carries.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from hlodb.queries.query import Query
from hlodb.queries.result import Result
from hlodb.queries.run import Value
from tests.gold_results import CLOCK, Parameters, is_ordered

DUCKDB = Path(sys.executable).parent / "duckdb"
MARK = "-- rows of "

Call = tuple[Query, Parameters]
Rows = list[dict[str, Any]]


def assert_equal(call: Call, told: Rows, answer: Result) -> None:
    """Compare rows, in their order where they have one."""
    query, parameters = call
    expected = [
        {k: v for k, v in row.items() if k not in CLOCK} for row in answer.dicts()
    ]
    if not is_ordered(query):
        expected.sort(key=repr)
        told = sorted(told, key=repr)
    assert told == expected, statement(query, parameters)


def told_by_duckdb(db: Path, asked: Iterable[Call]) -> list[Rows]:
    """Return the rows of every statement; one process, and nothing beside the data."""
    # Plans are large and inputs small: a second thread only waits.
    lines = ["SET threads = 1;", ".mode jsonlines"]
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

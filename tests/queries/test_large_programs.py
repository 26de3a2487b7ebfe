"""Every query answers about programs that fill a pod, and doubles with their sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.renewal import renew_macros
from hlodb.queries.result import Result
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import Made
from tests.large_programs import Program, programs, write_dump

TWICE = "_twice"

SCALAR_BYTES = 32 * 1024
"""More than all scalars and tables of tuples of a program: they are not doubled."""

DOUBLED = ("byte_steps", "bytes", "flop")
SAME = ("count", "flag", "step", "steps")

NOT_DOUBLED = {
    "headroom": {
        *("nominal_bytes", "usable_bytes", "headroom_bytes", "headroom_ratio")
    },
    # What other programs of the run need is that of both sets.
    "run_time_parts": {"usable_bytes", "left_bytes", "part_bytes"},
    "self_consistency": {"expected", "found"},
}
"""Columns that depend on the memory of the device or on the text of dumps, or whose
unit depends on the row."""


def both(changed: bool) -> list[Program]:
    """Return the set of programs, and again with arrays of twice the size."""
    return [*programs(changed=changed), *programs(2, changed, TWICE)]


def make_runs(path: Path, runs: dict[str, list[Program]]) -> None:
    for name, made in runs.items():
        dump = write_dump(path.parent / f"{path.stem}-{name}", made)
        request = RunRequest(name=name)
        ingest([str(dump)], path, request=request, jobs=1, prepare=renew_macros)


@pytest.fixture
def large(made: Made) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield runs base and changed, of programs in both sizes."""

    def make(path: Path) -> None:
        make_runs(path, {"base": both(False), "changed": both(True)})

    with connect(made("large", make)) as connection:
        yield connection


@pytest.fixture
def apart(made: Made) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield runs once and twice, of the programs in one size each."""

    def make(path: Path) -> None:
        make_runs(path, {"once": programs(), "twice": programs(2)})

    with connect(made("large-apart", make)) as connection:
        yield connection


def test_every_query_answers_and_doubles(
    large: duckdb.DuckDBPyConnection, apart: duckdb.DuckDBPyConnection
) -> None:
    faults = [
        fault
        for query in load_catalogue().values()
        if query.group not in BUILDING_BLOCKS
        for fault in query_faults(query, large, apart)
    ]
    assert faults == []


@pytest.mark.slow
def test_every_building_block_answers(large: duckdb.DuckDBPyConnection) -> None:
    for query in load_catalogue().values():
        if query.group in BUILDING_BLOCKS:
            run_query(large, query.name)


def query_faults(
    query: Query,
    large: duckdb.DuckDBPyConnection,
    apart: duckdb.DuckDBPyConnection,
) -> Iterator[str]:
    """Yield the figures that are not doubled when all arrays are."""
    known = {parameter.name for parameter in query.parameters}
    every = {"top": None} if "top" in known else {}
    if any(column.name == "program" for column in query.columns):
        yield from faults_between(query, *by_size(run_query(large, query.name, every)))
    elif "run" in known:
        single, double = (
            run_query(apart, query.name, {**every, "run": run}).rows
            for run in ("once", "twice")
        )
        yield from faults_between(query, single, double)
    else:
        run_query(large, query.name, every)


def by_size(result: Result) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of the programs, and those of their doubles in the same order."""
    at = next(n for n, c in enumerate(result.columns) if c.name == "program")
    rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in result.rows:
        rows[row[at] or ""].append(row)
    names = sorted({name.removesuffix(TWICE) for name in rows if name})
    single = chain.from_iterable(rows[name] for name in names)
    double = chain.from_iterable(rows[name + TWICE] for name in names)
    return [*single], [*double]


def faults_between(
    query: Query, single: list[tuple[Any, ...]], double: list[tuple[Any, ...]]
) -> Iterator[str]:
    if len(single) != len(double):
        yield f"{query.name}: {len(single)} rows, {len(double)} of doubled programs"
        return
    for one, two in zip(single, double, strict=True):
        for column, before, after in zip(query.columns, one, two, strict=True):
            excepted = column.name in NOT_DOUBLED.get(query.name, set())
            if not excepted and not is_doubled(column.unit, before, after):
                yield f"{query.name}.{column.name}: {before} becomes {after} in {two}"


def is_doubled(unit: str, before: Any, after: Any) -> bool:
    """Return whether a figure is what it should be when all arrays are doubled."""
    if before is None or after is None or unit in SAME:
        return bool(before == after)
    if unit == "ratio":
        return bool(after == pytest.approx(before, rel=1e-6, abs=1e-6))
    if unit in DOUBLED:
        steps = 100 if unit == "byte_steps" else 1
        return bool(abs(after - 2 * before) <= SCALAR_BYTES * steps)
    return True

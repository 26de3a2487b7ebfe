"""Rows of a process, alone and beside another that compiled the same programs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.renewal import renew_macros
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.oracle.staging import stage_as_one
from tests.oracle.test_queries import SMALL

SOURCES = [DATA / source for source in dict.fromkeys(SMALL)]

COUNT_THE_RUN = {
    "check_results": "counts files of the run",
    "compilations": "numbers the compilations of the run",
    "program_tracks": "numbers the compilations of the run",
    "recompile_groups": "counts compilations of a program",
    "run_time_parts": "tells what other programs of the run need",
    "self_consistency": "counts modules of the run",
}
"""Queries whose rows for one module speak of the whole run."""

Rows = Counter[tuple[object, ...]]


def asked() -> list[Query]:
    """Return the queries that answer for modules, one by one."""
    return [
        query
        for name, query in sorted(load_catalogue().items())
        if name not in COUNT_THE_RUN
        and "module_number" in {column.name for column in query.columns}
    ]


@pytest.mark.oracle
@pytest.mark.slow
def test_a_second_process_changes_no_row_of_the_first(tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    stage_as_one(SOURCES, once)
    stage_as_one(SOURCES + SOURCES, twice)
    count = len({path.name.split(".")[0] for path in once.iterdir()})
    first, both = rows_of(once, count), rows_of(twice, count)
    assert len(first) > 50
    assert {name for name in first if first[name] != both[name]} == set()
    assert sum(bool(rows) for rows in first.values()) > 35


def rows_of(dump: Path, count: int) -> dict[str, Rows]:
    """Return the rows of the first modules that each query gives for a dump."""
    warehouse = dump.with_suffix(".duckdb")
    ingest(
        [str(dump)],
        warehouse,
        request=RunRequest(name="dump"),
        jobs=1,
        prepare=renew_macros,
    )
    catalogue = load_catalogue()
    answers = {}
    with connect(warehouse) as connection:
        for query in asked():
            names = {parameter.name for parameter in query.parameters}
            parameters: dict[str, Value] = {}
            if "run" in names:
                parameters["run"] = "dump"
            if "top" in names:
                parameters["top"] = None
            result = run_query(connection, query.name, parameters, catalogue)
            place = [column.name for column in result.columns].index("module_number")
            answers[query.name] = Counter(
                tuple(_comparable(value) for value in row)
                for row in result.rows
                if row[place] is None or row[place] < count
            )
    return answers


def _comparable(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.11g}")
    return repr(value)

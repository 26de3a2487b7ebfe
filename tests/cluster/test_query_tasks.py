"""Tasks answer as DuckDB does over the whole lake, however many there are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hlodb.cluster.query_tasks import QueryPlan, Runs, answer_task, plan_query
from hlodb.errors import UsageError
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.marks import delete_runs
from hlodb.lake.packing import compact_lake, pack
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, Made

RUNS = {
    "ranks": DATA / "gpu" / "jaxlib-0.5.3.tar.xz",
    "same": DATA / "gpu" / "jaxlib-0.5.3.tar.xz",
    "later": DATA / "gpu" / "jaxlib-0.7.2.tar.xz",
    "before": DATA / "moved_lines" / "before",
    "after": DATA / "moved_lines" / "after",
}
"""Runs that share programs, some in another rank or with other source lines."""


@pytest.fixture(scope="session")
def file(made: Made) -> Path:
    def make(path: Path) -> None:
        for name, dump in RUNS.items():
            ingest([str(dump)], path, request=RunRequest(name), jobs=1)
        rank = path.parent / "rank_1"
        rank.symlink_to(DATA / "moved_lines" / "before")
        ingest([str(rank)], path, request=RunRequest("ranks"), jobs=1)

    return made("cluster", make)


@pytest.fixture(scope="session")
def lake(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cluster") / "lake"
    pack(file, path)
    return path


def rows_of(asked: QueryPlan) -> list[str]:
    """Return the rows of all tasks, and check that each has the declared types."""
    tables = [
        pa.Table.from_batches(answer_task(asked, task), schema=asked.schema)
        for task in range(asked.tasks)
    ]
    return sorted(repr(row) for table in tables for row in tuples(table))


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    return [*zip(*(column.to_pylist() for column in table.columns), strict=True)]


def expected(connection: Connection, name: str, runs: Runs) -> list[str]:
    """Return the rows that `hlodb query` prints, of each run where it is asked of."""
    if runs is None:
        return sorted(map(repr, run_query(connection, name).rows))
    query = load_catalogue()[name]
    is_told = "run" in (column.name for column in query.columns)
    return sorted(
        repr(row if is_told else (run, *row))
        for run in (RUNS if runs == "all" else runs)
        for row in run_query(connection, name, {"run": run}).rows
    )


def is_of_one_run(name: str) -> bool:
    return load_catalogue()[name].split is not None


FEW = ("peak_by_space", "padding_at_peak", "check_totals")


@pytest.mark.parametrize("name", FEW)
def test_every_run_is_asked(file: Path, lake: Path, name: str) -> None:
    asked = plan_query(lake, name, {}, runs="all", tasks=3)
    assert asked.tasks == 3
    with connect(file) as connection:
        assert rows_of(asked) == expected(connection, name, "all")


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in load_catalogue() if n not in FEW])
def test_every_query_in_tasks(file: Path, lake: Path, name: str) -> None:
    runs: Runs = "all" if is_of_one_run(name) else None
    with connect(file) as connection:
        asked = plan_query(lake, name, {}, runs=runs, tasks=3)
        assert rows_of(asked) == expected(connection, name, runs)


@pytest.mark.slow
def test_equal_programs_are_asked_once(lake: Path) -> None:
    """One task for each: as many as there are programs that differ."""

    def count(*runs: str) -> int:
        return plan_query(lake, "peak_by_space", {}, runs=runs, tasks=1000).tasks

    assert count("same") == count("later") == 2
    assert count("ranks") == count("same") + count("before")
    assert count("same", "later", "ranks") == count("later") + count("ranks")


@pytest.mark.slow
def test_the_state_at_the_time_of_asking(lake: Path, tmp_path: Path) -> None:
    """Neither runs that go nor a compaction change what tasks answer."""
    copy = Path(shutil.copytree(lake, tmp_path / "lake"))
    asked = plan_query(copy, "peak_by_space", {}, runs="all")
    before = rows_of(asked)
    delete_runs(copy, [1, 2])
    compact_lake(copy)
    assert rows_of(asked) == before
    assert rows_of(plan_query(copy, "peak_by_space", {}, runs="all")) != before


@pytest.mark.parametrize(
    ("name", "parameters", "runs", "message"),
    [
        ("peak_contnts", {}, None, "there is no query 'peak_contnts'"),
        ("peak_contents", {"programm": "f"}, None, "has no parameter 'programm'"),
        ("peak_contents", {}, ["never"], "there is no run 'never'"),
        ("peak_contents", {"run": "same"}, "all", "names its run itself"),
        ("run_list", {}, "all", "query run_list is not about one run"),
    ],
)
def test_what_cannot_be_asked(
    lake: Path, name: str, parameters: dict[str, Any], runs: Runs, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        plan_query(lake, name, parameters, runs=runs)

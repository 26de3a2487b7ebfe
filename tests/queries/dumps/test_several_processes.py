"""Processes that a dump tells apart by folders alone: each module counts by itself."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.run import run_query
from hlodb.queries.sql_text import source_names
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

OF_PLACES = ("run", "path", "host")
Rows = list[tuple[Any, ...]]

DUMP = DATA / "changes" / "donation" / "base"
OTHER = DATA / "changes" / "donation" / "dropped"
# Programs of one process, and of all.
OF_A_PROCESS, OVER_PROCESSES = "coresident_peak", "constant_bloat"
PER_MODULE = sorted(
    name
    for name, query in load_catalogue().items()
    if name != OVER_PROCESSES
    and (
        name == OF_A_PROCESS
        or {"selected_memory", "final_modules"} & source_names(query.sql)
    )
    and not {p.name for p in query.parameters} & {"base", "instruction", "target"}
    and query.group not in BUILDING_BLOCKS
)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `one` has a dump, `two` has it in the folders of two processes."""
    folder = tmp_path_factory.mktemp("processes")
    for process in ("two/left", "two/right"):
        shutil.copytree(DUMP, folder / process)
    database = folder / "w.duckdb"
    shutil.copytree(DUMP, folder / "one")
    ingest([str(folder / run) for run in ("one", "two")], database)
    return database


def answer(database: Path, name: str, **parameters: Any) -> Rows:
    with connect(database) as connection:
        found = run_query(connection, name, parameters)
    names = [column.name for column in found.columns]
    return [
        tuple(v for n, v in zip(names, row, strict=True) if n not in OF_PLACES)
        for row in found.rows
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", PER_MODULE)
def test_each_process_has_the_rows_it_would_have_alone(
    warehouse: Path, name: str
) -> None:
    alone = answer(warehouse, name, run="one")
    assert Counter(answer(warehouse, name, run="two")) == Counter(alone + alone)


@pytest.mark.slow
def test_a_missed_donation_of_each_process(tmp_path: Path) -> None:
    """Each counts, and a donation that only one of them misses is that one's."""
    for run, folders in {
        "equal": {"left": OTHER, "right": OTHER},
        "unequal": {"left": DUMP, "right": OTHER},
        "alone": {"left": OTHER},
    }.items():
        for folder, dump in folders.items():
            shutil.copytree(dump, tmp_path / run / folder)
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / run) for run in ("equal", "unequal", "alone")], database)
    alone = answer(database, "missed_donation_value", run="alone")
    assert alone
    assert answer(database, "missed_donation_value", run="unequal") == alone
    equal = answer(database, "missed_donation_value", run="equal")
    assert Counter(equal) == Counter(alone + alone)


def test_a_compilation_is_paired_with_its_own_source(warehouse: Path) -> None:
    [row] = [r for r in answer(warehouse, "nondeterminism") if r[0] == "jit_update"]
    # Those of run `two`: nothing says that it has the compiler of run `one`.
    assert row[2] == 2


def test_each_process_has_the_memory_analysis_beside_it(tmp_path: Path) -> None:
    for folder in ("one", "two/left", "two/right"):
        shutil.copytree(DATA / "tpu_temp", tmp_path / folder)
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / run) for run in ("one", "two")], database, jobs=1)
    alone = answer(database, "peak_reconciliation", run="one")
    two = answer(database, "peak_reconciliation", run="two")
    assert Counter(two) == Counter(alone + alone)


@pytest.mark.slow
def test_processes_with_the_same_program_have_lines_of_their_own(
    tmp_path: Path,
) -> None:
    """One was started from a checkout in which the lines had moved."""
    for folder in ("before", "after"):
        shutil.copytree(DATA / "moved_lines" / folder, tmp_path / "both" / folder)
    database = tmp_path / "w.duckdb"
    runs = [tmp_path / "both", tmp_path / "both/before", tmp_path / "both/after"]
    for number, run in enumerate(runs):
        request = RunRequest(name=f"run-{number}")
        ingest([str(run)], database, request=request, jobs=1)
    both, *apart = (
        answer(database, "peak_by_source_line", run=f"run-{number}", top=1000)
        for number in range(3)
    )
    assert Counter(both) == Counter(apart[0] + apart[1])
    assert set(apart[0]) != set(apart[1])


@pytest.mark.slow
def test_equal_names_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    """Programs that are different, though name and number are the same."""
    shutil.copytree(DUMP, tmp_path / "both" / "train")
    shutil.copytree(OTHER, tmp_path / "both" / "eval")
    shutil.copytree(DUMP, tmp_path / "train")
    shutil.copytree(OTHER, tmp_path / "eval")
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / run) for run in ("both", "train", "eval")], database)
    for name in ("fusion_profile", "copy_census", "peak_by_space"):
        apart = answer(database, name, run="train") + answer(database, name, run="eval")
        assert Counter(answer(database, name, run="both")) == Counter(apart)

"""Runs that come again: as they were, moved, changed, completed, forgotten."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.delete import forget_run
from hlodb.ingest.load.run_records import RunSummary
from hlodb.ingest.pipeline import ingest as ingest_room
from hlodb.ingest.pipeline.unchanged import unchanged_run
from hlodb.ingest.sources.discover import RunSource, Unit
from hlodb.ingest.tables.normalise import DETAIL_TABLES
from hlodb.schema import waiting
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA, all_rows
from tests.ingest.loading import AFTER, BEFORE, SEEDS, changed, load

LOCATION_TABLES = {"locations", "stack_frames"}
# Stored instructions are compared through their view: form numbers depend on history.
DETAILS = {*DETAIL_TABLES, "instructions"} - {"store.instructions"}


def test_the_same_directory_twice_adds_nothing(tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    load(db, BEFORE)
    shutil.copy(db, copy)
    [summary] = load(db, BEFORE)
    assert summary.unchanged_files == summary.files == 14
    assert changed(copy, db) == set()


def test_a_run_that_is_in_already_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has more files by now is read to be recognised, and to be ingested."""
    readings: list[str] = []
    units, known = RunSource.units, unchanged_run

    def counted(source: RunSource) -> Iterator[Unit]:
        readings.append(source.name)
        return units(source)

    def counted_known(source: RunSource, *more: Any) -> RunSummary | None:
        found = known(source, *more)
        readings.extend([source.name] if found else [])
        return found

    monkeypatch.setattr(RunSource, "units", counted)
    monkeypatch.setattr(ingest_room, "unchanged_run", counted_known)
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    last = max(dump.iterdir())
    text = last.read_bytes()
    last.unlink()
    found = [load(db, dump)[0], load(db, dump)[0]]
    last.write_bytes(text)
    found += [load(db, dump)[0], load(db, dump)[0]]
    count = found[3].files
    assert [(run.files, run.unchanged_files) for run in found] == [
        (count - 1, 0),
        (count - 1, count - 1),
        (count, count - 1),
        (count, count),
    ]
    assert readings == ["dump"] * (1 + 1 + 2 + 1)
    assert len({run.bytes for run in found}) == 2


def test_the_warehouse_is_opened_no_more_than_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else can use it meanwhile: to look, to see what is completed, to write."""
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    load(db, SEEDS)
    openings: list[Path] = []
    really_open = waiting.open_file

    def counted(path: Path, read_only: bool, **others: Any) -> Any:
        openings.append(path)
        return really_open(path, read_only)

    monkeypatch.setattr(waiting, "open_file", counted)
    counts = []
    for lost in ([], [], [max(dump.iterdir())]):
        openings.clear()
        for path in lost:
            path.unlink()
        load(db, dump)
        counts.append(len(openings))
    assert counts == [2, 1, 3]


def test_the_same_content_under_another_name_adds_occurrences(tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    load(db, BEFORE, name="monday")
    shutil.copy(db, copy)
    load(db, BEFORE, name="tuesday")
    assert changed(copy, db) == {
        "runs",
        "modules",
        "dump_files",
        "compiler_flags",
        "module_memory",
        "located_instructions",
    }


@pytest.mark.slow
def test_moved_source_lines_add_locations_only(tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    load(db, BEFORE)
    shutil.copy(db, copy)
    load(db, AFTER)
    assert changed(copy, db) & DETAILS == set()
    assert changed(copy, db) >= LOCATION_TABLES
    assert "store.location_numbers" not in changed(copy, db)
    with connect(db) as connection:
        ids = connection.execute("""
            SELECT count(DISTINCT module_id), count(DISTINCT locations_id), count(*)
            FROM modules
        """).fetchone()
        assert ids == (4, 8, 8)
        # The same instruction, at its own line in each dump.
        lines = connection.execute("""
            SELECT r.name, l.line, l.source_file, l.source_line
            FROM located_instructions AS l
            JOIN runs AS r USING (run_id)
            JOIN modules AS m USING (run_id, module_id)
            JOIN instructions AS i USING (module_id, instruction_id)
            WHERE m.program = 'jit_cg' AND m.stage = 'after_optimizations'
              AND i.name = 'wrapped_reduce'
            ORDER BY r.name
        """).fetchall()
    for run, line, file, source_line in lines:
        text = next((DATA / "moved_lines" / run).glob("*jit_cg.cpu_after_opt*s.txt"))
        assert "%wrapped_reduce =" in text.read_text().splitlines()[line - 1]
        assert (Path(file).name, source_line) == ("zoo.py", 62)
    assert [run for run, *_ in lines] == ["after", "before"]


def test_one_changed_module_adds_only_its_rows(tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    dump = tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    load(db, dump, name="monday")
    shutil.copy(db, copy)
    path = next(dump.glob("*jit_cg.before_optimizations.txt"))
    path.write_text(path.read_text().replace("constant(100)", "constant(101)"))
    load(db, dump, name="tuesday")
    with connect(db) as connection:
        [(new,)] = connection.execute("""
            SELECT module_id FROM modules
            GROUP BY module_id HAVING count(*) = 1 AND min(run_id) = 2
        """).fetchall()
    old, now = all_rows(copy), all_rows(db)
    for table in DETAILS:
        added = [row for row in now[table] if row not in set(old[table])]
        assert {row[0] for row in added} <= {new}
        assert len(now[table]) == len(old[table]) + len(added)


def test_changed_files_under_an_old_name_become_a_run_of_their_own(
    tmp_path: Path,
) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    load(db, dump)
    path = next(dump.glob("*jit_cg.before_optimizations.txt"))
    path.write_text(path.read_text().replace("constant(100)", "constant(101)"))
    [second] = load(db, dump)
    assert second.name == "dump~2"
    assert second.notes == [
        "run dump holds other files; stored as dump~2"
        " (give runs their own names with --run)"
    ]
    [again] = load(db, dump)
    assert (again.name, again.unchanged_files) == ("dump~2", 14)


def test_a_run_is_completed_by_files_that_come_later(tmp_path: Path) -> None:
    db, whole, dump = tmp_path / "w.duckdb", tmp_path / "whole.duckdb", tmp_path / "d"
    dump.mkdir()
    for path in BEFORE.glob("*optimizations.txt"):
        shutil.copy(path, dump)
    load(db, dump)
    for path in BEFORE.iterdir():
        shutil.copy(path, dump)
    load(db, dump)
    load(whole, dump)
    assert changed(db, whole) == set()


@pytest.mark.slow
def test_forgetting_a_run_leaves_what_others_use(tmp_path: Path) -> None:
    db, only = tmp_path / "w.duckdb", tmp_path / "only.duckdb"
    load(db, BEFORE)
    load(db, AFTER)
    load(db, SEEDS)
    with transaction(db) as connection:
        forget_run(connection, 2)
        forget_run(connection, 3)
    load(only, BEFORE)
    assert changed(db, only) == set()

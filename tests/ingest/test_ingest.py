"""The whole way into the warehouse, on real dumps."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlodb.errors import UsageError
from hlodb.ingest import batching, store
from hlodb.ingest import ingest as ingest_room
from hlodb.ingest.discover import RunSource, Unit, discover
from hlodb.ingest.forget import forget_run
from hlodb.ingest.ingest import ingest
from hlodb.ingest.normalise import DETAIL_TABLES
from hlodb.ingest.run_ingest import RunIngest
from hlodb.ingest.run_records import RunRequest
from hlodb.ingest.run_summary import RunSummary
from hlodb.ingest.unchanged import unchanged_run
from hlodb.schema import waiting, warehouse
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA, DUMPS, all_rows

SEEDS = DATA / "seeds"
BEFORE = DATA / "moved_lines" / "before"
AFTER = DATA / "moved_lines" / "after"
LOCATION_TABLES = {"locations", "stack_frames"}
# Stored instructions are compared through their view: form numbers depend on history.
DETAILS = {*DETAIL_TABLES, "instructions"} - {"store.instructions"}


def load(db: Path, *paths: Path, name: str | None = None) -> list[RunSummary]:
    return ingest([str(p) for p in paths], db, request=RunRequest(name=name))


def changed(before: Path, after: Path) -> set[str]:
    """Give the tables whose rows differ."""
    old, new = all_rows(before), all_rows(after)
    return {name for name in new if old[name] != new[name]}


def test_seeds(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    [summary] = load(db, SEEDS)
    assert (summary.modules, summary.rejects) == (5, 0)
    with connect(db) as connection:
        found = connection.execute("""
            SELECT
              m.name[1:3], count(DISTINCT a.allocation_id),
              any_value(m.printed_total_bytes), sum(a.size_bytes)
            FROM modules AS m JOIN allocations AS a USING (module_id)
            GROUP BY ALL ORDER BY ALL
        """).fetchall()
        assert found == [
            ("000", 14, 30920, 30920),
            ("001", 5, 593928, 593928),
            ("003", 13, 299944008, 299944008),
            ("004", 7, 33556, 33556),
        ]
        values = connection.execute("""
            SELECT m.name[1:3], count(*)
            FROM modules AS m JOIN "values" USING (module_id)
            GROUP BY ALL ORDER BY ALL
        """).fetchall()
        assert values == [("000", 32), ("001", 6), ("003", 21), ("004", 7)]
        hlo = connection.execute("""
            SELECT name, computation_count, instruction_count FROM modules
            WHERE computation_count > 0
        """).fetchall()
        assert hlo == [("func_shard_parallel__1.68", 4, 49)]
        profile = connection.execute("""
            SELECT
              m.name[1:3], color, temp_bytes, temp_live_peak_bytes,
              fragmentation_bytes, conflict_count
            FROM modules AS m JOIN memory_profile USING (module_id)
            ORDER BY ALL
        """).fetchall()
        assert profile == [
            ("000", 0, 13456, 13376, 80, 0),
            ("001", 0, 262144, 262144, 0, 0),
            ("003", 0, 49184, 544, 48640, 0),
            ("003", 1, 90177536, 90177536, 0, 0),
            ("003", 2, 8, 8, 0, 0),
            ("004", 0, 0, 0, 0, 0),
        ]


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
    really_open = waiting.open_when_free

    def counted(path: Path, read_only: bool, timeout_seconds: float) -> Any:
        openings.append(path)
        return really_open(path, read_only, timeout_seconds)

    monkeypatch.setattr(warehouse, "open_when_free", counted)
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


def test_small_units_join_a_batch_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is a quarter larger, whatever there is of them."""
    monkeypatch.setattr(batching, "BATCH_BYTES", 3200)
    sizes = [1600, 1600, 90, 99, 100, 3200, 50, *[80] * 12]
    for number, size in enumerate(sizes):
        name = f"module_{number:04}.jit_f.cpu_after_optimizations.txt"
        (tmp_path / name).write_bytes(f"HloModule f{number}\n".encode().ljust(size))
    [source] = discover([str(tmp_path)])
    batches = RunIngest(source, RunRequest(), None).reading.batches()
    found = [[len(f.data) for files in batch for f in files] for batch in batches]
    assert found == [sizes[:4], sizes[4:-3], sizes[-3:]]


def test_workers_and_one_process_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = [str(DUMPS / "cpu" / f"jaxlib-{v}.tar.xz") for v in ("0.4.13", "0.9.2")]
    monkeypatch.setattr(batching, "BATCH_BYTES", 200_000)
    monkeypatch.setattr(store, "FLUSH_BYTES", 1_000_000)
    one, three = tmp_path / "one.duckdb", tmp_path / "three.duckdb"
    counts = [
        [(s.files, s.modules, s.instructions) for s in ingest(archives, db, jobs=jobs)]
        for db, jobs in ((one, 1), (three, 3))
    ]
    assert counts[0] == counts[1] == [(30, 20, 18708), (55, 22, 18400)]
    assert changed(one, three) == set()


def test_ranks_that_dump_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a repeated unit was parsed again or known by then can't be seen."""
    for rank in range(3):
        shutil.copytree(BEFORE, tmp_path / "dump" / f"rank_{rank}")
    together, apart = tmp_path / "together.duckdb", tmp_path / "apart.duckdb"
    load(together, tmp_path / "dump")
    monkeypatch.setattr(batching, "BATCH_BYTES", 1)
    [summary] = load(apart, tmp_path / "dump")
    assert all_rows(together) == all_rows(apart)
    assert (summary.modules, summary.new_modules) == (12, 4)
    with connect(apart) as connection:
        found = connection.execute("""
            SELECT path[1:6], status, count(*) FROM dump_files
            WHERE module_id IS NOT NULL GROUP BY ALL ORDER BY ALL
        """).fetchall()
    assert found == [
        ("rank_0", "loaded", 12),
        ("rank_1", "duplicate", 12),
        ("rank_2", "duplicate", 12),
    ]


def test_ranks_that_dump_the_same_unsound_module(tmp_path: Path) -> None:
    for rank in range(2):
        dump = shutil.copytree(BEFORE, tmp_path / "dump" / f"rank_{rank}")
        path = next(dump.glob("*jit_cg.before_optimizations.txt"))
        path.write_text(path.read_text().replace("constant(100)", "constant 100"))
    db = tmp_path / "w.duckdb"
    [summary] = load(db, tmp_path / "dump")
    assert (summary.modules, summary.new_modules, summary.rejects) == (8, 4, 2)
    with connect(db) as connection:
        found = connection.execute("""
            SELECT path[1:6], status, count(*) FROM dump_files
            WHERE module_id IS NOT NULL GROUP BY ALL ORDER BY ALL
        """).fetchall()
    assert found == [
        ("rank_0", "loaded", 11),
        ("rank_0", "rejected", 1),
        ("rank_1", "duplicate", 11),
        ("rank_1", "rejected", 1),
    ]


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


def test_a_cut_assignment_costs_nothing_else(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(BEFORE, dump)
    path = next(dump.glob("*jit_cg.cpu_after_optimizations-buffer-assignment.txt"))
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    [summary] = load(db, dump)
    assert (summary.modules, summary.rejects) == (4, 1)
    with connect(db) as connection:
        [(name, line, section)] = connection.execute(
            "SELECT path, line, section FROM rejects"
        ).fetchall()
        assert (name, section) == (path.name, "end")
        assert line == text[: len(text) // 2].count("\n") + 1


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dump: no such file or directory"):
        load(tmp_path / "w.duckdb", tmp_path / "dump")


def test_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is empty\. XLA writes a dump when"):
        load(tmp_path / "w.duckdb", tmp_path)


def test_a_directory_without_a_dump(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hi")
    with pytest.raises(UsageError, match=r"holds no XLA dump, only notes\.md"):
        load(tmp_path / "w.duckdb", tmp_path)


def test_binary_data_under_a_dumps_name_costs_nothing_else(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    shutil.copytree(SEEDS, dump)
    name = "module_0001.jit_f.cpu_after_optimizations.txt"
    (dump / name).write_bytes(bytes(range(256)) * 20)
    [summary] = load(db, dump)
    assert (summary.modules, summary.rejects) == (5, 1)
    with connect(db) as connection:
        [(path, code, status)] = connection.execute("""
            SELECT path, code, status
            FROM rejects JOIN dump_files USING (run_id, path)
        """).fetchall()
    assert (path, code, status) == (name, "not_what_it_says", "rejected")


def test_an_unknown_stage_is_loaded(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    dump.mkdir()
    text = next(BEFORE.glob("*threefry*before_optimizations.txt"))
    shutil.copy(text, dump / "module_0007.jit_f.after_dreaming.txt")
    load(db, dump)
    with connect(db) as connection:
        rows = connection.execute("SELECT name, stage, module_number FROM modules")
        assert rows.fetchall() == [("jit__threefry_seed", "unknown", 7)]

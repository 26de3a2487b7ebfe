"""The whole way into the warehouse, on real dumps."""

import shutil
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.schema.warehouse import connect
from tests.ingest.loading import BEFORE, SEEDS, load


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


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", tmp_path / "dump"
    for name, mark in (("plain", b""), ("marked", b"\xef\xbb\xbf")):
        (dump / name).mkdir(parents=True)
        for file in Path(SEEDS).glob("002_*.txt"):
            (dump / name / file.name).write_bytes(mark + file.read_bytes())
        load(db, dump / name)
    with connect(db) as connection:
        found = connection.execute("""
            SELECT
              r.name, m.name, m.is_scheduled, m.instruction_count, f.lines_unclaimed,
              f.status
            FROM runs AS r JOIN modules AS m USING (run_id)
            JOIN dump_files AS f USING (run_id)
        """).fetchall()
    plain, marked = sorted(found, reverse=True)
    assert (plain[0], marked[0], plain[1:]) == ("plain", "marked", marked[1:])
    assert plain[-2:] == (0, "loaded")

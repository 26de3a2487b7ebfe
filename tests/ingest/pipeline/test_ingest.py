"""The whole way into the warehouse, on real dumps."""

import shutil
import threading
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import UsageError, WarehouseError
from hlodb.ingest.pipeline import store
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
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


@pytest.mark.parametrize("batch_bytes", [0, 1 << 40])
def test_a_new_warehouse_is_prepared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_bytes: int
) -> None:
    """While workers parse, where there are any; one that is there when it is opened."""
    monkeypatch.setattr(store, "BATCH_BYTES", batch_bytes)
    db = tmp_path / "w.duckdb"
    threads: list[threading.Thread] = []

    def prepare(connection: duckdb.DuckDBPyConnection) -> None:
        threads.append(threading.current_thread())
        connection.execute("CREATE TABLE IF NOT EXISTS prepared (number INTEGER)")

    for count in (1, 2):
        ingest([str(SEEDS)], db, prepare=prepare)
        assert len(threads) == count
    main = threading.main_thread()
    assert [thread is main for thread in threads] == [batch_bytes > 0, True]
    with connect(db) as connection:
        found = connection.execute("SELECT count(*) FROM modules, prepared").fetchall()
        assert found == [(0,)]


def test_a_new_warehouse_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not its macros first, and again with the rows: that left a third of it empty."""
    monkeypatch.setattr(store, "BATCH_BYTES", 0)
    db = tmp_path / "w.duckdb"
    ingest([str(SEEDS)], db, prepare=renew_macros)
    with connect(db) as connection:
        found = connection.execute(
            "SELECT used_blocks, free_blocks FROM pragma_database_size()"
        ).fetchone()
    assert found is not None
    used, free = found
    assert free * 8 < used


def test_what_fails_beside_the_parsing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BATCH_BYTES", 0)

    def prepare(connection: duckdb.DuckDBPyConnection) -> None:
        raise WarehouseError("the disk is full")

    with pytest.raises(WarehouseError, match="the disk is full"):
        ingest([str(SEEDS)], tmp_path / "w.duckdb", prepare=prepare)

"""Batches, workers and ranks: however units are shared out, the rows are the same."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline import store
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.run_ingest import RunIngest
from hlodb.ingest.sources.discover import discover
from hlodb.ingest.tables import batch
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS, all_rows
from tests.ingest.loading import BEFORE, changed, load


def files_by_rank(database: Path) -> list[tuple[Any, ...]]:
    """Count the files of modules by folder and status."""
    with connect(database) as connection:
        return connection.execute("""
            SELECT path[1:6], status, count(*) FROM dump_files
            WHERE module_id IS NOT NULL GROUP BY ALL ORDER BY ALL
        """).fetchall()


def test_small_units_join_a_batch_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is a quarter larger, whatever there is of them."""
    monkeypatch.setattr(batch, "BATCH_BYTES", 3200)
    monkeypatch.setattr(batch, "UNIT_BYTES", 0)
    sizes = [1600, 1600, 90, 99, 100, 3200, 50, *[80] * 12]
    for number, size in enumerate(sizes):
        name = f"module_{number:04}.jit_f.cpu_after_optimizations.txt"
        (tmp_path / name).write_bytes(f"HloModule f{number}\n".encode().ljust(size))
    [source] = discover([str(tmp_path)])
    batches = RunIngest(source, RunRequest(), None).reading.batches()
    found = [[len(f.data) for files in batch for f in files] for batch in batches]
    assert found == [sizes[:4], sizes[4:-3], sizes[-3:]]


def test_many_small_units_are_several_batches(tmp_path: Path) -> None:
    """A module costs more than its text: else one worker would have them all."""
    count = 2 * batch.BATCH_BYTES // batch.UNIT_BYTES
    for number in range(count):
        name = f"module_{number:04}.jit_f.cpu_after_optimizations.txt"
        (tmp_path / name).write_text(f"HloModule f{number}\n")
    [source] = discover([str(tmp_path)])
    batches = RunIngest(source, RunRequest(), None).reading.batches()
    found = [sum(map(batch.weight, units)) for units in batches]
    assert len(found) == 2
    assert sum(found) > 2 * batch.BATCH_BYTES


@pytest.mark.slow
def test_workers_and_one_process_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = [str(DUMPS / "cpu" / f"jaxlib-{v}.tar.xz") for v in ("0.4.13", "0.9.2")]
    monkeypatch.setattr(batch, "BATCH_BYTES", 200_000)
    monkeypatch.setattr(store, "FLUSH_BYTES", 1_000_000)
    one, three = tmp_path / "one.duckdb", tmp_path / "three.duckdb"
    counts = [
        [(s.files, s.modules, s.instructions) for s in ingest(archives, db, jobs=jobs)]
        for db, jobs in ((one, 1), (three, 3))
    ]
    assert counts[0] == counts[1] == [(30, 20, 18708), (55, 22, 18400)]
    assert changed(one, three) == set()


@pytest.mark.slow
def test_ranks_that_dump_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a repeated unit was parsed again or known by then can't be seen."""
    for rank in range(3):
        shutil.copytree(BEFORE, tmp_path / "dump" / f"rank_{rank}")
    together, apart = tmp_path / "together.duckdb", tmp_path / "apart.duckdb"
    load(together, tmp_path / "dump")
    monkeypatch.setattr(batch, "BATCH_BYTES", 1)
    [summary] = load(apart, tmp_path / "dump")
    assert all_rows(together) == all_rows(apart)
    assert (summary.modules, summary.new_modules) == (12, 4)
    assert files_by_rank(apart) == [
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
    assert files_by_rank(db) == [
        ("rank_0", "loaded", 11),
        ("rank_0", "rejected", 1),
        ("rank_1", "duplicate", 11),
        ("rank_1", "rejected", 1),
    ]

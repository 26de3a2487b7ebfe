"""Dumps after every pass: in their order, equal snapshots once, in three sizes."""

from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import Passes, RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, all_rows

RING = DATA / "passes" / "jit_ring.tar.xz"


def load(db: Path, passes: Passes = "full", name: str | None = None) -> None:
    ingest([str(RING)], db, request=RunRequest(name=name, passes=passes))


def test_passes_come_in_their_order(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    load(db)
    with connect(db) as connection:
        rows = run_query(connection, "pass_history").dicts()
    assert [row["stage"] for row in rows] == [
        "before_optimizations",
        *["pass"] * (len(rows) - 2),
        "after_optimizations",
    ]
    steps = [row["pass_step"] for row in rows[1:-1]]
    assert steps == sorted(steps)
    # The pass that a snapshot waits for is the one that made the next.
    assert (rows[1]["pass_after"], rows[1]["pass_before"]) == (
        "pipeline-start",
        "async-collective-replacer",
    )
    assert rows[0]["instruction_count"] == 25
    assert rows[-1]["instruction_count"] == 55
    assert rows[-1]["reserved_bytes"] == 344120


def test_equal_snapshots_are_stored_once(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    load(db)
    with connect(db) as connection:
        counts = connection.execute("""
            SELECT count(*), count(DISTINCT module_id),
              (SELECT count(DISTINCT module_id) FROM store.instructions)
            FROM modules
        """).fetchone()
    assert counts is not None
    snapshots, distinct, stored = counts
    assert distinct == stored < snapshots == 34


def test_metrics_keep_counts_and_fingerprints(tmp_path: Path) -> None:
    full, metrics = tmp_path / "full.duckdb", tmp_path / "metrics.duckdb"
    load(full)
    load(metrics, "metrics")
    question = """
        SELECT * EXCLUDE (locations_id, unit_digest, is_detailed)
        FROM modules ORDER BY path
    """
    with connect(full) as connection:
        expected = connection.execute(question).fetchall()
    with connect(metrics) as connection:
        assert connection.execute(question).fetchall() == expected
        stored = connection.execute("""
            SELECT DISTINCT stage FROM modules
            WHERE module_id IN (SELECT module_id FROM store.instructions)
        """).fetchall()
    assert {stage for (stage,) in stored} >= {
        "before_optimizations",
        "after_optimizations",
    }


def test_none_leaves_the_files_on_record(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    load(db, "none")
    with connect(db) as connection:
        stages = connection.execute("SELECT stage FROM modules").fetchall()
        assert sorted(stages) == [("after_optimizations",), ("before_optimizations",)]
        left = connection.execute("""
            SELECT status, reason, count(*) FROM dump_files
            WHERE stage = 'pass' GROUP BY ALL
        """).fetchall()
    assert left == [("ignored", "left out by --passes none", 32)]


@pytest.mark.slow
@pytest.mark.parametrize("first", ["metrics", "none"])
def test_details_come_with_a_full_run_later(tmp_path: Path, first: Passes) -> None:
    db, only = tmp_path / "w.duckdb", tmp_path / "only.duckdb"
    load(db, first, "monday")
    load(db, "full", "tuesday")
    load(only, "full", "tuesday")
    ours, theirs = all_rows(db), all_rows(only)
    for table in ("computations", "instructions", "operands", "memory_profile"):
        assert ours[table] == theirs[table]


def test_passes_of_each_module_are_counted_from_0(tmp_path: Path) -> None:
    folder, db = tmp_path / "dump", tmp_path / "w.duckdb"
    folder.mkdir()
    for number, names in ((3, ("algsimp", "dce")), (7, ("cse", "dce", "fusion"))):
        text = "".join(f'pass_metadata {{ pass_name: "{name}" }}\n' for name in names)
        (folder / f"module_{number:04}.f.metadata.textproto").write_text(text)
    ingest([str(folder)], db)
    with connect(db) as connection:
        rows = connection.execute("""
            SELECT module_number, ordinal, pass_name FROM passes ORDER BY ALL
        """).fetchall()
    assert rows == [
        (3, 0, "algsimp"),
        (3, 1, "dce"),
        (7, 0, "cse"),
        (7, 1, "dce"),
        (7, 2, "fusion"),
    ]

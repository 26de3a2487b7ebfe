"""What a warehouse lacks: series that stopped, modules without all their files."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import duckdb

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

DAY = 86400.0
DUMP = DATA / "changes" / "donation" / "base"
AFTER = "module_0000.jit_update.cpu_after_optimizations"


def test_a_series_that_stopped_is_overdue(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    """Since its last run, beyond the mean time between its runs."""
    days = {
        "nightly": (1, 2, 3, 4, 5),
        "weekly": (1, 8),
        "odd": (2, 3, 8),
        "once": (3,),
    }
    for series, of in days.items():
        for day in of:
            warehouse.execute(
                "INSERT INTO runs (run_id, name, series, started_at) SELECT"
                " 1 + count(*), ?, ?, ? FROM runs",
                [f"{series}-{day}", series, datetime(2027, 1, day)],
            )
    warehouse.execute("INSERT INTO runs (run_id, name) VALUES (99, 'no series')")
    shown = (
        "SELECT series, run_count, last_run, cadence_seconds, silent_seconds,"
        " overdue_seconds FROM "
    )
    rows = warehouse.execute(f"{shown} freshness()").fetchall()
    assert rows == [
        ("nightly", 5, "nightly-5", DAY, 3 * DAY, 2 * DAY),
        ("once", 1, "once-3", None, 5 * DAY, 0.0),
        ("odd", 3, "odd-8", 3 * DAY, 0.0, 0.0),
        ("weekly", 2, "weekly-8", 7 * DAY, 0.0, 0.0),
    ]
    later = warehouse.execute(f"{shown} freshness(as_of := '2027-01-12')").fetchall()
    assert [(row[0], row[-1]) for row in later] == [
        ("nightly", 6 * DAY),
        ("odd", DAY),
        ("once", 0.0),
        ("weekly", 0.0),
    ]


def test_what_each_process_lacks_is_told(tmp_path: Path) -> None:
    """Also where another has a module of the same name and number in full."""
    lost = {
        "whole": (),
        "no_source": ("module_0000.jit_update.before_optimizations.txt",),
        "no_ranges": (f"{AFTER}-live-range.txt",),
        "source_only": tuple(
            f"{AFTER}{ending}.txt"
            for ending in (
                *("", "-live-range"),
                *("-buffer-assignment", "-buffer-assignment-values"),
            )
        ),
    }
    for folder, names in lost.items():
        shutil.copytree(DUMP, tmp_path / "run" / folder)
        for name in names:
            (tmp_path / "run" / folder / name).unlink()
    ingest([str(tmp_path / "run")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "incomplete_modules").rows
        every = run_query(connection, "incomplete_modules", {"complete": True}).rows
    after, before = "after_optimizations", "before_optimizations"
    source = f"module_0000.jit_update.{before}.txt"
    assert [row[4:] for row in rows] == [
        (before, "buffer_assignment, live_ranges", 2, f"source_only/{source}"),
        (after, "live_ranges", 1, f"no_ranges/{AFTER}.txt"),
        (after, before, 1, f"no_source/{AFTER}.txt"),
    ]
    assert every[:3] == rows
    assert [row[4:] for row in every[3:]] == [(after, "", 0, f"whole/{AFTER}.txt")]

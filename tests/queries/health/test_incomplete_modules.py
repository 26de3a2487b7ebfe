"""Modules without all their files."""

from __future__ import annotations

import shutil
from pathlib import Path

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

DUMP = DATA / "changes" / "donation" / "base"
AFTER = "module_0000.jit_update.cpu_after_optimizations"


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

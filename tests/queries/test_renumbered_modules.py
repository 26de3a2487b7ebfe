"""Modules that a TPU compiler gives a new number on the way."""

from __future__ import annotations

from pathlib import Path

from hlodb.ingest.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.read import read_modules, read_runs
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import write

LAYOUT = "{{(f32[{size}]{{0}})->f32[{size}]{{0}}}}"
TEXT = f"""HloModule jit_{{name}}, entry_computation_layout={LAYOUT}

ENTRY %main (p: f32[{{size}}]) -> f32[{{size}}] {{{{
  %p = f32[{{size}}]{{{{0}}}} parameter(0)
  ROOT %end = f32[{{size}}]{{{{0}}}} {{opcode}}(%p)
}}}}
"""
BEFORE, AFTER = "before_optimizations", "after_optimizations"
Modules = list[tuple[int, int | None]]


def compiled(folder: Path, snapshots: list[tuple[int, str, str, int]]) -> Modules:
    """Give the number of each compiled module, and whether its source is known."""
    files = {
        f"module_{number:04}.jit_{name}.cl_7.{stage}.txt": TEXT.format(
            name=name, size=size, opcode="sine" if stage == BEFORE else "copy"
        ).encode()
        for number, stage, name, size in snapshots
    }
    path = folder / "w.duckdb"
    ingest([str(write(folder / "dump", files))], path, jobs=1)
    with connect(path) as connection:
        rows = run_query(connection, "final_modules").dicts()
        (run,) = read_runs(connection)
        modules = read_modules(connection, [run])[run.run_id]
        sources = dict(
            connection.execute(
                f"SELECT module_id, module_number FROM modules WHERE stage = '{BEFORE}'"
            ).fetchall()
        )
    found = [(m.module_number or 0, sources.get(m.source_id)) for m in modules]
    assert sorted(row["module_number"] for row in rows) == sorted(n for n, _ in found)
    return sorted(found)


def test_both_halves_are_one_module(tmp_path: Path) -> None:
    snapshots = [
        (12, BEFORE, "f", 8), (15, AFTER, "f", 8),
        (20, BEFORE, "g", 8), (20, AFTER, "g", 8),
        (30, BEFORE, "f", 9), (32, AFTER, "f", 9),
    ]  # fmt: skip
    assert compiled(tmp_path, snapshots) == [(15, 12), (20, 20), (32, 30)]


def test_what_does_not_fit_is_not_joined(tmp_path: Path) -> None:
    """Not another program or shape, nor what comes before its source."""
    snapshots = [
        (12, BEFORE, "f", 8), (15, AFTER, "g", 8),
        (20, BEFORE, "h", 8), (21, AFTER, "h", 9),
        (30, AFTER, "i", 8), (31, BEFORE, "i", 8),
    ]  # fmt: skip
    assert compiled(tmp_path, snapshots) == [
        (12, 12), (15, None), (20, 20), (21, None), (30, None), (31, 31)
    ]  # fmt: skip

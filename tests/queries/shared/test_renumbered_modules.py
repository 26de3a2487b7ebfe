"""Modules that a TPU compiler gives a new number on the way."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.reports.read.facts import read_modules, read_runs
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
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
ASKED: tuple[tuple[str, dict[str, Value]], ...] = (
    ("backend_compare", {"color": 0}),
    ("first_divergence", {"base": "base", "candidate": "candidate"}),
    ("incomplete_modules", {"run": "base", "complete": True}),
    ("nondeterminism", {}),
    ("pass_history", {"run": "base"}),
)


def compiled(folder: Path, snapshots: list[tuple[int, str, str, int]]) -> Modules:
    """Return the number of each compiled module, and whether its source is known."""
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


def test_partitions_of_another_program_are_not_joined(tmp_path: Path) -> None:
    """Which have another rank, element type or number of partitions."""
    layouts = [
        (0, BEFORE, "(f32[8]{0})->f32[8]{0}", 2),
        (1, AFTER, "(f32[4,1]{1,0})->f32[4,1]{1,0}", 2),
        (2, AFTER, "(s32[4]{0})->s32[4]{0}", 2),
        (3, AFTER, "(f32[4]{0})->f32[4]{0}", 4),
        (4, AFTER, "(f32[4]{0})->f32[4]{0}", 2),
    ]
    body = TEXT.format(name="f", size=8, opcode="sine").partition("\n")[2]
    files = {
        f"module_{number:04}.jit_f.cl_7.{stage}.txt": (
            f"HloModule jit_f, entry_computation_layout={{{layout}}}, "
            f"num_partitions={count}\n{body}"
        ).encode()
        for number, stage, layout, count in layouts
    }
    path = tmp_path / "w.duckdb"
    ingest([str(write(tmp_path / "dump", files))], path, jobs=1)
    with connect(path) as connection:
        (row,) = run_query(connection, "renumbered_modules").dicts()
    assert (row["module_number"], row["next_number"]) == (0, 4)


@pytest.mark.slow
def test_a_real_module_is_followed_from_number_to_number(tmp_path: Path) -> None:
    """Through all its snapshots, in the order in which they were made."""
    path = tmp_path / "w.duckdb"
    for name, dump in (("base", "base"), ("again", "base"), ("candidate", "candidate")):
        archive = str(DATA / "renumbered" / f"{dump}.tar.xz")
        ingest([archive], path, request=RunRequest(name=name), jobs=1)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE runs SET device = 'v5e' WHERE name = 'candidate'")
    with connect(path) as connection:
        asked = {name: run_query(connection, name, p).dicts() for name, p in ASKED}
    pipelines = ["", *_passes(DATA / "renumbered" / "base.tar.xz"), ""]
    told = asked["pass_history"]
    assert [(row["snapshot"], row["pipeline"] or "") for row in told] == [
        *enumerate(pipelines)
    ]
    (whole,) = asked["incomplete_modules"]
    assert (whole["module_number"], whole["missing"]) == (3, "")
    (parting,) = asked["first_divergence"]
    assert parting["first_different_stage"] == BEFORE
    assert parting["compared_stages"] == len(pipelines)
    counts = {row["compile_count"] for row in asked["nondeterminism"]}
    assert counts == {2}
    are_same = {row["run"]: row["is_same_graph"] for row in asked["backend_compare"]}
    assert sorted(are_same.values()) == [False, True]


def test_a_partitioned_program_is_followed_to_other_shapes(tmp_path: Path) -> None:
    """What is sharded over four chips has a quarter of each array afterwards."""
    path, archive = tmp_path / "w.duckdb", DATA / "renumbered" / "sharded.tar.xz"
    ingest([str(archive)], path, jobs=1)
    with connect(path) as connection:
        (module,) = read_modules(connection, read_runs(connection)).popitem()[1]
        told = run_query(connection, "pass_history").dicts()
        (source,) = connection.execute(
            f"SELECT module_id, entry_layout FROM modules WHERE stage = '{BEFORE}'"
        ).fetchall()
        (result,) = connection.execute(
            f"SELECT entry_layout FROM modules WHERE stage = '{AFTER}'"
        ).fetchall()
    assert (source[1], *result) == (
        "(c64[64]{0:T(128)})->f32[64]{0:T(128)}",
        "(c64[16]{0:T(128)})->f32[16]{0:T(128)}",
    )
    assert (module.module_number, module.source_id) == (3, source[0])
    pipelines = ["", *_passes(archive), ""]
    assert [row["pipeline"] or "" for row in told] == pipelines


def _passes(archive: Path) -> list[str]:
    """Return the pipelines of pass snapshots, which are named so as to be in order."""
    with tarfile.open(archive) as dump:
        names = sorted(dump.getnames())
    found = (re.search(r"\.\d{4}\.(.*)\.after_pipeline-start", n) for n in names)
    return [match[1] for match in found if match]

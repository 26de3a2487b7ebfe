"""Runs side by side: what got worse, when, on which backend, and what else changed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.reports.situations import EVAL, MIB, STEP, WORK, night
from tests.reports.worlds import Buffer, Program, World, make

DONATION = DATA / "changes" / "donation"
Rows = list[tuple[Any, ...]]


def sized(mebibytes: int, **more: Any) -> Program:
    work = replace(WORK, size=mebibytes * MIB)
    return replace(STEP, buffers=(work,), text=f"{mebibytes}", **more)


def answer(database: Path, query: str, *columns: str, **asked: Value) -> Rows:
    with connect(database) as connection:
        rows = run_query(connection, query, asked).dicts()
    return [tuple(row[name] for name in columns) for row in rows]


@pytest.mark.slow
def test_a_difference_is_compared_with_its_own_figure(tmp_path: Path) -> None:
    """A seventh less is reserved, and a fifteenth more is live."""

    def at_the_end(mebibytes: int) -> Program:
        reserved = 40 if mebibytes == 30 else 35
        offset = (reserved - mebibytes) * MIB
        work = replace(WORK, size=mebibytes * MIB, offset=offset)
        return replace(STEP, buffers=(work,))

    nights = night(1, at_the_end(30)), night(2, at_the_end(32))
    database = make(tmp_path / "w.duckdb", *nights)
    shown = "verdict", "delta_reserved_bytes", "delta_live_peak_bytes"
    found = {
        ratio: answer(database, "peak_regressions", *shown, min_delta_ratio=ratio)
        for ratio in (0.0, 0.1, 0.2)
    }
    assert found == {
        0.0: [("mixed", -5 * MIB, 2 * MIB)],
        0.1: [("improved", -5 * MIB, 2 * MIB)],
        0.2: [("same", -5 * MIB, 2 * MIB)],
    }


@pytest.mark.slow
def test_a_cache_of_the_compiler_counts_near_its_limit_only(tmp_path: Path) -> None:
    def in_vmem(mebibytes: int) -> Program:
        near = replace(WORK, name="near", size=mebibytes * MIB, color=1)
        return replace(STEP, buffers=(WORK, near), text=f"{mebibytes}")

    nights = (
        night(n, in_vmem(size), platform="tpu", device="TPU v5e")
        for n, size in ((1, 10), (2, 20))
    )
    database = make(tmp_path / "w.duckdb", *nights)

    def vmem(**asked: Value) -> tuple[Any, ...]:
        shown = "space_name", "verdict", "rule", "delta_reserved_bytes"
        rows = answer(database, "peak_regressions", *shown, **asked)
        (row,) = (row[1:] for row in rows if row[0] == "VMEM")
        return row

    def limited(*limits: tuple[str, str, int]) -> dict[str, Value]:
        devices, spaces, sizes = (list(column) for column in zip(*limits, strict=True))
        return {
            "limit_devices": devices,
            "limit_spaces": spaces,
            "limit_bytes": [size * MIB for size in sizes],
        }

    settled = ("same", "managed_space", 10 * MIB)
    worse = ("worse", "more_bytes", 10 * MIB)
    narrow = ("TPU v5*", "VMEM", 21)
    assert vmem() == settled
    assert vmem(managed_ratio=0.0) == worse
    assert vmem(**limited(narrow)) == worse
    assert vmem(**limited(narrow), managed_ratio=1.0) == settled
    assert vmem(**limited(("TPU v4", "VMEM", 16), ("TPU v5e", "HBM", 16))) == settled
    assert vmem(**limited(("*", "VMEM", 128), narrow)) == settled


@pytest.mark.slow
def test_new_modules_of_a_program_come_in_the_order_of_their_numbers(
    tmp_path: Path,
) -> None:
    sizes = [5, 1, 9, 3, 8, 2, 7, 4]
    nights = night(1, EVAL), night(2, EVAL, *(sized(size) for size in sizes))
    database = make(tmp_path / "w.duckdb", *nights)
    shown = "program", "verdict", "candidate_reserved_bytes"
    assert answer(database, "peak_regressions", *shown) == [
        *(("jit_step", "new", size * MIB) for size in sizes),
        ("jit_eval", "same", 5 * MIB),
    ]


def turns(folder: Path) -> Path:
    """Make a series in which two platforms take turns."""
    sizes = [("cpu", 4), ("tpu", 9), ("cpu", 4), ("tpu", 9), ("cpu", 6), ("tpu", 9)]
    worlds = [
        night(number, sized(size), platform=platform, commit=f"c{number}")
        for number, (platform, size) in enumerate(sizes, 1)
    ]
    return make(folder / "w.duckdb", *worlds)


def test_change_points_of_each_platform(tmp_path: Path) -> None:
    shown = (
        *("platform", "first_run", "last_run", "run_count", "reserved_bytes"),
        "delta_reserved_bytes",
    )
    assert answer(turns(tmp_path), "history_segments", *shown) == [
        ("cpu", "night-1", "night-3", 2, 4 * MIB, None),
        ("cpu", "night-5", "night-5", 1, 6 * MIB, 2 * MIB),
        ("tpu", "night-2", "night-6", 3, 9 * MIB, None),
    ]


def test_a_change_beside_nights_without_live_ranges(tmp_path: Path) -> None:
    """What they lack is no change, and hides none."""

    def live(mebibytes: int, reserved: int = 9) -> Program:
        offset = (reserved - mebibytes) * MIB
        work = replace(WORK, size=mebibytes * MIB, offset=offset)
        return replace(STEP, buffers=(work,))

    peaks = [live(4), live(5), live(5), live(6), live(6, 10), live(7, 10)]
    nights = [night(number, program) for number, program in enumerate(peaks, 1)]
    database = make(tmp_path / "w.duckdb", *nights)
    with duckdb.connect(str(database)) as connection:
        connection.execute("""
            UPDATE memory_profile SET live_peak_bytes = NULL
            WHERE module_id // 1000000 IN (2, 3, 5)
        """)
    shown = "first_run", "last_run", "reserved_bytes", "live_peak_bytes"
    assert answer(database, "history_segments", *shown) == [
        ("night-1", "night-3", 9 * MIB, 4 * MIB),
        ("night-4", "night-4", 9 * MIB, 6 * MIB),
        ("night-5", "night-6", 10 * MIB, 7 * MIB),
    ]


def test_commits_between_which_a_change_lies(tmp_path: Path) -> None:
    shown = ("platform", "commit_before", "first_commit")
    assert answer(turns(tmp_path), "history_segments", *shown) == [
        ("cpu", None, "c1"),
        ("cpu", "c3", "c5"),
        ("tpu", None, "c2"),
    ]


def test_backends_are_compared_by_the_source_of_the_same_rank(tmp_path: Path) -> None:
    cpu = night(1, sized(4, rank=0, source=None), sized(6, rank=1))
    tpu = night(2, sized(8, rank=0), platform="tpu", device="TPU v5e")
    database = make(tmp_path / "w.duckdb", cpu, tpu, night(3, EVAL))
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE store.paths SET module_number = 1")
    shown = (
        *("program", "platform", "device", "run", "reserved_bytes", "reserved_x"),
        "is_same_graph",
    )
    assert answer(database, "backend_compare", *shown) == [
        ("jit_step", "cpu", None, "night-1", 4 * MIB, 1.0, False),
        ("jit_step", "tpu", "TPU v5e", "night-2", 8 * MIB, 2.0, True),
    ]


def test_a_backend_counts_once_whatever_its_memory_spaces(tmp_path: Path) -> None:
    """Two traced alike; the third, with three memory spaces, did not."""
    spread = tuple(replace(WORK, color=color) for color in range(3))
    other = replace(STEP, buffers=spread, source="other")
    nights = [
        night(1, other, platform="tpu"),
        *(night(n, sized(4), device=device) for n, device in ((2, "x86"), (3, "arm"))),
    ]
    database = make(tmp_path / "w.duckdb", *nights)
    shown = "color", "platform", "device", "is_same_graph"
    main = [(0, "tpu", None, False), (0, "cpu", "x86", True), (0, "cpu", "arm", True)]
    assert answer(database, "backend_compare", *shown, color=0) == main
    assert answer(database, "backend_compare", *shown) == main


@pytest.mark.slow
@pytest.mark.parametrize("order", [*permutations(["one", "two", "three"])])
def test_of_equally_many_graphs_that_of_the_latest_run_counts(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    """The first run, whose source is not there, is of no graph."""
    nights = [
        night(n, replace(STEP, source=source), device=f"chip-{n}")
        for n, source in enumerate([None, *order], 1)
    ]
    database = make(tmp_path / "w.duckdb", *nights)
    assert answer(database, "backend_compare", "run", "is_same_graph") == [
        ("night-1", False),
        ("night-2", False),
        ("night-3", False),
        ("night-4", True),
    ]


def test_what_made_jax_trace_again(tmp_path: Path) -> None:
    shapes = [f"(f32[{size}]{{0}}, s32[]{{}})->f32[8]{{0}}" for size in (8, 16)]
    programs = [sized(4 * n, shapes=shape) for n, shape in enumerate(shapes, 1)]
    database = make(tmp_path / "w.duckdb", night(1, *programs, EVAL))
    twice = (
        *("jit_step", None, 2, 2, 2, 2, "0: f32[16], f32[8]"),
        *(12 * MIB, 8 * MIB, None, 1),
    )
    for least, expected in ((1, 2), (2, 1), (3, 0)):
        with connect(database) as connection:
            asked: dict[str, Value] = {"min_modules": least}
            rows = run_query(connection, "recompile_groups", asked).rows
        assert [row[1:] for row in rows][:1] == [twice][:expected]
        assert len(rows) == expected


def test_what_every_rank_compiles_once_is_not_compiled_again(tmp_path: Path) -> None:
    """Rank 1 alone traced a program again."""
    shapes = [f"(f32[{size}]{{0}})->f32[8]{{0}}" for size in (8, 16)]
    again = sized(8, shapes=shapes[1], rank=1)
    everywhere = [sized(4, shapes=shapes[0], rank=rank) for rank in range(3)]
    database = make(tmp_path / "w.duckdb", night(1, *everywhere, again))
    shown = "program", "rank", "module_count", "varying_arguments"
    assert answer(database, "recompile_groups", *shown) == [
        ("jit_step", 1, 2, "0: f32[16], f32[8]")
    ]


def test_what_else_changed(tmp_path: Path) -> None:
    one, other = (
        World(
            name,
            flags=flags,
            device=device,
            labels=labels,
            commit="aaa",
            branch=branch,
        )
        for name, flags, device, labels, branch in (
            (
                *(
                    "one",
                    {
                        "xla_cpu_fusion_limit": "3",
                        "xla_same": "1",
                        "xla_old": "1",
                        "493": "1",
                        "xla_options.12": "1",
                    },
                ),
                *("TPU v5e", '{"a": 1}', None),
            ),
            ("other", {"xla_cpu_fusion_limit": "5", "xla_same": "1"}, None, None, "b"),
        )
    )
    database = make(tmp_path / "w.duckdb", one, other)
    with connect(database, read_only=False) as connection:
        connection.execute(
            "INSERT INTO compiler_flags BY NAME SELECT 2 AS run_id, 9 AS"
            " module_number, 'xla_cpu_fusion_limit' AS name, '4' AS value"
        )
        asked: dict[str, Value] = {"base": "one", "candidate": "other"}
        rows = run_query(connection, "environment_diff", asked).rows
        assert (
            run_query(
                connection, "environment_diff", {"base": "one", "candidate": "one"}
            ).rows
            == []
        )
    assert rows == [
        ("one", "other", "flag xla_cpu_fusion_limit", True, "3", "4 | 5", True),
        ("one", "other", "branch", False, None, "b", False),
        ("one", "other", "device", False, "TPU v5e", None, False),
        ("one", "other", "flag xla_old", True, "1", None, False),
        ("one", "other", "label a", False, "1", None, False),
    ]


def test_passes_that_got_slower(tmp_path: Path) -> None:
    """Of all programs, or of one: the others' passes are not its own."""
    database = make(tmp_path / "w.duckdb", night(1, STEP), night(2, STEP, EVAL))
    passes = [
        *((1, 1, "fusion", True, 2_000_000), (1, 1, "gone", False, 250_000)),
        *((2, 1, "fusion", True, 3_000_000), (2, 1, "fusion", False, 500_000)),
        *((2, 2, "fusion", True, 500_000), (2, 2, "dce", False, None)),
        (2, 3, "of_no_module", True, 9_000_000),
    ]
    with connect(database, read_only=False) as connection:
        connection.executemany(
            "INSERT INTO passes BY NAME SELECT ? AS run_id, ? AS module_number,"
            " 'p' AS pipeline, ? AS pass_name, ? AS has_changed, ? AS duration_us",
            passes,
        )

        def times(**asked: Value) -> Rows:
            return run_query(connection, "compile_time_by_pass", asked).rows

        alone, both = times(), times(base="night-1")
        one = times(base="night-1", program="jit_step")
    assert alone == [
        ("night-2", "p", "fusion", 3, 2, 4.0, 1.0, None, None, None),
        ("night-2", "p", "dce", 1, 0, None, None, None, None, None),
    ]
    assert both == [
        ("night-2", "p", "fusion", 3, 2, 4.0, 1.0, 1, 2.0, 2.0),
        ("night-2", "p", "dce", 1, 0, None, None, 0, None, 0.0),
        ("night-2", "p", "gone", 0, 0, None, None, 1, 0.25, -0.25),
    ]
    assert one == [
        ("night-2", "p", "fusion", 2, 1, 3.5, 1.0, 1, 2.0, 1.5),
        ("night-2", "p", "gone", 0, 0, None, None, 1, 0.25, -0.25),
    ]


@pytest.mark.slow
def test_a_donation_that_one_of_two_compilations_lost(tmp_path: Path) -> None:
    for run, dumps in {"one": ("base", "base"), "other": ("base", "dropped")}.items():
        (tmp_path / run).mkdir()
        for number, dump in enumerate(dumps):
            for path in (DONATION / dump).iterdir():
                name = path.name.replace("module_0000", f"module_{number:04}")
                shutil.copy(path, tmp_path / run / name)
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / run) for run in ("one", "other")], database, jobs=1)
    with connect(database) as connection:
        asked: dict[str, Value] = {"base": "one", "candidate": "other"}
        there = run_query(connection, "alias_changes", asked).rows
        asked = {"base": "other", "candidate": "one"}
        back = run_query(connection, "alias_changes", asked).rows
    what = ("{1}", None, 1, "{}", "v")
    size, shape = 64 * 128 * 4, "f32[64,128]"
    assert there == [
        ("jit_update", 1, None, "lost", *what, "realised", "missed", size, size, shape)
    ]
    assert back == [
        (
            "jit_update",
            1,
            None,
            "gained",
            *what,
            "missed",
            "realised",
            size,
            -size,
            shape,
        )
    ]


@pytest.mark.slow
def test_outputs_in_another_order_lose_no_donation(tmp_path: Path) -> None:
    """One parameter's result is where it was, the other's is not."""
    database = tmp_path / "w.duckdb"
    dumps = ("base", "dropped", "reordered")
    ingest([str(DONATION / dump) for dump in dumps], database, jobs=1)
    columns = ("change", "base_output_index", "output_index", "op_name", "lost_bytes")

    def changes(base: str, candidate: str) -> Rows:
        asked: dict[str, Value] = {"base": base, "candidate": candidate}
        return answer(database, "alias_changes", *columns, **asked)

    of_v = 64 * 128 * 4
    assert changes("base", "reordered") == [("reordered", "{0}", "{2}", "w", 0)]
    assert changes("reordered", "base") == [("reordered", "{2}", "{0}", "w", 0)]
    assert changes("dropped", "reordered") == [
        ("reordered", "{0}", "{2}", "w", 0),
        ("gained", None, "{1}", "v", -of_v),
    ]
    with duckdb.connect(str(database)) as connection:
        for table in ("aliases", "allocations"):
            connection.execute(
                f"UPDATE {table} SET parameter_number = 2 - parameter_number WHERE"
                " parameter_number IN (0, 2) AND module_id = (SELECT module_id FROM"
                " modules JOIN runs USING (run_id) WHERE has_assignment AND"
                " runs.name = 'dropped')"
            )
    assert [row[:3] for row in changes("base", "dropped")] == [
        ("moved", None, "{0}"),
        ("moved", None, "{0}"),
        ("lost", None, "{1}"),
    ]


@pytest.mark.slow
def test_a_donation_is_lost_by_the_compilation_that_had_it(tmp_path: Path) -> None:
    """Also where that is the first of two, and has no other."""
    weights = replace(WORK, name="weights", kind="parameter", parameter=0)
    nights = [
        night(number, *(with_weights(weights, size, text) for size in (4, 8)))
        for number, text in enumerate(("a", "b"), 1)
    ]
    database = make(tmp_path / "w.duckdb", *nights)
    with duckdb.connect(str(database)) as connection:
        modules = connection.execute(
            "SELECT module_id FROM modules WHERE has_assignment ORDER BY run_id, path"
        ).fetchall()
        for (module,) in (*modules[:2], *modules[3:]):
            connection.execute(
                "UPDATE allocations SET is_live_out = true"
                " WHERE module_id = ? AND kind = 'parameter'",
                [module],
            )
            connection.execute(
                "INSERT INTO aliases VALUES (?, NULL, 0, '{}', 'donor')", [module]
            )
    asked = {"base": "night-1", "candidate": "night-2"}
    assert answer(database, "alias_changes", "change", "lost_bytes", **asked) == [
        ("lost", 4 * MIB)
    ]


def with_weights(weights: Buffer, mebibytes: int, text: str) -> Program:
    buffers = (WORK, replace(weights, size=mebibytes * MIB))
    return replace(STEP, buffers=buffers, text=f"{mebibytes} {text}")

"""GPU dumps, compiled ahead of time for an H100: all is read, and the numbers agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Device, Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect

RELEASES = ("jaxlib-0.5.3", "jaxlib-0.7.2", "jaxlib-0.10.2")


def files(
    connection: duckdb.DuckDBPyConnection, run: str
) -> Counter[tuple[str, str, str | None]]:
    """Count files by kind, status and what is said of those that are ignored."""
    found = connection.execute(
        "SELECT kind, status, CASE WHEN status = 'ignored' THEN reason END"
        " FROM dump_files JOIN runs USING (run_id) WHERE name = ?",
        [run],
    )
    return Counter(found.fetchall())


@pytest.mark.slow
def test_every_file_is_known(gpu_warehouse: Path) -> None:
    with connect(gpu_warehouse) as connection:
        assert connection.execute("FROM rejects").fetchall() == []
        unclaimed = "SELECT path FROM dump_files WHERE lines_unclaimed > 0"
        assert connection.execute(unclaimed).fetchall() == []
        assert files(connection, "jaxlib-0.5.3") == {
            ("buffer_assignment", "loaded", None): 2,
            ("hlo_proto", "loaded", None): 4,
            ("hlo_text", "loaded", None): 4,
            ("memory_report", "loaded", None): 2,
            (
                "ignored",
                "ignored",
                "MLIR, such as StableHLO: a program not compiled yet, without buffers",
            ): 8,
            ("ignored", "ignored", "thunks of the executable"): 2,
            (
                "ignored",
                "ignored",
                "a computation as it is given to Triton; its module has it",
            ): 4,
            ("text_proto", "ignored", "text proto"): 2,
        }


@pytest.mark.parametrize("run", RELEASES)
def test_modules_are_those_that_were_compiled(gpu_warehouse: Path, run: str) -> None:
    with connect(gpu_warehouse) as connection:
        found = run_query(connection, "module_list", {"run": run})
    names = [column.name for column in found.columns]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows]
    stages = {
        "jaxlib-0.5.3": {"before_optimizations", "after_optimizations"},
    }.get(
        run, {"before_optimizations", "after_spmd_partitioner", "after_optimizations"}
    )
    assert {(row["program"], row["stage"]) for row in rows} == {
        (program, stage) for program in ("jit_ring", "jit_step") for stage in stages
    }


def test_all_checks_hold_though_two_runs_say_the_same(gpu_warehouse: Path) -> None:
    with connect(gpu_warehouse) as connection:
        found = run_query(connection, "check_results", {}).rows
    assert {(status, faults) for _, status, *_, faults, _ in found} == {("ok", 0)}
    checked = {name: count for name, *_, count in found}
    assert (checked["memory_analysis"], checked["proto"]) == (6, 3_818)


def test_memory_spaces(gpu_warehouse: Path) -> None:
    """Temporaries and what collectives exchange have spaces of their own."""
    with connect(gpu_warehouse) as connection:
        found = run_query(connection, "peak_by_space", {"run": "jaxlib-0.10.2"})
    names = [column.name for column in found.columns]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows]
    shown = ("program", "color", "space_name", "reserved_bytes", "live_peak_bytes")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("jit_step", 0, "default", 491_568, 491_520),
        ("jit_ring", 0, "default", 278_564, 278_528),
        ("jit_ring", 2, "temp", 262_928, 262_144),
        ("jit_ring", 1, "collective", 40_960, 40_960),
    ]


def test_headroom_is_told_from_the_memory_that_a_dump_says(
    gpu_warehouse: Path,
) -> None:
    """Colour 0 against the device's memory; what else is said goes before that."""
    device = 84_942_979_072
    with connect(gpu_warehouse) as connection:

        def rows(run: str, **more: int) -> list[tuple[object, ...]]:
            found = run_query(connection, "headroom", {"run": run, **more})
            names = [column.name for column in found.columns]
            shown = ("program", "color", "status", "usable_bytes", "headroom_bytes")
            places = [names.index(name) for name in shown]
            return [tuple(row[place] for place in places) for row in found.rows]

        assert rows("jaxlib-0.10.2") == [
            ("jit_step", 0, "ok", device, device - 491_568),
            ("jit_ring", 0, "ok", device, device - 278_564),
            ("jit_ring", 2, "unknown", None, None),
            ("jit_ring", 1, "unknown", None, None),
        ]
        assert rows("jaxlib-0.10.2", limit_bytes=300_000, color=0) == [
            ("jit_step", 0, "oom", 300_000, -191_568),
            ("jit_ring", 0, "ok", 300_000, 21_436),
        ]
        assert rows("jaxlib-0.10.2", limit_bytes=300_000) == [
            ("jit_step", 0, "oom", 300_000, -191_568),
            ("jit_ring", 0, "ok", 300_000, 21_436),
            ("jit_ring", 2, "unknown", None, None),
            ("jit_ring", 1, "unknown", None, None),
        ]
        assert {row[2] for row in rows("jaxlib-0.5.3")} == {"unknown"}


@pytest.mark.slow
def test_a_report_holds_programs_against_the_memory_that_a_dump_says(
    gpu_warehouse: Path,
) -> None:
    settings = Settings(devices=(Device("NVIDIA*", "temp", 1_000_000),))
    with connect(gpu_warehouse) as connection:
        request = Request(candidate="jaxlib-0.10.2")
        report = build_report(connection, request, settings)
    assert [(c.space, c.limit_bytes, c.headroom_bytes) for c in report.capacity] == [
        ("default", 84_942_979_072, 84_942_979_072 - 491_568),
        ("collective", None, None),
        ("temp", 1_000_000, 1_000_000 - 262_928),
    ]


@pytest.mark.slow
def test_a_gpu_is_the_same_when_a_release_begins_to_name_it(
    gpu_warehouse: Path,
) -> None:
    with connect(gpu_warehouse) as connection:
        devices = "SELECT name, device FROM runs WHERE NOT contains(name, ',')"
        assert dict(connection.execute(devices).fetchall()) == {
            "jaxlib-0.5.3": "sm_9.0",
            "jaxlib-0.7.2": "sm_9.0a",
            "jaxlib-0.10.2": "NVIDIA H100 80GB HBM3",
        }
        for base in RELEASES[:2]:
            request = Request(
                candidate="jaxlib-0.10.2", baseline=f"run:{base}", kind="report"
            )
            report = build_report(connection, request, Settings())
            assert (report.comparison.matched, report.comparison.comparable) == (2, 2)

"""Limits of memory: asked for, from the dump, or of the chip, in this order."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import UsageError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Budget, Device, Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

Connection = duckdb.DuckDBPyConnection

GIB = 2**30
V5E = 16_909_335_040
H100 = 84_942_979_072
HOSTED = Request(candidate="jaxlib-0.10.2", baseline="jaxlib-0.9.2")
SHOWN = (
    "program", "color", "status", "limit_from", "usable_bytes", "reserved_bytes",
    "headroom_bytes",
)  # fmt: skip


def assert_headroom(
    connection: Connection,
    asked: dict[str, Value],
    limit: int | None,
    limit_from: str | None,
) -> None:
    """Compare with sums of allocations: colour 0 has the limit, others have none."""
    reserved = connection.execute(
        "SELECT m.program, a.color, CAST(sum(a.size_bytes) AS BIGINT) FROM runs AS r"
        " JOIN modules AS m USING (run_id) JOIN allocations AS a USING (module_id)"
        " WHERE r.name = ? GROUP BY m.program, m.path, a.color",
        [asked["run"]],
    ).fetchall()
    expected: list[tuple[object, ...]] = []
    for program, color, size in reserved:
        if color or limit is None:
            expected.append((program, color, "unknown", None, None, size, None))
            continue
        left = limit - size
        status = "oom" if left < 0 else "warn" if left < limit * 0.05 else "ok"
        expected.append((program, color, status, limit_from, limit, size, left))
    rows = run_query(connection, "headroom", asked).dicts()
    assert sorted((tuple(r[name] for name in SHOWN) for r in rows), key=repr) == sorted(
        expected, key=repr
    )


@pytest.mark.parametrize(
    ("run", "limit", "limit_from"),
    [("v5e-jax-0.10.2", V5E, "chip"), ("jaxlib-0.10.2", None, None)],
)
def test_a_chip_has_what_its_compiler_uses(
    reading: Connection, run: str, limit: int | None, limit_from: str | None
) -> None:
    assert_headroom(reading, {"run": run}, limit, limit_from)
    for asked in (10_000_000, 1 << 40):
        more: dict[str, Value] = {"run": run, "limit_bytes": asked}
        assert_headroom(reading, more, asked, "parameter")


def test_what_a_dump_says_goes_before_the_chip(
    gpu_warehouse: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "w.duckdb"
    copy.write_bytes(gpu_warehouse.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute(
            "INSERT INTO device_memory SELECT DISTINCT device, 1, 1, '' FROM runs"
        )
    with connect(copy) as connection:
        assert_headroom(connection, {"run": "jaxlib-0.10.2"}, H100, "dump")


def on_a_tpu(warehouse: Path, folder: Path) -> Path:
    """Return a copy of a warehouse where a run of a TPU holds programs for the host."""
    copy = folder / "w.duckdb"
    copy.write_bytes(warehouse.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute(
            "UPDATE runs SET platform = 'tpu', device = 'TPU v5e',"
            " device_memory_bytes = 1 WHERE name = $run",
            {"run": HOSTED.candidate},
        )
    return copy


@pytest.mark.slow
def test_what_is_compiled_for_the_host_is_not_held_against_the_device(
    demo_warehouse: Path, tmp_path: Path
) -> None:
    asked: dict[str, Value] = {"run": HOSTED.candidate, "program": "jit_cg"}
    with connect(on_a_tpu(demo_warehouse, tmp_path)) as connection:
        rows = run_query(connection, "headroom", asked).dicts()
        report = build_report(connection, HOSTED, Settings())
    assert [(r["space_name"], r["status"], r["limit_from"]) for r in rows] == [
        ("host", "unknown", None)
    ]
    assert {c.space: c.limit_bytes for c in report.capacity} == {"host": None}


@pytest.mark.slow
def test_a_share_of_the_device_is_no_budget_of_the_host(
    demo_warehouse: Path, tmp_path: Path
) -> None:
    """Unless it is a budget of that space, and somebody says how much there is."""

    def limits(settings: Settings) -> set[float]:
        gates = build_report(connection, HOSTED, settings).gates
        return {gate.limit for gate in gates if gate.gate == "budget"}

    devices = (Device("TPU v5e", "host", GIB),)
    with connect(on_a_tpu(demo_warehouse, tmp_path)) as connection:
        assert limits(Settings(budgets=(Budget("*", ratio=0.5),))) == set()
        of_host = Settings(budgets=(Budget("*", space="host", ratio=0.5),))
        with pytest.raises(UsageError, match="says how much 'host' a TPU v5e has"):
            limits(of_host)
        assert limits(replace(of_host, devices=devices)) == {GIB / 2}
        of_all = Settings(budgets=(Budget("*", ratio=0.5),), devices=devices)
        assert limits(of_all) == {GIB / 2}


def test_no_device_can_use_more_than_is_published(reading: Connection) -> None:
    rows = reading.execute(
        "SELECT device, memory_bytes // 1024**3, memory_bytes % 1024**3,"
        " round(usable_bytes / 1024**3, 2) FROM device_memory ORDER BY device"
    ).fetchall()
    assert rows == [
        ("TPU v2", 8, 0, 7.48),
        ("TPU v3", 16, 0, 15.48),
        ("TPU v4", 32, 0, 30.75),
        ("TPU v4 (one core)", 32, 0, 15.25),
        ("TPU v5e", 16, 0, 15.75),
        ("TPU v5p", 96, 0, 95.74),
        ("TPU v6e", 32, 0, 31.25),
        ("TPU7x", 96, 0, 94.75),
    ]


@pytest.mark.slow
def test_a_report_judges_a_tpu_by_what_is_usable(reading: Connection) -> None:
    report = build_report(reading, Request(candidate="v5e-jax-0.10.2"), Settings())
    assert {c.space: c.limit_bytes for c in report.capacity} == {
        "HBM": V5E, "VMEM": None, "SMEM": None, "host": None, "color_6": None
    }  # fmt: skip


def test_a_program_whose_assignment_is_cut_is_not_said_to_fit(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    with tarfile.open(DATA / "proto" / "tpu-v5e-jax-0.10.2.tar.xz") as archive:
        archive.extractall(dump)
    first, *_ = sorted(dump.rglob("*-buffer-assignment.txt"))
    first.write_bytes(first.read_bytes()[: first.stat().st_size * 6 // 10])
    path = tmp_path / "w.duckdb"
    ingest([str(dump)], path, jobs=1, prepare=renew_macros)
    with connect(path) as connection:
        asked: dict[str, Value] = {"color": 0, "limit_bytes": 16 * GIB}
        rows = run_query(connection, "headroom", asked).dicts()
    caveat = "what could not be read of the buffer assignment is not included"
    cut = [row for row in rows if first.name.startswith(row["path"][:-4])]
    assert [(row["status"], row["caveat"]) for row in cut] == [("unknown", caveat)]
    assert {row["status"] for row in rows if row not in cut} == {"ok"}

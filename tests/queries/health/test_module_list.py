"""Snapshots of a run, in the order of their files."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from hlodb.queries.run import Value, run_query
from tests.occurrences import store_modules
from tests.queries.stored import add

FINAL = "after_optimizations"


def snapshot(run_id: int, number: int, stage: str, **more: Any) -> dict[str, Any]:
    step = more.get("pass_step", "")
    return {
        "run_id": run_id,
        "module_id": 1000 * run_id + 10 * number + len(stage) + (step or 0),
        "module_number": number,
        "path": f"{number}.{step}.{stage}",
        "part": 0,
        "program": "jit_step",
        "rank": None,
        "stage": stage,
        "pass_step": None,
        "pass_after": None,
        "instruction_count": 100 * number,
        "computation_count": number,
        "has_assignment": stage == FINAL,
        "printed_total_bytes": 4096 * number if stage == FINAL else None,
        **more,
    }


@pytest.fixture
def listed(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return a warehouse with two runs; the second has snapshots of two passes."""
    for run_id in (1, 2):
        add(warehouse, "runs", run_id=run_id, name=f"night-{run_id}")
    rows = [
        snapshot(1, 1, FINAL),
        snapshot(2, 2, FINAL),
        snapshot(2, 2, "pass", pass_step=11, pass_after="fusion"),
        snapshot(2, 2, "pass", pass_step=9, pass_after="dce"),
        snapshot(2, 2, "before_optimizations"),
        snapshot(2, 1, FINAL, program="jit_eval"),
        snapshot(2, 1, FINAL, rank=0, path="0/1", module_id=7),
    ]
    store_modules(warehouse, rows)
    return warehouse


def rows(
    connection: duckdb.DuckDBPyConnection, **asked: Value
) -> list[tuple[Any, ...]]:
    return run_query(connection, "module_list", asked).rows


def test_the_latest_run_is_listed_in_the_order_of_files(
    listed: duckdb.DuckDBPyConnection,
) -> None:
    step = ("night-2", "jit_step")
    final = (200, 2, True, 8192)
    other = (200, 2, False, None)
    found = rows(listed)
    assert [row[:11] for row in found] == [
        (*step, 1, 0, FINAL, None, None, 100, 1, True, 4096),
        ("night-2", "jit_eval", 1, None, FINAL, None, None, 100, 1, True, 4096),
        (*step, 2, None, FINAL, None, None, *final),
        (*step, 2, None, "before_optimizations", None, None, *other),
        (*step, 2, None, "pass", 9, "dce", *other),
        (*step, 2, None, "pass", 11, "fusion", *other),
    ]
    assert [row[12] for row in found] == [
        "0/1", "1..after_optimizations", "2..after_optimizations",
        "2..before_optimizations", "2.9.pass", "2.11.pass",
    ]  # fmt: skip
    assert found[0][11] == 7


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        ({"run": "night-1"}, ["1..after_optimizations"]),
        ({"program": "jit_eval"}, ["1..after_optimizations"]),
        ({"stage": "pass"}, ["2.9.pass", "2.11.pass"]),
        ({"run": "night-1", "stage": "pass"}, []),
    ],
)
def test_run_program_and_stage_select(
    listed: duckdb.DuckDBPyConnection, asked: dict[str, Value], paths: list[str]
) -> None:
    assert [row[12] for row in rows(listed, **asked)] == paths

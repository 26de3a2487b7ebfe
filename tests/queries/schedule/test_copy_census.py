"""Copies by reason, as other queries count them and as their shapes show."""

from __future__ import annotations

from collections import Counter

import duckdb

from hlodb.queries.run import run_query

Connection = duckdb.DuckDBPyConnection
TPU = "v5e-jax-0.10.2"


def test_a_started_copy_to_another_space_is_one_for_space(reading: Connection) -> None:
    """So all that move between spaces are; two more stand in fusions."""
    moved: Counter[str] = Counter()
    for row in run_query(reading, "space_transfers", {"run": TPU}).dicts():
        moved[row["program"]] += row["copy_count"]
    rows = run_query(reading, "copy_census", {"run": TPU}).dicts()
    found = Counter(row["program"] for row in rows if row["reason"] == "space")
    assert found["jit_gpt_fsdp"] == 36
    assert found | {"jit_gpt_fsdp": 38} == moved
    assert "async" not in {row["reason"] for row in rows}


def test_a_copy_for_a_layout_has_another_one(reading: Connection) -> None:
    rows = run_query(reading, "copy_census", {"run": TPU}).dicts()
    for_a_layout = [row for row in rows if row["reason"] == "layout"]
    assert len(for_a_layout) > 10
    assert not any(row["operand_shape"] == row["shape"] for row in for_a_layout)
    # A CPU has one memory space, and its copies keep the layout.
    on_cpu = run_query(reading, "copy_census", {"run": "jaxlib-0.10.2"}).dicts()
    assert {row["reason"] for row in on_cpu} <= {"loop", "output", "interference"}
    assert {row["operand_shape"] == row["shape"] for row in on_cpu} == {True}

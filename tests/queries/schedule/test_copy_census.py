"""Copies by reason: queries that look at them from several sides agree."""

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
    found = {r["program"]: r["copy_count"] for r in rows if r["reason"] == "space"}
    assert found["jit_gpt_fsdp"] == 36
    assert found | {"jit_gpt_fsdp": 38} == moved
    assert "async" not in {row["reason"] for row in rows}


def test_copies_for_a_layout_are_those_of_the_census(reading: Connection) -> None:
    """By space and layout, and no others; one copy of jit_cnn also converts."""
    asked: dict[str, str | int] = {"run": TPU, "top": 10_000}
    rows = run_query(reading, "layout_copies", asked).dicts()
    copies = [row for row in rows if row["opcode"] in ("copy", "copy-start")]
    found = Counter((r["program"], r["reason"] == "space") for r in copies)
    census = run_query(reading, "copy_census", {"run": TPU}).dicts()
    found["jit_cnn", True] += 1
    assert found == {
        (row["program"], row["reason"] == "space"): row["copy_count"]
        for row in census
        if row["reason"] in ("space", "layout")
    }
    assert {row["reason"] for row in rows} == {"space", "order", "dimensions"}


def test_a_copy_without_another_layout_is_none_for_one(reading: Connection) -> None:
    asked: dict[str, str | int] = {"run": "jaxlib-0.10.2", "top": 10_000}
    assert run_query(reading, "layout_copies", asked).rows == []
    census = run_query(reading, "copy_census", {"run": "jaxlib-0.10.2"}).dicts()
    assert sum(row["copy_count"] for row in census) > 0

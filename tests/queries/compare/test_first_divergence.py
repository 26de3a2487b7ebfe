"""The stage after which two compilations differ, and the memory that moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.reports.situations import EVAL, EXTRA, MIB, STEP, WORK, night
from tests.reports.worlds import Program, make

SHOWN = (
    *("program", "color", "difference", "last_equal_stage", "first_different_stage"),
    *("base_instruction_count", "candidate_instruction_count", "compared_stages"),
    *("main_part", "main_share_ratio", "delta_reserved_bytes"),
)


def test_stages_that_differ_are_named(tmp_path: Path) -> None:
    """One gains a buffer of 2 MiB and grows by 4."""
    larger = (replace(WORK, size=8 * MIB, type="f32[2048,1024]"), EXTRA)
    nights = (
        night(1, STEP, EVAL),
        night(2, Program("jit_step", larger), replace(EVAL, source="edited")),
    )
    asked: dict[str, Value] = {"base": "night-1", "candidate": "night-2"}
    with connect(make(tmp_path / "w.duckdb", *nights)) as connection:
        rows = run_query(connection, "first_divergence", asked).dicts()
        same = run_query(
            connection, "first_divergence", asked | {"candidate": "night-1"}
        )
    source, final = "before_optimizations", "after_optimizations"
    assert [tuple(row[name] for name in SHOWN) for row in rows] == [
        (
            *("jit_step", 0, "graph", source, final, 1, 2, 2),
            *("resized", pytest.approx(4 / 6), 6 * MIB),
        ),
        # Edited, but compiled to the same program.
        ("jit_eval", None, "none", final, None, None, None, 2, "none", None, None),
    ]
    assert {(row["difference"], row["blame"]) for row in same.dicts()} == {
        ("none", "none")
    }

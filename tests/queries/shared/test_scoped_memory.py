"""Scoped memory of TPU operations, in made-up arenas."""

from __future__ import annotations

import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.assignments import Assignment, assignments, live
from tests.queries.stored import add, examples, stored

Connection = duckdb.DuckDBPyConnection
VMEM = 1


@st.composite
def kernels(draw: st.DrawFn) -> tuple[Assignment, dict[int, int]]:
    """Return an assignment, and the bytes taken from 0 on at some of its steps."""
    assignment = draw(assignments())
    steps = st.integers(0, assignment.steps)
    return assignment, draw(st.dictionaries(steps, st.integers(1, 15), max_size=3))


@pytest.mark.slow
@examples
@given(made=kernels())
def test_what_is_in_use_beside_values(
    empty_warehouse: Connection, made: tuple[Assignment, dict[int, int]]
) -> None:
    assignment, scoped = made
    with stored(empty_warehouse, assignment) as connection:
        for number, (step, size) in enumerate(scoped.items(), 1):
            add_kernel(connection, number, step, size)
        rows = connection.execute(
            "SELECT temp_bytes, temp_live_peak_bytes, scoped_bytes"
            " FROM frag_by_space(color := 1)"
        ).fetchall()
        parts = connection.execute(
            "SELECT allocation_bytes, sum(part_bytes)::BIGINT"
            " FROM frag_breakdown(color := 1) GROUP BY allocation_id, allocation_bytes"
        ).fetchall()
    for temp, peak, found in rows:
        used = [
            live(assignment, VMEM, step, temp_only=True) + size
            for step, size in scoped.items()
        ]
        assert found == max(0, min(temp, max(used, default=0)) - peak)
    assert all(size == total for size, total in parts)


def add_kernel(connection: Connection, number: int, step: int, size: int) -> None:
    config = {"memory_space": "1", "offset": "0", "size": str(size)}
    said = json.dumps({"scoped_memory_configs": [config]}, separators=(",", ":"))
    add(
        connection,
        "store.instruction_forms",
        form_id=1000 + number,
        opcode="custom-call",
        backend_config=said,
    )
    add(
        connection,
        "store.instructions",
        module_id=101,
        instruction_id=1000 + number,
        computation_id=0,
        name=f"kernel.{number}",
        schedule_step=step,
        form_id=1000 + number,
    )

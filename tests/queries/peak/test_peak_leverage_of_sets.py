"""What the peak falls by without the values of a set, against a count of every byte."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import example, given

from tests.queries.assignments import (
    Allocation,
    Assignment,
    Value,
    assignments,
    has_ranges,
    live,
    live_peak,
)
from tests.queries.stored import Connection, add, examples, stored

PATHS = ("net/up/mul", "net/up/add", "net/down", "loss", "")
"""Of the instructions, in turn: `net/up` is in two of them, `loss` in one."""

IN_PLACE = Assignment(
    (
        Allocation(
            0,
            8,
            0,
            "temp",
            (Value(0, 0, 8, 0, 2), Value(1, 0, 6, 2, 2), Value(2, 2, 6, 2, 4)),
        ),
        Allocation(1, 5, 0, "live_out", (Value(3, 0, 5, 2, 3), Value(4, 0, 5, 3, 5))),
    ),
    6,
)


def sets_of(assignment: Assignment) -> dict[str, frozenset[int]]:
    """Return the values of every prefix, but for those that a longer one repeats."""
    members: dict[str, set[int]] = defaultdict(set)
    for allocation in assignment.allocations:
        for value in allocation.values if allocation.kind != "thread_local" else ():
            parts = PATHS[value.value_id % len(PATHS)].split("/")
            for depth in range(1, len(parts) + 1):
                members["/".join(parts[:depth])].add(value.value_id)
    return {
        name: frozenset(values)
        for name, values in members.items()
        if name
        and not any(
            longer.startswith(f"{name}/") and others == values
            for longer, others in members.items()
        )
    }


def expected_rows(
    assignment: Assignment,
) -> dict[tuple[int, str], tuple[int, int, int]]:
    """Leverage, that of half, and the new peak's step; of sets that have any."""
    found = {}
    for color in assignment.colors if has_ranges(assignment) else ():
        peak, _ = live_peak(assignment, color)
        for name, values in sets_of(assignment).items():
            new_peak, new_step = live_peak(assignment, color, without=values)
            steps = range(assignment.steps + 1)
            all_live = [live(assignment, color, step) for step in steps]
            left = [live(assignment, color, step, without=values) for step in steps]
            half = max(a - (a - b) // 2 for a, b in zip(all_live, left, strict=True))
            if new_peak < peak:
                found[color, name] = (peak - new_peak, peak - half, new_step)
    return found


@pytest.mark.slow
@examples
@example(assignment=IN_PLACE)
@given(assignment=assignments())
def test_leverage_is_the_peak_without_the_set(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        for form, path in enumerate(PATHS):
            add(connection, "store.instruction_forms", form_id=2 + form, op_name=path)
        connection.execute(
            "UPDATE store.instructions SET form_id = 2 + instruction_id % ?",
            [len(PATHS)],
        )
        rows = connection.execute(
            "SELECT color, set_name, leverage_bytes, half_leverage_bytes,"
            " new_peak_step"
            " FROM peak_leverage_of_sets(grouped_by := 'op_name', top := 1000)"
        ).fetchall()
    assert {row[:2]: row[2:5] for row in rows if row[2]} == expected_rows(assignment)

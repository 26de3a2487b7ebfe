"""Queries about live bytes against a count of every byte at every step."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given

from tests.queries.assignments import (
    Allocation,
    Assignment,
    Value,
    allocation_live,
    assignments,
    covered,
    has_ranges,
    live,
    live_peak,
)
from tests.queries.stored import Connection, examples, stored

THREE_ON_A_BYTE = Assignment(
    (
        Allocation(
            0,
            8,
            0,
            "temp",
            (
                Value(0, 0, 8, 0, 2, 6),
                Value(1, 0, 6, 2, 2, 6),
                Value(2, 2, 6, 2, 4, 5),
                Value(3, 0, 2, 3, 5, 2),
            ),
        ),
    ),
    6,
)
NOTHING = Assignment((Allocation(0, 0, 0, "temp"), Allocation(1, 5, 1, "temp")), 0)


@pytest.mark.parametrize("assignment", [THREE_ON_A_BYTE, NOTHING])
def test_stated_assignments_are_counted_right(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        assert_owned_bytes(connection, assignment)
        assert_arena_curves(connection, assignment)
        assert_leverage(connection, assignment)


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_every_byte_of_the_peak_has_one_owner(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        assert_owned_bytes(connection, assignment)


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_arena_timeline_is_the_union_of_addresses(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        assert_arena_curves(connection, assignment)


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_leverage_is_the_peak_without_the_value(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        assert_leverage(connection, assignment)


def assert_leverage(connection: Connection, assignment: Assignment) -> None:
    rows = connection.execute(
        "SELECT color, instruction, new_peak_bytes, new_peak_step, leverage_bytes"
        " FROM peak_leverage(top := 1000)"
    ).fetchall()
    assert {row[1]: row[2] for row in rows} == {
        f"v{v.value_id}": live_peak(assignment, a.color, without={v.value_id})[0]
        for a in assignment.allocations
        for v in a.values
        if a.kind != "thread_local" and has_ranges(assignment)
    }
    for color, name, new_peak, new_step, leverage in rows:
        value_id = int(name[1:])
        assert leverage == live_peak(assignment, color)[0] - new_peak
        if leverage:
            found = live_peak(assignment, color, without={value_id})
            assert found == (new_peak, new_step)


def assert_owned_bytes(connection: Connection, assignment: Assignment) -> None:
    rows = connection.execute(
        "SELECT color, allocation_id, value_id, owned_bytes, padding_bytes"
        " FROM peak_values() WHERE owned_bytes > 0"
    ).fetchall()
    found = {row[:3]: row[3:] for row in rows}
    assert len(found) == len(rows)
    assert found == owned_bytes(assignment)


def owned_bytes(
    assignment: Assignment,
) -> dict[tuple[int, int, int | None], tuple[int, int]]:
    """Own bytes and padding by colour, allocation and value at the peak."""
    owned: dict[tuple[int, int, int | None], list[int]] = defaultdict(lambda: [0, 0])
    for color in assignment.colors if has_ranges(assignment) else []:
        peak, step = live_peak(assignment, color)
        for allocation in assignment.of_color(color):
            held = allocation_live(allocation, step)
            stands = all(v.start is None for v in allocation.values)
            for byte in range(allocation.size) if held else ():
                holders = [
                    v
                    for v in allocation.values
                    if byte in v.bytes_set()
                    and (v.live_at(step) or (stands and allocation.kind != "temp"))
                ]
                if not holders and allocation.kind == "temp":
                    continue
                newest = max(
                    holders, key=lambda v: (v.start or 0, v.value_id), default=None
                )
                value_id = newest.value_id if newest else None
                key = (color, allocation.allocation_id, value_id)
                owned[key][0] += 1
                if newest and byte >= newest.offset + newest.logical:
                    owned[key][1] += 1
        total = sum(n for (c, _, _), (n, _) in owned.items() if c == color)
        assert total == peak
    return {key: (n, padding) for key, (n, padding) in owned.items()}


def assert_arena_curves(connection: Connection, assignment: Assignment) -> None:
    rows = connection.execute(
        "SELECT allocation_id, from_step, to_step, live_bytes FROM arena_timeline()"
    ).fetchall()
    curves: dict[int, dict[int, int]] = defaultdict(dict)
    for allocation_id, from_step, to_step, live_bytes in rows:
        for step in range(from_step, to_step + 1):
            assert step not in curves[allocation_id]
            curves[allocation_id][step] = live_bytes
    assert curves == {
        a.allocation_id: {
            step: len(covered(a, step))
            for step in range(
                max(v.end or 0 for v in a.values if v.end is not None) + 1
            )
        }
        for a in assignment.allocations
        if a.kind == "temp" and any(v.start is not None for v in a.values)
    }


def test_brute_force_agrees_with_a_count_by_hand() -> None:
    assert [live(THREE_ON_A_BYTE, 0, step) for step in range(7)] == [
        *(8, 8, 8),
        *(8, 8),
        *(2, 0),
    ]

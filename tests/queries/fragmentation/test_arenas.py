"""Peak, timeline, fragmentation and packing, byte by byte."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, pairwise, permutations
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.assignments import (
    Allocation,
    Assignment,
    Value,
    assignments,
    covered,
    has_ranges,
    live,
    live_peak,
)
from tests.queries.stored import Connection, examples, stored

Rows = list[tuple[Any, ...]]


def ask(connection: Connection, sql: str) -> Rows:
    return connection.execute(sql).fetchall()


def arenas(assignment: Assignment) -> list[Allocation]:
    """Temporary allocations that something lives in."""
    return [
        a
        for a in assignment.allocations
        if a.kind == "temp" and any(v.start is not None for v in a.values)
    ]


def arena_peak(assignment: Assignment, arena: Allocation) -> tuple[int, int]:
    """Return the most bytes of an arena live at one step, and the first such step."""
    levels = [len(covered(arena, step)) for step in range(assignment.steps + 1)]
    return max(levels), levels.index(max(levels))


# --- Peak and timeline --------------------------------------------------------------


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_peak_by_space(empty_warehouse: Connection, assignment: Assignment) -> None:
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(
            connection,
            "SELECT color, reserved_bytes, live_peak_bytes, peak_step, temp_bytes,"
            " fragmentation_bytes FROM peak_by_space()",
        )
    expected = []
    for color in assignment.colors:
        sizes = [(a.size, a.kind) for a in assignment.of_color(color)]
        temps = sum(size for size, kind in sizes if kind == "temp")
        row: tuple[Any, ...] = (None, None, temps, None)
        if has_ranges(assignment):
            peak, step = live_peak(assignment, color)
            wasted = temps - live_peak(assignment, color, temp_only=True)[0]
            row = (peak, step, temps, wasted)
        expected.append((color, sum(size for size, _ in sizes), *row))
    assert sorted(rows) == expected


@pytest.mark.slow
@examples
@given(assignment=assignments(), points=st.integers(1, 4))
def test_live_timeline(
    empty_warehouse: Connection, assignment: Assignment, points: int
) -> None:
    """Every step has its level; thinned out, the highest one stays."""
    columns = "SELECT color, from_step, to_step, live_bytes, delta_bytes"
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(connection, f"{columns} FROM live_timeline()")
        thinned = ask(connection, f"{columns} FROM live_timeline(points := {points})")
    levels: dict[int, dict[int, int]] = defaultdict(dict)
    for color, first, last, live_bytes, delta in rows:
        assert delta == live_bytes - (levels[color].get(first - 1) or 0)
        steps = range(first, last + 1)
        levels[color].update((step, live_bytes) for step in steps)
    colors = assignment.colors if has_ranges(assignment) else []
    assert levels == {
        color: {s: live(assignment, color, s) for s in range(assignment.steps + 1)}
        for color in colors
    }
    for color in colors:
        kept = [row[3] for row in thinned if row[0] == color]
        assert len(kept) <= points
        assert max(kept) == live_peak(assignment, color)[0]
        whole = [row[3] for row in rows if row[0] == color]
        assert all(a != b for a, b in pairwise(whole))


def test_a_temporary_value_and_a_result_of_its_size_are_one_stretch(
    empty_warehouse: Connection,
) -> None:
    assignment = Assignment(
        (
            Allocation(0, 4, 0, "temp", (Value(0, 0, 4, 1, 2),)),
            Allocation(1, 4, 0, "live_out", (Value(1, 0, 4, 3, 5),)),
        ),
        6,
    )
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(
            connection,
            "SELECT from_step, to_step, live_bytes, temp_live_bytes, delta_bytes"
            " FROM live_timeline()",
        )
    assert rows == [(0, 0, 0, 0, 0), (1, 5, 4, 4, 4), (6, 6, 0, 0, -4)]


# --- Fragmentation -------------------------------------------------------------------


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_fragmentation(empty_warehouse: Connection, assignment: Assignment) -> None:
    with stored(empty_warehouse, assignment) as connection:
        by_space = ask(
            connection,
            "SELECT color, temp_bytes, temp_live_peak_bytes, fragmentation_bytes,"
            " arena_count, value_count FROM frag_by_space()",
        )
    expected = []
    for color in assignment.colors if has_ranges(assignment) else []:
        temps = [a for a in assignment.of_color(color) if a.kind == "temp"]
        size = sum(a.size for a in temps)
        joint = live_peak(assignment, color, temp_only=True)[0]
        if temps:
            tenants = sum(len(a.values) for a in temps)
            expected.append((color, size, joint, size - joint, len(temps), tenants))
    assert sorted(by_space) == expected


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_anatomy(empty_warehouse: Connection, assignment: Assignment) -> None:
    """What every single byte of an arena is at the arena's own peak."""
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(
            connection,
            "SELECT allocation_id, step, part, part_bytes FROM frag_breakdown()",
        )
    expected: dict[tuple[int, int, str], int] = defaultdict(int)
    for arena in arenas(assignment):
        step = arena_peak(assignment, arena)[1]
        for byte in range(arena.size):
            part = part_of(arena, byte, step)
            expected[arena.allocation_id, step, part] += 1
    assert {row[:3]: row[3] for row in rows} == expected


def part_of(arena: Allocation, byte: int, step: int) -> str:
    holders = [v for v in arena.values if byte in v.bytes_set()]
    held = [v for v in holders if v.live_at(step)]
    if held:
        newest = max(held, key=lambda v: (v.start or 0, v.value_id))
        return "live" if byte < newest.offset + newest.logical else "slot_padding"
    if holders:
        return "time_hole"
    used = {b for v in arena.values for b in v.bytes_set()}
    edges = {0, arena.size} | {v.offset + v.size for v in arena.values}
    edges |= {v.offset for v in arena.values}
    first = max(e for e in edges if e <= byte)
    last = min(e for e in edges if e > byte)
    assert not used & set(range(first, last))
    bits = 0
    for value in arena.values:
        bits |= value.offset
    is_gap = last < arena.size and last - first < (bits & -bits)
    return "alignment_gap" if is_gap else "never_used"


# --- Overlaps -------------------------------------------------------------------------


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_values_that_share_bytes(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(
            connection,
            "SELECT verdict, allocation_id, instruction, other_instruction,"
            " overlap_bytes, from_step, to_step"
            " FROM overlap_conflicts(in_place := true)",
        )
    expected = []
    for arena in assignment.allocations:
        timed = [v for v in arena.values if v.start is not None]
        timed.sort(key=lambda v: (v.start, v.value_id))
        for a, b in combinations(timed, 2):
            shared = len(a.bytes_set() & b.bytes_set())
            steps = [s for s in range(9) if a.live_at(s) and b.live_at(s)]
            if shared and steps and arena.kind != "thread_local":
                names = (f"v{a.value_id}", f"v{b.value_id}")
                place = ("in_place", arena.allocation_id, *names)
                expected.append((*place, shared, steps[0], steps[-1]))
    assert sorted(rows) == sorted(expected)


# --- Packing --------------------------------------------------------------------------


class Block(NamedTuple):
    """Values that share bytes in place: all move together."""

    block_id: int
    bytes: int
    start: int
    end: int


ORDERS: dict[str, Callable[[Block], int]] = {
    "size": lambda b: b.bytes,
    "lifetime": lambda b: b.end - b.start + 1,
    "rent": lambda b: b.bytes * (b.end - b.start + 1),
}


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_other_packings(empty_warehouse: Connection, assignment: Assignment) -> None:
    with stored(empty_warehouse, assignment) as connection:
        rows = ask(
            connection,
            "SELECT allocation_id, largest_first, fit, block_count, align_bytes,"
            " packed_bytes, floor_bytes FROM repack_whatif()",
        )
    expected = []
    for arena in arenas(assignment):
        tenants = [v for v in arena.values if v.start is not None and v.size]
        align = alignment(tenants)
        blocks = [rounded(b, align) for b in chains(tenants)]
        floor = -(-arena_peak(assignment, arena)[0] // align) * align
        for order, greatness in ORDERS.items():
            todo = sorted(
                blocks, key=lambda b: (-greatness(b), -b.bytes, b.start, b.end)
            )
            for fit in ("lowest", "best_fit"):
                places = packed(todo, fit)
                size = max((p + b.bytes for b, p in places.items()), default=0)
                assert_sound(places)
                row = (order, fit, len(blocks), align, size, floor)
                expected += [(arena.allocation_id, *row)] if blocks else []
    assert sorted(rows) == sorted(expected)


def test_numbers_of_values_do_not_decide_a_packing(
    empty_warehouse: Connection,
) -> None:
    """By number, the three largest could take turns so that 8 bytes are needed."""
    placed = [(0, 3, 2, 3), (3, 2, 1, 2), (5, 3, 3, 5), (8, 3, 0, 1)]
    found = set()
    for numbers in permutations(range(4)):
        values = [Value(n, *p) for n, p in zip(numbers, placed, strict=True)]
        assignment = Assignment((Allocation(0, 11, 0, "temp", (*values,)),), 6)
        with stored(empty_warehouse, assignment) as connection:
            rows = ask(
                connection,
                "SELECT largest_first, fit, packed_bytes FROM repack_whatif()",
            )
        found.add(tuple(sorted(rows)))
    (rows_of_all,) = found
    assert {packed for order, _, packed in rows_of_all if order == "size"} == {6}


def alignment(tenants: list[Value]) -> int:
    powers = (1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
    if all(v.offset == 0 for v in tenants):
        return 1
    return next(p for p in powers if all(v.offset % p == 0 for v in tenants))


def chains(tenants: list[Value]) -> list[Block]:
    """Return the groups of values that touch in time on a shared byte."""
    groups = [[v] for v in tenants]
    for a, b in combinations(tenants, 2):
        touch = a.start == b.end or b.start == a.end
        if touch and a.bytes_set() & b.bytes_set():
            joined = [g for g in groups if a in g or b in g]
            groups = [g for g in groups if g not in joined]
            groups.append([v for g in joined for v in g])
    return [
        Block(
            min(v.value_id for v in group),
            max(v.offset + v.size for v in group) - min(v.offset for v in group),
            min(v.start or 0 for v in group),
            max(v.end or 0 for v in group),
        )
        for group in groups
    ]


def rounded(block: Block, align: int) -> Block:
    return block._replace(bytes=-(-block.bytes // align) * align)


def meet(a: Block, b: Block) -> bool:
    return a.start <= b.end and b.start <= a.end


def packed(todo: list[Block], fit: str) -> dict[Block, int]:
    """Place blocks one by one, trying every byte."""
    places: dict[Block, int] = {}
    for block in todo:
        taken = {
            byte
            for other, place in places.items()
            if meet(block, other)
            for byte in range(place, place + other.bytes)
        }
        free = [
            place
            for place in range(max(taken, default=-1) + 2)
            if not taken & set(range(place, place + block.bytes))
            and (place == 0 or place - 1 in taken)
        ]
        gaps = {place: gap_at(place, taken) for place in free}
        lowest = fit == "lowest"
        places[block] = min(free, key=lambda p: (0 if lowest else gaps[p], p))
    return places


def gap_at(place: int, taken: set[int]) -> int:
    return min((byte for byte in taken if byte >= place), default=10**9) - place


def assert_sound(places: dict[Block, int]) -> None:
    for (a, at), (b, bt) in combinations(places.items(), 2):
        assert not meet(a, b) or at + a.bytes <= bt or bt + b.bytes <= at

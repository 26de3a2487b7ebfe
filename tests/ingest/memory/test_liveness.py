"""Live bytes, conflicts and padding of an allocation, against counting every byte."""

from __future__ import annotations

from itertools import accumulate, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.memory.liveness import (
    CONFLICTS_LISTED,
    Conflict,
    Slot,
    conflicts,
    is_sound,
    live_changes,
    padding_bytes,
    summed,
)

STEPS = 12


@st.composite
def slots(draw: st.DrawFn, most: int = 8) -> list[Slot]:
    """Small slots, so that many share bytes, steps and ends; some hold no byte."""
    spans = st.tuples(st.integers(0, STEPS - 1), st.integers(0, 5))
    rows = draw(st.lists(st.tuples(spans, spans), max_size=most))
    return [
        Slot(start, min(start + length, STEPS - 1), low, low + size, number)
        for number, ((start, length), (low, size)) in enumerate(rows)
    ]


@st.composite
def sound_slots(draw: st.DrawFn) -> list[Slot]:
    """Slots that never conflict, touching chains included."""
    kept: list[Slot] = []
    for slot in draw(slots(most=14)):
        if not any(clash(slot, other) for other in kept):
            kept.append(slot)
    return kept


def clash(a: Slot, b: Slot) -> bool:
    in_time = a.start < b.end and b.start < a.end
    return in_time and bool(addresses(a) & addresses(b))


def addresses(slot: Slot) -> set[int]:
    return set(range(slot.low, slot.high))


def live(found: list[Slot], step: int) -> list[Slot]:
    return [slot for slot in found if slot.start <= step <= slot.end]


def counted(found: list[Slot]) -> list[int]:
    return [
        len({byte for slot in live(found, step) for byte in addresses(slot)})
        for step in range(STEPS + 1)
    ]


def derived(found: list[Slot]) -> list[int]:
    steps, sizes = summed(live_changes(found))
    changes = dict(zip(steps.tolist(), sizes.tolist(), strict=True))
    assert set(changes) <= set(range(STEPS + 1))
    return list(accumulate(changes.get(step, 0) for step in range(STEPS + 1)))


@settings(max_examples=300)
@given(slots() | sound_slots())
def test_live_bytes_are_the_union_of_addresses_at_every_step(found: list[Slot]) -> None:
    assert derived(found) == counted(found)


@settings(max_examples=300)
@given(slots() | sound_slots())
def test_conflicts_are_the_pairs_that_overlap_strictly(found: list[Slot]) -> None:
    pairs = [(a, b) for a, b in combinations(sorted(found), 2) if clash(a, b)]
    expected = [
        Conflict(
            5,
            a.value_id,
            b.value_id,
            len(addresses(a) & addresses(b)),
            max(a.start, b.start),
            min(a.end, b.end),
        )
        for a, b in pairs
    ]
    assert sorted(conflicts(5, found)) == sorted(expected)
    assert is_sound(found) == (not pairs)


@settings(max_examples=300)
@given(slots(), st.dictionaries(st.integers(0, 7), st.integers(0, 6)))
def test_padding_counts_every_byte_for_its_newest_value(
    found: list[Slot], logical: dict[int, int]
) -> None:
    held = live(found, 6)
    owners: dict[int, Slot] = {}
    for slot in sorted(held, key=lambda slot: (slot.start, slot.value_id)):
        owners |= dict.fromkeys(addresses(slot), slot)
    padded = [
        byte
        for byte, slot in owners.items()
        if byte >= slot.low + logical.get(slot.value_id, slot.high - slot.low)
    ]
    assert padding_bytes(held, logical) == len(padded)


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("nothing", [], [0, 0, 0, 0]),
        ("in place", [Slot(0, 1, 0, 8, 0), Slot(1, 2, 0, 8, 1)], [8, 8, 8, 0]),
        (
            "three on one byte",
            [Slot(0, 1, 0, 8, 0), Slot(1, 1, 4, 8, 1), Slot(1, 2, 4, 12, 2)],
            [8, 12, 8, 0],
        ),
        ("side by side", [Slot(0, 2, 0, 8, 0), Slot(1, 1, 8, 9, 1)], [8, 9, 8, 0]),
        ("dead at once", [Slot(1, 1, 0, 8, 0), Slot(1, 1, 4, 8, 1)], [0, 8, 0, 0]),
        ("clashing", [Slot(0, 2, 0, 8, 0), Slot(1, 1, 4, 12, 1)], [8, 12, 8, 0]),
    ],
)
def test_live_bytes_of(name: str, found: list[Slot], expected: list[int]) -> None:
    assert derived(found)[:4] == expected


def test_a_broken_dump_lists_no_more_conflicts_than_asked_for() -> None:
    found = [Slot(0, 9, 0, 8, number) for number in range(200)]
    assert len(conflicts(0, found)) == CONFLICTS_LISTED

"""The memory that a buffer assignment takes while it is read, and as records."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator

import pytest

from hlodb.ingest.formats.buffer_assignment.assignment import parse_assignment
from hlodb.ingest.formats.sections import Section, cut
from hlodb.ingest.memory.profile import memory_facts
from hlodb.ingest.records import (
    BufferAssignment,
    LiveRange,
    Packed,
    Placement,
    Value,
    end_to_end,
)

VALUES = 20_000


def _lines(values: int) -> Iterator[str]:
    yield "BufferAssignment:"
    yield f"allocation 0: size {values * 512}, preallocated-temp:"
    for at in range(values):
        place = f"(size=512,offset={at * 512})"
        yield f" value: <{at} fusion.{at} @0> {place}: f32[128]{{0}}"
    yield ""
    yield f"Total bytes used: {values * 512} (10MiB)"
    yield ""
    yield f"HloLiveRange (max {values}):"
    yield "  InstructionSequence:"
    for at in range(values):
        yield f"    {at}:fusion.{at}"
    yield "  BufferLiveRange:"
    for at in range(values):
        yield f"    fusion.{at}{{}}:{at}-{min(at + 20, values)}"
    yield f"  Live ranges at {values - 1} (peak):"
    yield "    fusion.1{}: 512 bytes"


TEXT = "\n".join(_lines(VALUES)) + "\n"
EXPECTED = BufferAssignment(
    allocations=parse_assignment(TEXT).assignment.allocations,
    placements=[Placement(0, at, at * 512, 512) for at in range(VALUES)],
    values=[
        Value(at, f"fusion.{at}", None, 0, False, "f32[128]{0}") for at in range(VALUES)
    ],
    printed_total_bytes=VALUES * 512,
    schedule=[f"fusion.{at}" for at in range(VALUES)],
    schedule_end=VALUES,
    live_ranges=[
        LiveRange(f"fusion.{at}", "{}", at, min(at + 20, VALUES))
        for at in range(VALUES)
    ],
    peak_step=VALUES - 1,
    printed_peaks=parse_assignment(TEXT).assignment.printed_peaks,
)


def test_a_text_of_several_pieces_gives_the_same_records() -> None:
    parsed = parse_assignment(TEXT)
    assert len(TEXT) > 2_000_000
    assert not parsed.rejects
    assert not parsed.unclaimed
    assert parsed.assignment == EXPECTED


def test_a_broken_line_of_a_later_piece_is_the_only_reject() -> None:
    broken = TEXT.replace(f" value: <{VALUES - 5} ", " value: <x ", 1)
    parsed = parse_assignment(broken)
    assert [(r.line, r.code) for r in parsed.rejects] == [(VALUES - 2, "malformed")]
    assert parsed.assignment.values == [
        v for v in EXPECTED.values if v.value_id != VALUES - 5
    ]


@pytest.mark.slow
def test_records_take_little_more_than_their_text() -> None:
    text = TEXT
    tracemalloc.start()
    try:
        parsed = parse_assignment(text)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(parsed.assignment.values) == VALUES
    assert kept < 1.5 * len(text)
    assert most < 5 * len(text)


def test_facts_of_packed_rows_are_those_of_lists() -> None:
    packed = parse_assignment(TEXT).assignment
    logical = dict.fromkeys(range(VALUES), 100)
    found, expected = (memory_facts(a, logical) for a in (packed, EXPECTED))
    assert found == expected
    assert found.profiles[0].live_peak_bytes == 21 * 512


def test_packed_rows_are_a_sequence_of_rows() -> None:
    rows = [Placement(0, 1, 2, 3), Placement(4, 5, 6, 7)]
    packed = Packed(Placement, [[0, 4], [1, 5], [2, 6], [3, 7]])
    assert packed == rows
    assert rows == packed
    assert packed != rows[:1]
    assert repr(packed) == repr(rows)
    assert packed[1] == rows[1]
    assert packed[:1] == rows[:1]
    assert packed.taken([1, 0]) == rows[::-1]
    assert end_to_end([packed, [], packed]) == rows + rows
    assert end_to_end([packed, rows]) == rows + rows
    assert packed == rows


@pytest.mark.parametrize(
    ("before", "expected"),
    [("", ""), ("log\n", "log\n"), ("\n", ""), ("\n\nlog\n\n", "\n\nlog\n")],
)
def test_sections_count_lines_from_the_first(before: str, expected: str) -> None:
    headers = re.compile(r"\n(?:(?P<a>A:)|(?P<b>B [0-9]+:))(?=\n|\Z)")
    found = cut(f"{before}A:\nx\n\nB 7:\ny", headers)
    first = before.count("\n") + 1
    assert found == [
        Section("preamble", 0, expected, 1),
        Section("a", 0, "x\n", first + 1),
        Section("b", 7, "y\n", first + 4),
    ]

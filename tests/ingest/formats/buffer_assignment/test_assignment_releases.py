"""Buffer assignments in the spellings of all releases, and what these leave out."""

from __future__ import annotations

from typing import Any

import pytest

from hlodb.ingest.formats.buffer_assignment.assignment import parse_assignment
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    Placement,
    Position,
    PrintedPeak,
    Use,
    Value,
)
from tests.conftest import DATA

SEEDS = DATA / "seeds"


def test_a_pointer_and_an_old_peak_listing_are_read() -> None:
    found = parse_assignment((SEEDS / "004_65ac1592097277d9.txt").read_text())
    assert found.assignment.allocations[0] == Allocation(
        0, 32768, 0, None, 1, "{}", "f32[128,64]", False, False, False, False, False
    )
    assert found.assignment.printed_peaks == [
        PrintedPeak("param", "", 512),
        PrintedPeak("param.1", "", 32768),
        PrintedPeak("tuple", "", 8),
        PrintedPeak("input_fusion_reduce", "", 256),
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", {}),
        (", thread-local", {"is_thread_local": True}),
        (", color 5, page 2, preallocated-temp",
         {"color": 5, "page": 2, "is_preallocated_temp": True}),
        (", color 1, thread-local", {"color": 1, "is_thread_local": True}),
        (", output shape is |(f32[2], /*index=5*/s32[])|, maybe-live-out",
         {"shape": "(f32[2], /*index=5*/s32[])", "is_output_tuple": True,
          "is_live_out": True}),
        (", parameter 7, shape |<unknown shape>| at ShapeIndex {1,0}",
         {"parameter_number": 7, "shape": "<unknown shape>",
          "parameter_shape_index": "{1,0}"}),
        (", parameter 1 at ShapeIndex {}, constant",
         {"parameter_number": 1, "parameter_shape_index": "{}", "is_constant": True}),
    ],
)  # fmt: skip
def test_flags_of_an_allocation(flags: str, expected: dict[str, Any]) -> None:
    plain = Allocation(
        3, 16, 0, None, None, None, None, False, False, False, False, False
    )
    parsed = parse_assignment(f"BufferAssignment:\nallocation 3: size 16{flags}:\n")
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.allocations == [plain._replace(**expected)]


def test_names_may_hold_dots_dashes_colons_and_digits_only() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 4:\n"
        " value: <1 7 @0> (size=4,offset=0): f32[]\n"
        " value: <2 a-b.c:d_1{0} @0> (size=4,offset=0): f32[]\n"
    )
    assert parse_assignment(text).assignment.values == [
        Value(1, "7", None, 0, False, "f32[]"),
        Value(2, "a-b.c:d_1", "{0}", 0, False, "f32[]"),
    ]


def test_a_value_that_reuses_an_allocation_of_another_colour_counts_once() -> None:
    text = (
        "BufferAssignment:\n"
        "allocation 0: size 8, preallocated-temp:\n"
        " value: <1 a @0> (size=8,offset=0): f32[2]{0}\n"
        " reused by buffers of a different color:\n"
        "  value: <2 b @1> (color=1)\n"
        "allocation 1: size 8, color 1, preallocated-temp:\n"
        " value: <2 b @1> (size=8,offset=0): f32[2]{0:S(1)}\n"
    )
    parsed = parse_assignment(text)
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.placements == [
        Placement(0, 1, 0, 8),
        Placement(1, 2, 0, 8),
    ]
    assert parsed.assignment.values == [
        Value(1, "a", None, 0, False, "f32[2]{0}"),
        Value(2, "b", None, 1, False, "f32[2]{0:S(1)}"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "  12 PHI t{0} @1 [16,4]: f32[]",
        "  <12 PHI t{0} @1> [16,4]: f32[]",
    ],
)
def test_values_from_before_2019_09(line: str) -> None:
    parsed = parse_assignment(
        f"BufferAssignment:\nallocation 0: 0x2a, size 20, color 1:\n{line}\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.placements == [Placement(0, 12, 16, 4)]
    assert parsed.assignment.values == [Value(12, "t", "{0}", 1, True, "f32[]")]


def test_buffers_from_before_2019_09() -> None:
    parsed = parse_assignment(
        "BufferAssignment:\nallocation 0: 0x2a, size 20:\n"
        "  p[](#3 @0) [0,4]: f32[]\n  t[](#4 @0) [4,8]: (f32[])\n"
        "  t[1,0](#5) [16,4]: f32[]\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.values == [
        Value(3, "p", None, 0, False, "f32[]"),
        Value(4, "t", "{}", 0, False, "(f32[])"),
        Value(5, "t", "{1,0}", 0, False, "f32[]"),
    ]
    assert parsed.assignment.placements[2] == Placement(0, 5, 16, 4)


def test_used_values_from_before_2019_09() -> None:
    parsed = parse_assignment(
        "Used values:\n12 PHI t{0} @1, positions:\n  t {0}\n uses:\n  c, operand 1\n"
        "13 c, positions:\n  c\n uses:\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment == BufferAssignment(
        values=[
            Value(12, "t", "{0}", 1, True, None),
            Value(13, "c", None, 0, False, None),
        ],
        positions=[Position(12, "t", "{0}"), Position(13, "c", None)],
        uses=[Use(12, "c", 1, None)],
    )


@pytest.mark.parametrize(
    "text",
    [
        "HloLiveRange not available (finalized or constructed from proto)\n",
        "HloLiveRange (max 0):\n  InstructionSequence:\n  BufferLiveRange:\n"
        "  Peak memory could not be determined due to unbounded dynamic shape.\n",
    ],
)
def test_sentences_instead_of_live_ranges_are_claimed(text: str) -> None:
    parsed = parse_assignment(text)
    assert (parsed.rejects, parsed.unclaimed) == ([], [])

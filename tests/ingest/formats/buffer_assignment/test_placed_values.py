"""Values printed whole where they are placed, as XLA did in autumn 2019."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from hlodb.ingest.formats.buffer_assignment.assignment import (
    ParsedAssignment,
    parse_assignment,
)
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    Placement,
    Position,
    Use,
    Value,
)
from tests.conftest import DATA
from tests.ingest.formats.buffer_assignment.assignment_text import (
    assignments,
    print_placed,
)
from tests.ingest.formats.buffer_assignment.small_assignment import SMALL_RECORDS
from tests.ingest.formats.proto.proto_pairs import in_one_order, pairs

PAIRS = [
    pair
    for pair in pairs(DATA / "frameworks" / "graphs.tar.xz")
    if pair.name.startswith("tensorflow-1.15.5/") and pair.assignment_texts
]


PLACED = """\
BufferAssignment:
allocation 0: 0x7f481015d4d0, size 64, parameter 0 at ShapeIndex {}, maybe-live-out:
  0 p @0, positions:
  p
  7 {0}
 uses:
  7, operand 0
  while.1, operand 0 {0}
 [0,64]: f32[16]{0}
  3 PHI while.1{0} @0, positions:
  while.1 {0}
 uses are not initialized yet.
 [0,64]: f32[16]{0}
allocation 1: 0x7f481015d580, size 8, color 1, preallocated-temp:
  2 7{} @1, positions:
  7 {}
 uses:
 [0,8]: (f32[16]{0})
"""
PLACED_RECORDS = BufferAssignment(
    allocations=[
        SMALL_RECORDS.allocations[0]._replace(shape=None),
        SMALL_RECORDS.allocations[1],
    ],
    placements=SMALL_RECORDS.placements,
    values=[
        Value(0, "p", None, 0, False, "f32[16]{0}"),
        Value(2, "7", "{}", 1, False, "(f32[16]{0})"),
        Value(3, "while.1", "{0}", 0, True, "f32[16]{0}"),
    ],
    positions=[
        Position(0, "p", None),
        Position(0, "7", "{0}"),
        Position(3, "while.1", "{0}"),
        Position(2, "7", "{}"),
    ],
    uses=[Use(0, "7", 0, None), Use(0, "while.1", 0, "{0}")],
)


def in_order_of_values(assignment: BufferAssignment) -> BufferAssignment:
    """Leave out shapes of allocations, live ranges, and the order of values.

    The text prints shapes of allocations from 2019-12 on, live ranges from 2021-04 on.
    """
    ordered = in_one_order(assignment)
    plain: dict[str, Any] = {"shape": None, "is_output_tuple": False}
    return replace(
        ordered,
        allocations=[a._replace(**plain) for a in ordered.allocations],
        positions=sorted(ordered.positions, key=lambda p: p.value_id),
        schedule=[],
        schedule_end=None,
        live_ranges=[],
    )


@pytest.mark.parametrize("number", range(3))
def test_text_and_message_say_the_same(number: int) -> None:
    text, message = PAIRS[number].assignment(), PAIRS[number].message
    said = parse_hlo_proto(message).assignment
    assert text is not None
    assert said is not None
    assert in_order_of_values(text) == in_order_of_values(said)


def test_a_branch_is_read_whole() -> None:
    plain = Allocation(
        0, 4, 0, None, None, None, None, False, False, False, False, False
    )
    names = ["x.7", "y.8", "add.9", "arg0.1", "constant.4", "reduce.10", "fusion"]
    shapes = ["f32[]", "f32[]", "f32[]", "f32[9]{0}", "f32[]", "f32[]", "f32[9]{0}"]
    placed = [6, 3, 4, 2, 0, 1, 5]
    assert PAIRS[2].assignment() == BufferAssignment(
        allocations=[
            plain._replace(size_bytes=36, is_live_out=True),
            plain._replace(
                allocation_id=1,
                size_bytes=36,
                parameter_number=0,
                parameter_shape_index="{}",
            ),
            plain._replace(allocation_id=2, is_constant=True),
            plain._replace(allocation_id=3, is_thread_local=True),
            plain._replace(allocation_id=4, is_thread_local=True),
            plain._replace(allocation_id=5, is_thread_local=True),
            plain._replace(allocation_id=6, is_preallocated_temp=True),
        ],
        placements=[
            Placement(at, value, 0, 36 if at < 2 else 4)
            for at, value in enumerate(placed)
        ],
        values=[
            Value(value, name, None, 0, False, shape)
            for value, (name, shape) in enumerate(zip(names, shapes, strict=True))
        ],
        positions=[Position(value, names[value], None) for value in placed],
        uses=[
            Use(3, "reduce.10", 0, None),
            Use(3, "fusion", 0, None),
            Use(4, "reduce.10", 1, None),
            Use(0, "add.9", 0, None),
            Use(1, "add.9", 1, None),
            Use(5, "fusion", 1, None),
        ],
    )


def test_values_of_autumn_2019_stand_whole_where_they_are_placed() -> None:
    assert parse_assignment(PLACED) == ParsedAssignment(PLACED_RECORDS, [], [], 18)


@settings(max_examples=40)
@given(assignments())
def test_what_was_printed_in_autumn_2019_is_read(records: BufferAssignment) -> None:
    parsed = parse_assignment(print_placed(records))
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    found = parsed.assignment
    assert (found.placements, found.values) == (records.placements, records.values)
    assert sorted(found.positions, key=lambda p: p.value_id) == records.positions
    assert sorted(found.uses, key=lambda u: u.value_id) == records.uses


def test_a_text_of_autumn_2019_may_be_cut_anywhere() -> None:
    in_a_value = {*range(3, 9), *range(10, 13), *range(15, 18)}
    for length in range(len(PLACED)):
        parsed = parse_assignment(PLACED[:length])
        assert {r.line for r in parsed.rejects} <= {max(parsed.lines_total, 1)}
        assert len(parsed.rejects) <= 1
        assert parsed.unclaimed == []
        for field in ("allocations", "placements", "positions", "uses"):
            rows = getattr(parsed.assignment, field)
            assert rows == getattr(PLACED_RECORDS, field)[: len(rows)]
        if parsed.lines_total in in_a_value:
            assert [r.code for r in parsed.rejects] == ["truncated"]


@pytest.mark.parametrize("number", range(2, 19))
def test_a_broken_line_of_autumn_2019_is_named(number: int) -> None:
    lines = PLACED.split("\n")
    lines[number - 1] = f" ?{lines[number - 1]}"
    parsed = parse_assignment("\n".join(lines))
    assert parsed.rejects[0].line == number
    assert (number, lines[number - 1].strip()) in {
        (r.line, r.snippet) for r in parsed.rejects
    }


def test_a_value_of_autumn_2019_with_a_broken_head_goes_to_no_other() -> None:
    parsed = parse_assignment(PLACED.replace("3 PHI while", "3 PH while"))
    assert [(r.line, r.column, r.code) for r in parsed.rejects] == [
        (10, 1, "malformed")
    ]
    assert [u.line for u in parsed.unclaimed] == [11, 12, 13]
    assert parsed.assignment == replace(
        PLACED_RECORDS,
        placements=[PLACED_RECORDS.placements[i] for i in (0, 2)],
        values=PLACED_RECORDS.values[:2],
        positions=[p for p in PLACED_RECORDS.positions if p.value_id != 3],
    )

"""Values printed whole where they are placed: what the messages beside them say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hlodb.ingest.formats.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    Placement,
    Position,
    Use,
    Value,
)
from tests.conftest import DATA
from tests.ingest.formats.proto_pairs import pairs
from tests.ingest.formats.test_hlo_proto import in_one_order

PAIRS = [
    pair
    for pair in pairs(DATA / "frameworks" / "graphs.tar.xz")
    if pair.name.startswith("tensorflow-1.15.5/") and pair.assignment_texts
]


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

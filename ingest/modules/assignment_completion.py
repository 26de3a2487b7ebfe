"""What the text of older releases leaves out of an assignment, and where else it is.

Until 2020 no text prints the shapes of parameters' allocations: a line says
`parameter 1 at ShapeIndex {}` there, and later `parameter 1, shape |f32[4]| at
ShapeIndex {}`. The parameter's own value, in the same block, has the shape.

Until 2021-04 no text has live ranges, until autumn 2019 none has positions, uses and
which values are phis: these come from the proto of the assignment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hlodb.ingest.formats.buffer_assignment.assignment import join_assignments
from hlodb.ingest.formats.shapes import without_layout_alone
from hlodb.ingest.records import Allocation, BufferAssignment, HloModule

_Place = tuple[int, int | None, str]
"""An allocation, a parameter that lies there, and an index into that."""


def with_parameter_shapes(
    assignment: BufferAssignment, hlo: HloModule
) -> BufferAssignment:
    """Return the assignment with its parameters' shapes, as later text has them."""
    if not any(map(_lacks_shape, assignment.allocations)):
        return assignment
    shapes = _shapes(assignment, _parameter_numbers(hlo))
    return replace(
        assignment,
        allocations=[
            a._replace(shape=shapes.get(_place(a))) if _lacks_shape(a) else a
            for a in assignment.allocations
        ],
    )


def _lacks_shape(allocation: Allocation) -> bool:
    return allocation.parameter_number is not None and allocation.shape is None


def _place(allocation: Allocation) -> _Place:
    index = allocation.parameter_shape_index or "{}"
    return allocation.allocation_id, allocation.parameter_number, index


def _parameter_numbers(hlo: HloModule) -> dict[str, int]:
    """Return the numbers of the entry's parameters by name."""
    return {
        i.name: i.parameter_number
        for c in hlo.computations
        if c.is_entry
        for i in hlo.instructions[c.start : c.stop]
        if i.parameter_number is not None
    }


def _shapes(
    assignment: BufferAssignment, numbers: Mapping[str, int]
) -> dict[_Place, str]:
    """Return the shape of each parameter's value at its place."""
    values = {v.value_id: v for v in assignment.values if v.instruction in numbers}
    return {
        (
            p.allocation_id,
            numbers[value.instruction],
            value.shape_index or "{}",
        ): without_layout_alone(value.shape)
        for p in assignment.placements
        if (value := values.get(p.value_id)) and value.shape
    }


def supplement(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    """Return the facts of `proto` that `text` lacks, for values of both."""
    ranges, flow = _ranges(text, proto), _flow(text, proto)
    return replace(ranges, values=flow.values, positions=flow.positions, uses=flow.uses)


def supplemented(text: BufferAssignment, more: BufferAssignment) -> BufferAssignment:
    """Return the text's assignment together with its supplement."""
    if more.live_ranges:
        # They come with the schedule whose steps they count.
        text = replace(text, schedule=[], schedule_end=None)
    if more.values:
        phis = {v.value_id: v.is_phi for v in more.values}
        values = [v._replace(is_phi=phis[v.value_id]) for v in text.values]
        text, more = replace(text, values=values), replace(more, values=[])
    return join_assignments([text, more])


def _ranges(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    known = {(value.instruction, value.shape_index or "{}") for value in text.values}
    ranges = [r for r in proto.live_ranges if (r.instruction, r.shape_index) in known]
    if text.live_ranges or not ranges:
        return BufferAssignment()
    return BufferAssignment(
        schedule=proto.schedule, schedule_end=proto.schedule_end, live_ranges=ranges
    )


def _flow(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    """Return values with their positions and uses, where their numbers are the same."""
    known = {(v.value_id, v.instruction, v.shape_index) for v in text.values}
    values = [
        v for v in proto.values if (v.value_id, v.instruction, v.shape_index) in known
    ]
    if text.positions or len(values) < len(text.values):
        return BufferAssignment()
    numbers = {v.value_id for v in values}
    return BufferAssignment(
        values=values,
        positions=[p for p in proto.positions if p.value_id in numbers],
        uses=[u for u in proto.uses if u.value_id in numbers],
    )

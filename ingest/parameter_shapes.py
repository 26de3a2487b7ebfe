"""The shapes of parameters' allocations, which text until 2020 doesn't print.

A line says `parameter 1 at ShapeIndex {}` there, and later `parameter 1, shape |f32[4]|
at ShapeIndex {}`. The parameter's own value, in the same block, tells the shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hlodb.ingest.formats.shapes import without_layout_alone
from hlodb.ingest.records import Allocation, BufferAssignment, HloModule

_Place = tuple[int, int | None, str]
"""An allocation, a parameter that lies there, and an index into that."""


def with_parameter_shapes(
    assignment: BufferAssignment, hlo: HloModule
) -> BufferAssignment:
    """Give the assignment with the shapes of its parameters, as later text has them."""
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
    """Give the numbers of the entry's parameters by name."""
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
    """Give the shape of each parameter's value at its place."""
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

"""BufferAssignmentProto → the record that the text parser gives for the same one.

The message lists allocations, values and places. Positions, uses, phis and live ranges
are derived from the module beside it (dataflow, values).
"""

from __future__ import annotations

from hlodb.ingest.formats.proto.dataflow import Block, Graph, Path
from hlodb.ingest.formats.proto.dimensions import number_list
from hlodb.ingest.formats.proto.hlo_pb2 import (
    BufferAllocationProto,
    BufferAssignmentProto,
    HloModuleProto,
)
from hlodb.ingest.formats.proto.shapes import subshape_text
from hlodb.ingest.formats.proto.values import (
    Values,
    flatten_schedule,
    moments,
    place_values,
    position_rows,
    range_rows,
    use_rows,
    value_rows,
)
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Placement,
    Reject,
)

_MOST = (1 << 31) - 1
_MOST_BYTES = 10**15


def read_assignment(
    message: BufferAssignmentProto, module: HloModuleProto, graph: Graph
) -> tuple[BufferAssignment, list[Reject]]:
    """Return the record of an assignment; unsound numbers are left out and rejected."""
    values, rejects = place_values(message, graph)
    sound = [a for a in message.buffer_allocations if _is_sound(a)]
    placements, misplaced = _placements(sound, values)
    rejects += _unsound(len(message.buffer_allocations) - len(sound), misplaced)
    flat = flatten_schedule(graph)
    if flat is not None:
        ranges = range_rows(values, message, module, flat)
        end: int | None = len(flat.sequence)
    else:
        ranges, end = _trace_ranges(message, values)
    assignment = BufferAssignment(
        allocations=[_allocation(allocation, values) for allocation in sound],
        placements=placements,
        values=value_rows(values),
        positions=list(position_rows(values)),
        uses=list(use_rows(values)),
        schedule=[values.name(at) for at in flat.sequence] if flat else [],
        schedule_end=end,
        live_ranges=ranges,
    )
    return assignment, rejects


def _is_sound(message: BufferAllocationProto) -> bool:
    return (
        0 <= message.index <= _MOST
        and 0 <= message.size <= _MOST_BYTES
        and abs(message.color) <= _MOST
        and abs(message.parameter_number) <= _MOST
    )


def _unsound(allocations: int, placements: int) -> list[Reject]:
    if not allocations and not placements:
        return []
    message = (
        f"left out for impossible numbers or unknown values: {allocations} "
        f"allocations, {placements} places of values"
    )
    return [Reject(0, 0, "allocations", "unsound", message, "")]


def _allocation(message: BufferAllocationProto, values: Values) -> Allocation:
    graph = values.graph
    is_parameter = message.is_entry_computation_parameter
    path = tuple(message.parameter_shape_index)
    output = _output_shape(message, values)
    shape = output
    if is_parameter:
        shape = _parameter_shape(graph, message.parameter_number, path)
    is_temp = not (
        is_parameter
        or message.is_constant
        or message.is_thread_local
        or message.maybe_live_out
    )
    return Allocation(
        allocation_id=message.index,
        size_bytes=message.size,
        color=message.color,
        page=None,
        parameter_number=message.parameter_number if is_parameter else None,
        parameter_shape_index=number_list(path) if is_parameter else None,
        shape=shape,
        is_output_tuple=output is not None,
        is_constant=message.is_constant,
        is_thread_local=message.is_thread_local,
        is_live_out=message.maybe_live_out,
        is_preallocated_temp=is_temp,
    )


def _entry(graph: Graph) -> Block | None:
    return next((block for block in graph.blocks if block.is_entry), None)


def _parameter_shape(graph: Graph, number: int, path: Path) -> str | None:
    entry = _entry(graph)
    at = entry.parameters.get(number) if entry else None
    if at is None:
        return None
    return subshape_text(graph.nodes[at].shape, path, with_layout=False)


def _output_shape(message: BufferAllocationProto, values: Values) -> str | None:
    """Return the shape of the entry's root where this allocation holds it whole."""
    entry = _entry(values.graph)
    if entry is None or entry.root is None:
        return None
    positions = values.flow.positions
    for assigned in message.assigned:
        if (entry.root, ()) in positions.get(assigned.logical_buffer_id, ()):
            shape = values.graph.nodes[entry.root].shape
            return subshape_text(shape, (), with_layout=False)
    return None


def _placements(
    allocations: list[BufferAllocationProto], values: Values
) -> tuple[list[Placement], int]:
    """Return the places by allocation and value, as in the text, and unsound ones."""
    found: list[Placement] = []
    count = 0
    for allocation in allocations:
        count += len(allocation.assigned)
        rows = [
            Placement(allocation.index, a.logical_buffer_id, a.offset, a.size)
            for a in allocation.assigned
            if a.logical_buffer_id in values.colors
            and 0 <= a.offset <= _MOST_BYTES
            and 0 <= a.size <= _MOST_BYTES
        ]
        found += sorted(rows)
    return found, count - len(found)


def _trace_ranges(
    message: BufferAssignmentProto, values: Values
) -> tuple[list[LiveRange], int | None]:
    """Return ranges from the heap trace, in moments instead of steps of a schedule."""
    found = moments(message.heap_simulator_traces)
    rows = []
    for number in sorted(found.keys() & values.colors.keys()):
        at, path = values.flow.definitions[number]
        row = LiveRange(values.name(at), number_list(path), *found[number])
        rows.append(row)
    end = max((last for _, last in found.values()), default=-1) + 1
    return rows, end or None

"""The values of an assignment: what defines them, where they stand, who reads them.

The message names the place that defines a value; the module beside it says the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlodb.ingest.formats.hlo_pb2 import (
    BufferAssignmentProto,
    HloModuleProto,
    LogicalBufferProto,
)
from hlodb.ingest.formats.proto_dataflow import Flow, trace_values, uses
from hlodb.ingest.formats.proto_dimensions import number_list
from hlodb.ingest.formats.proto_graph import Graph
from hlodb.ingest.formats.proto_live_range import FlatSchedule, live_ranges
from hlodb.ingest.formats.proto_metadata import text_of
from hlodb.ingest.formats.proto_shapes import TUPLE, read_shape, subshape_text
from hlodb.ingest.formats.proto_sources import Path, Place
from hlodb.ingest.records import LiveRange, Position, Reject, Use, Value

_PHI_OPCODES = frozenset(("while", "conditional"))
_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one assignment in their module; `colors` has their numbers."""

    graph: Graph
    flow: Flow
    colors: dict[int, int]

    def name(self, at: int) -> str:
        """Give the name of a node."""
        return self.graph.nodes[at].name

    def printed_index(self, at: int, path: Path) -> str | None:
        """Give a shape index as printed: only places within a tuple have one."""
        shape = read_shape(self.graph.nodes[at].shape)
        is_tuple = shape is not None and shape.element_type == TUPLE
        return number_list(path) if is_tuple else None


def place_values(
    message: BufferAssignmentProto, graph: Graph
) -> tuple[Values, list[Reject]]:
    """Give the values by their defining place; what has none is rejected."""
    by_name = {node.name: at for at, node in enumerate(graph.nodes)}
    defined: dict[Place, int] = {}
    colors: dict[int, int] = {}
    lost: list[int] = []
    for buffer in message.logical_buffers:
        at = _node_of(graph, by_name, buffer.defined_at)
        place = (at if at is not None else -1, tuple(buffer.defined_at.shape_index))
        is_sound = 0 <= buffer.id <= _MOST and abs(buffer.color) <= _MOST
        if at is None or not is_sound or place in defined or buffer.id in colors:
            lost.append(buffer.id)
            continue
        defined[place] = buffer.id
        colors[buffer.id] = buffer.color
    return Values(graph, trace_values(graph, defined), colors), _lost(lost)


def _node_of(
    graph: Graph, by_name: dict[str, int], location: LogicalBufferProto.Location
) -> int | None:
    """Give the node of a location, by name where the message is old."""
    if location.instruction_name:
        return by_name.get(text_of(location.instruction_name))
    return graph.place_of.get(location.instruction_id)


def _lost(numbers: list[int]) -> list[Reject]:
    if not numbers:
        return []
    first = ", ".join(map(str, numbers[:5]))
    message = f"{len(numbers)} values have no place of their own in the module: {first}"
    return [Reject(0, 0, "values", "unknown_place", message, "")]


def value_rows(values: Values) -> list[Value]:
    """Give the values by number."""
    rows = []
    for number in sorted(values.colors):
        at, path = values.flow.definitions[number]
        shape = subshape_text(values.graph.nodes[at].shape, path)
        index = values.printed_index(at, path)
        is_phi = _is_phi(values.graph, at)
        color = values.colors[number]
        rows.append(Value(number, values.name(at), index, color, is_phi, shape))
    return rows


def _is_phi(graph: Graph, at: int) -> bool:
    """Tell whether a value defined here merges others: a loop's, or a conditional's.

    A parameter defines a value where nothing flows into it, and merges otherwise.
    """
    node = graph.nodes[at]
    if node.opcode in _PHI_OPCODES:
        return True
    block = graph.blocks[node.computation]
    return node.opcode == "parameter" and bool(graph.flow_callers(block))


def position_rows(values: Values) -> Iterable[Position]:
    """Give where each value stands; its definition comes first."""
    for number in sorted(values.colors):
        for at, path in values.flow.positions[number]:
            yield Position(number, values.name(at), values.printed_index(at, path))


def use_rows(values: Values) -> Iterable[Use]:
    """Give who reads each value, in the order of the readers' numbers."""
    for number in sorted(values.colors):
        for reader, operand, path in uses(values.graph, values.flow.positions[number]):
            source = values.graph.nodes[reader].operands[operand]
            index = values.printed_index(source, path)
            yield Use(number, values.name(reader), operand, index)


# --- Live ranges --------------------------------------------------------------


def range_rows(
    values: Values,
    message: BufferAssignmentProto,
    module: HloModuleProto,
    flat: FlatSchedule,
) -> list[LiveRange]:
    """Give the live ranges by value."""
    aliased = {
        (entry.parameter_number, tuple(entry.parameter_shape_index))
        for entry in module.input_output_alias.entries
    }
    buffers = _buffers(values, message)
    found = live_ranges(values.graph, values.flow, flat, buffers, aliased)
    rows = []
    for number in sorted(found):
        at, path = values.flow.definitions[number]
        row = LiveRange(values.name(at), number_list(path), *found[number])
        rows.append(row)
    return rows


def _buffers(values: Values, message: BufferAssignmentProto) -> Iterable[set[int]]:
    """Give the values that share a buffer, group by group."""
    graph = values.graph
    by_name = {node.name: at for at, node in enumerate(graph.nodes)}
    number_of = {place: number for number, place in values.flow.definitions.items()}
    group_of: dict[int, set[int]] = {}
    for alias in message.buffer_aliases:
        at = _node_of(graph, by_name, alias.location)
        path = tuple(alias.location.shape_index)
        other = number_of.get((at, path)) if at is not None else None
        if other is None:
            continue
        one = group_of.setdefault(alias.source_buffer_id, {alias.source_buffer_id})
        two = group_of.setdefault(other, {other})
        if one is not two:
            one |= two
            group_of.update(dict.fromkeys(two, one))
    return {id(group): group for group in group_of.values()}.values()

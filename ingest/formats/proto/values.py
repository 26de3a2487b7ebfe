"""The values of an assignment: what defines them, where they are, how long they live.

The message names the place that defines a value; the module beside it says the rest.

Live ranges come from the schedule, as XLA's HloLiveRange computes them for its text.
The schedule is flattened: the computations of a call, conditional, async-start or while
come right before it, condition before body. A value lives from its definition (a
parameter from the start of its computation) to its last use, or to the end of its
computation where it leaves it. Values that share a buffer are cut where the next one
begins. Both ends count (XLA `hlo_live_range.cc`).

When values are on the heap is known from the traces of the heap simulator: they replay
how it placed the temporaries of one allocation. Their events have no time: when a
buffer is freed shows only in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from hlodb.ingest.formats.proto.dataflow import (
    Flow,
    Graph,
    Node,
    Path,
    Place,
    trace_values,
    uses,
    while_parts,
)
from hlodb.ingest.formats.proto.dimensions import number_list
from hlodb.ingest.formats.proto.hlo_pb2 import (
    BufferAssignmentProto,
    HeapSimulatorTrace,
    HloModuleProto,
    LogicalBufferProto,
)
from hlodb.ingest.formats.proto.metadata import text_of
from hlodb.ingest.formats.proto.shapes import TUPLE, read_shape, subshape_text
from hlodb.ingest.records import LiveRange, Position, Reject, Use, Value

_FREE = 1
_SHARE = 2


def moments(traces: Sequence[HeapSimulatorTrace]) -> dict[int, tuple[int, int]]:
    """Return the first and last moment at which each value of a trace is on the heap.

    For modules without a schedule (CPU, until early 2024). A moment is a run of
    allocations and the frees that follow it: the coarsest clock by which the events can
    have happened, with the same peak. Several traces have no common clock; then nothing
    is given.

    Until autumn 2019 a value that took over another's buffer was freed in the other's
    name: then the other ends where it begins.
    """
    if len(traces) != 1:
        return {}
    named = {event.buffer_id for event in traces[0].events if event.kind == _FREE}
    holder: dict[int, int] = {}
    allocated: dict[int, int] = {}
    freed: dict[int, int] = {}
    moment = 0
    is_freeing = False
    for event in traces[0].events:
        if event.kind != _FREE and is_freeing:
            moment += 1
        is_freeing = event.kind == _FREE
        if is_freeing:
            freed[holder.get(event.buffer_id, event.buffer_id)] = moment
            continue
        allocated.setdefault(event.buffer_id, moment)
        if event.kind == _SHARE and event.buffer_id not in named:
            shared = event.share_with_canonical_id
            freed[holder.get(shared, shared)] = moment
            holder[shared] = event.buffer_id
    return {
        value: (first, max(first, freed.get(value, moment)))
        for value, first in allocated.items()
    }


_FLATTENED_CALLS = frozenset(("call", "conditional", "async-start"))
_ASYNC_CHAIN = frozenset(("async-update", "async-done"))


class Span(NamedTuple):
    """Steps of a computation: its first one, and the one after its last."""

    start: int
    end: int


class Range(NamedTuple):
    """Steps at which a value is live; both ends count."""

    start: int
    end: int


@dataclass(slots=True)
class FlatSchedule:
    """The steps of a whole module: nodes by step, steps by node, spans by computation.

    `async_start_of` names the async-start within which a computation runs.
    """

    sequence: list[int] = field(default_factory=list)
    step_of: dict[int, int] = field(default_factory=dict)
    spans: dict[int, Span] = field(default_factory=dict)
    async_start_of: dict[int, int] = field(default_factory=dict)


def flatten_schedule(graph: Graph) -> FlatSchedule | None:
    """Return the flattened schedule; None where the entry computation has none."""
    entry = next((at for at, b in enumerate(graph.blocks) if b.is_entry), None)
    if entry is None or graph.blocks[entry].sequence is None:
        return None
    flat = FlatSchedule()
    entered = {entry}
    stack = [(entry, 0, _moves(graph, entry))]
    while stack:
        at, start, moves = stack[-1]
        for place, callee in moves:
            if callee is None:
                flat.step_of[place] = len(flat.sequence)
                flat.sequence.append(place)
            elif callee not in entered and graph.blocks[callee].sequence is not None:
                entered.add(callee)
                _note_async(graph, flat, place, callee)
                stack.append((callee, len(flat.sequence), _moves(graph, callee)))
                break
        else:
            stack.pop()
            flat.spans[at] = Span(start, len(flat.sequence))
    return flat


def _moves(graph: Graph, block: int) -> Iterator[tuple[int, int | None]]:
    """Yield (caller, computation to enter), and (node, None) where it is a step."""
    for place in graph.blocks[block].sequence or ():
        node = graph.nodes[place]
        if node.opcode in _FLATTENED_CALLS:
            for callee in node.calls:
                yield place, callee
        elif node.opcode == "while" and (parts := while_parts(node)):
            body, condition = parts
            yield place, condition
            yield place, body
        yield place, None


def _note_async(graph: Graph, flat: FlatSchedule, caller: int, callee: int) -> None:
    if graph.nodes[caller].opcode == "async-start":
        flat.async_start_of[callee] = caller
        return
    within = flat.async_start_of.get(graph.nodes[caller].computation)
    if within is not None:
        flat.async_start_of[callee] = within


def live_ranges(
    graph: Graph,
    flow: Flow,
    flat: FlatSchedule,
    buffers: Iterable[Iterable[int]],
    aliased: set[tuple[int, Path]],
) -> dict[int, Range]:
    """Return the range of every value that is defined in the schedule.

    `buffers` are groups of values that share one, `aliased` the entry parameters
    (number and shape index) that share a buffer with an output.
    """
    found: dict[int, Range] = {}
    for value in flow.definitions:
        limits = _range(graph, flow, flat, value, aliased)
        if limits is not None:
            found[value] = limits
    for group in buffers:
        _cut(found, [value for value in group if value in found])
    return found


def _range(
    graph: Graph,
    flow: Flow,
    flat: FlatSchedule,
    value: int,
    aliased: set[tuple[int, Path]],
) -> Range | None:
    at, path = flow.definitions[value]
    node = graph.nodes[at]
    span = flat.spans.get(node.computation)
    if at not in flat.step_of or span is None:
        return None
    is_parameter = node.opcode == "parameter"
    start = span.start if is_parameter else flat.step_of[at]
    is_entry = graph.blocks[node.computation].is_entry
    if is_parameter and is_entry and (node.parameter_number, path) not in aliased:
        return Range(start, len(flat.sequence))
    ends = [_async_end(graph, flat, node)]
    ends += (_position_end(graph, flat, place) for place, _ in flow.positions[value])
    ends += (
        _use_step(graph, flat, reader)
        for reader, _, _ in uses(graph, flow.positions[value])
    )
    return Range(start, max(ends))


def _position_end(graph: Graph, flat: FlatSchedule, at: int) -> int:
    """Return the last step at which a value is needed for standing at a node."""
    if not graph.is_root(at):
        return flat.step_of.get(at, -1)
    span = flat.spans.get(graph.nodes[at].computation)
    return span.end if span is not None else -1


def _use_step(graph: Graph, flat: FlatSchedule, reader: int) -> int:
    """Return the step of a use, -1 where another one counts in its place.

    A call reads nothing, what it calls does; a while's initial value ends where the
    body takes over.
    """
    node = graph.nodes[reader]
    if node.opcode == "call" and any(callee in flat.spans for callee in node.calls):
        return -1
    if node.opcode == "while" and (parts := while_parts(node)):
        body = parts[0]
        parameter = graph.blocks[body].parameters.get(0)
        if body in flat.spans and parameter is not None:
            return flat.step_of.get(parameter, -1)
    return flat.step_of.get(reader, -1)


def _async_end(graph: Graph, flat: FlatSchedule, node: Node) -> int:
    """Return the step of the async-done that a computation's values stay for; or -1."""
    place = flat.async_start_of.get(node.computation)
    seen: set[int] = set()
    while place is not None and place not in seen:
        seen.add(place)
        users = graph.nodes[place].users
        following = [u for u in users if graph.nodes[u].opcode in _ASYNC_CHAIN]
        if not following:
            break
        place = following[0]
        if graph.nodes[place].opcode == "async-done":
            return flat.step_of.get(place, -1)
    return -1


def _cut(ranges: dict[int, Range], values: list[int]) -> None:
    """Let each value of one buffer end where the next one begins."""
    ordered = sorted(values, key=lambda value: (*ranges[value], value))
    for value, following in pairwise(ordered):
        first, second = ranges[value], ranges[following]
        ranges[following] = Range(second.start, max(first.end, second.end))
        ranges[value] = Range(first.start, min(first.end, second.start))


_PHI_OPCODES = frozenset(("while", "conditional"))
_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one assignment in their module; `colors` has their numbers."""

    graph: Graph
    flow: Flow
    colors: dict[int, int]

    def name(self, at: int) -> str:
        """Return the name of a node."""
        return self.graph.nodes[at].name

    def printed_index(self, at: int, path: Path) -> str | None:
        """Return a shape index as printed: only places within a tuple have one."""
        shape = read_shape(self.graph.nodes[at].shape)
        is_tuple = shape is not None and shape.element_type == TUPLE
        return number_list(path) if is_tuple else None


def place_values(
    message: BufferAssignmentProto, graph: Graph
) -> tuple[Values, list[Reject]]:
    """Return the values by their defining place; what has none is rejected."""
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
    """Return the node of a location, by name where the message is old."""
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
    """Return the values by number."""
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
    """Return whether a value defined here merges others: a loop's, or a conditional's.

    A parameter defines a value where nothing flows into it, and merges otherwise.
    """
    node = graph.nodes[at]
    if node.opcode in _PHI_OPCODES:
        return True
    block = graph.blocks[node.computation]
    return node.opcode == "parameter" and bool(graph.flow_callers(block))


def position_rows(values: Values) -> Iterable[Position]:
    """Yield the positions of each value; its definition comes first."""
    for number in sorted(values.colors):
        for at, path in values.flow.positions[number]:
            yield Position(number, values.name(at), values.printed_index(at, path))


def use_rows(values: Values) -> Iterable[Use]:
    """Yield who reads each value, in the order of the readers' numbers."""
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
    """Return the live ranges by value."""
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
    """Return the values that share a buffer, group by group."""
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

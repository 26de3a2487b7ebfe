"""Live ranges from a schedule, as XLA's HloLiveRange computes them for its text.

The schedule is flattened: the computations of a call, conditional, async-start or while
come right before it, condition before body. A value lives from its definition (a
parameter from the start of its computation) to its last use, or to the end of its
computation where it leaves it. Values that share a buffer are cut where the next one
begins. Both ends count (XLA `hlo_live_range.cc`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from hlodb.ingest.formats.proto_dataflow import Flow, uses
from hlodb.ingest.formats.proto_graph import Graph, Node, while_parts
from hlodb.ingest.formats.proto_sources import Path

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
    """Give the flattened schedule; None where the entry computation has none."""
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
    """Give (caller, computation to enter), and (node, None) where it is a step."""
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
    """Give the range of every value that is defined in the schedule.

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
    """Give the last step at which a value is needed for standing at a node."""
    if not graph.is_root(at):
        return flat.step_of.get(at, -1)
    span = flat.spans.get(graph.nodes[at].computation)
    return span.end if span is not None else -1


def _use_step(graph: Graph, flat: FlatSchedule, reader: int) -> int:
    """Give the step of a use, -1 where another one counts in its place.

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
    """Give the step of the async-done that a computation's values stay for; or -1."""
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

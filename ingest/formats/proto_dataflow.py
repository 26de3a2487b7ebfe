"""Which value stands where: positions and uses, derived from a module and its buffers.

The message names the values (its logical buffers) by the place that defines them. Every
other place takes its value from somewhere: a get-tuple-element from its operand, a
parameter from its caller, a while from its initial value. Following that until a place
that defines a value gives what XLA's HloDataflowAnalysis knows, phis included, because
a phi is a value of its own in the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hlodb.ingest.formats.proto_graph import Graph
from hlodb.ingest.formats.proto_shapes import part_paths
from hlodb.ingest.formats.proto_sources import Path, Place, sources

_DEEPEST = 200
"""Calls within calls that are followed; modules nest a few deep."""

_PASSING = frozenset(("domain", "tuple"))
_SHALLOW = frozenset(("get-tuple-element", "copy"))


@dataclass(slots=True)
class Flow:
    """Where each value is, by its number; one that XLA did not number is below 0."""

    definitions: dict[int, Place] = field(default_factory=dict)
    positions: dict[int, list[Place]] = field(default_factory=dict)


class _Resolver:
    """Finds the values at a place, each place once."""

    def __init__(self, graph: Graph, defined: dict[Place, int]) -> None:
        self.graph = graph
        self.known: dict[Place, tuple[int, ...]] = {
            place: (number,) for place, number in defined.items()
        }
        self.definitions = {number: place for place, number in defined.items()}
        self.unnamed = -1
        self.depth = 0

    def values(self, place: Place) -> tuple[int, ...]:
        """Give the values at a place: one, or several where callers differ."""
        trail: list[Place] = []
        found: tuple[int, ...] | None = None
        seen: set[Place] = set()
        while found is None:
            known = self.known.get(place)
            if known is not None:
                found = known
                break
            seen.add(place)
            trail.append(place)
            found_in = [s for s in sources(self.graph, *place) if s not in seen]
            if not found_in:
                found = (self._define(place),)
            elif len(found_in) == 1:
                place = found_in[0]
            else:
                found = self._union(place, found_in)
        for passed in trail:
            self.known[passed] = found
        return found

    def _union(self, place: Place, found_in: list[Place]) -> tuple[int, ...]:
        # Against callers that call each other: a place being resolved has no value yet.
        self.known[place] = ()
        self.depth += 1
        found: set[int] = set()
        if self.depth < _DEEPEST:
            found = {value for source in found_in for value in self.values(source)}
        self.depth -= 1
        return tuple(sorted(found)) or (self._define(place),)

    def _define(self, place: Place) -> int:
        number = self.unnamed
        self.unnamed -= 1
        self.definitions[number] = place
        return number


def trace_values(graph: Graph, defined: dict[Place, int]) -> Flow:
    """Give where the values that `defined` numbers appear, and those it leaves out."""
    resolver = _Resolver(graph, defined)
    positions: dict[int, list[Place]] = {}
    for at, node in enumerate(graph.nodes):
        for path, _ in part_paths(node.shape):
            place = (at, path)
            for value in resolver.values(place):
                positions.setdefault(value, []).append(place)
    for value, place in resolver.definitions.items():
        listed = positions.get(value, [])
        if place in listed:
            listed.remove(place)
        positions[value] = [place, *listed]
    return Flow(resolver.definitions, positions)


def uses(graph: Graph, positions: Iterable[Place]) -> Iterator[tuple[int, int, Path]]:
    """Give (reader, operand index, shape index) for every use of a value."""
    positions = list(positions)
    roots = {at for at, _ in positions if graph.is_root(at)}
    for at, path in positions:
        for user in graph.nodes[at].users:
            node = graph.nodes[user]
            if not _may_use(node.opcode, path) and user not in roots:
                continue
            for number, operand in enumerate(node.operands):
                if operand == at:
                    yield user, number, path


def _may_use(opcode: str, path: Path) -> bool:
    if opcode in _SHALLOW:
        return not path
    return opcode not in _PASSING

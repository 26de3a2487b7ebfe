"""Which value stands where: positions and uses, derived from a module and its buffers.

A module's message is read as a graph: instructions in the order of their numbers, which
is the order in which XLA holds them, with operands, callers and users. A place is an
instruction and a shape index in it. The message names the values (its logical buffers)
by the place that defines them. Every other place takes its value from somewhere: a
get-tuple-element from its operand, a parameter from its caller, a while from its
initial value (XLA `hlo_dataflow_analysis.cc`). Following that until a place that
defines a value gives what XLA's HloDataflowAnalysis knows, phis included, because a phi
is a value of its own in the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from hlodb.ingest.formats.proto.hlo_pb2 import HloComputationProto, HloModuleProto
from hlodb.ingest.formats.proto.metadata import text_of
from hlodb.ingest.formats.proto.shapes import leaves, part_paths, parts

_CONTROL_FLOW = frozenset(
    ("call", "while", "conditional", "async-start", "async-update", "async-done")
)
_WHILE_BODY, _WHILE_CONDITION = 0, 1


@dataclass(slots=True)
class Node:
    """One instruction; operands are places of nodes, calls places of computations."""

    number: int
    name: str
    opcode: str
    shape: bytes
    computation: int
    operands: list[int] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    users: list[int] = field(default_factory=list)
    tuple_index: int = 0
    parameter_number: int = 0


@dataclass(slots=True)
class Block:
    """One computation: places of its root and parameters, and of those that call it."""

    number: int
    nodes: range
    root: int | None = None
    parameters: dict[int, int] = field(default_factory=dict)
    callers: list[int] = field(default_factory=list)
    is_entry: bool = False
    sequence: list[int] | None = None


@dataclass(slots=True)
class Graph:
    """All nodes of a module, computation by computation."""

    nodes: list[Node] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    place_of: dict[int, int] = field(default_factory=dict)

    def is_root(self, place: int) -> bool:
        """Return whether a node is the root of its computation."""
        return self.blocks[self.nodes[place].computation].root == place

    def flow_callers(self, block: Block) -> list[int]:
        """Return the nodes from whose operands the parameters of a computation come.

        A computation that is also applied element by element (as a reducer is) takes
        nothing from its callers.
        """
        callers = block.callers
        is_flow = all(self.nodes[c].opcode in _CONTROL_FLOW for c in callers)
        return callers if is_flow else []


def build_graph(module: HloModuleProto, entry_id: int) -> Graph:
    """Return the graph of a module; references to nothing are left out.

    So are the bodies of fusions: their values have no buffers.
    """
    graph = Graph()
    fused = _fused(module)
    ordered = [c for c in module.computations if c.id not in fused]
    ordered.sort(key=lambda computation: computation.id)
    block_of = {computation.id: at for at, computation in enumerate(ordered)}
    for computation in ordered:
        _add_block(graph, computation, computation.id == entry_id)
    for computation, block in zip(ordered, graph.blocks, strict=True):
        _link(graph, computation, block, block_of)
    _add_sequences(graph, module, block_of)
    return graph


def _fused(module: HloModuleProto) -> set[int]:
    """Return the numbers of computations that only fusions call."""
    fused: set[int] = set()
    called: set[int] = set()
    for computation in module.computations:
        for i in computation.instructions:
            if callees := i.called_computation_ids:
                (fused if i.opcode == b"fusion" else called).update(callees)
    return fused - called


def _add_block(graph: Graph, computation: HloComputationProto, is_entry: bool) -> None:
    start = len(graph.nodes)
    at = len(graph.blocks)
    instructions = sorted(computation.instructions, key=lambda i: i.id)
    for place, i in enumerate(instructions, start):
        graph.nodes.append(
            Node(i.id, text_of(i.name), text_of(i.opcode), i.shape, at,
                 tuple_index=i.tuple_index, parameter_number=i.parameter_number)
        )  # fmt: skip
        graph.place_of.setdefault(i.id, place)
    block = Block(computation.id, range(start, len(graph.nodes)), is_entry=is_entry)
    graph.blocks.append(block)


def _link(
    graph: Graph,
    computation: HloComputationProto,
    block: Block,
    block_of: dict[int, int],
) -> None:
    nodes = graph.nodes
    place_of = {nodes[place].number: place for place in block.nodes}
    block.root = place_of.get(computation.root_id)
    for i in computation.instructions:
        place = place_of[i.id]
        node = nodes[place]
        node.operands = [place_of[o] for o in i.operand_ids if o in place_of]
        node.calls = [block_of[c] for c in i.called_computation_ids if c in block_of]
        if node.opcode == "parameter":
            block.parameters.setdefault(node.parameter_number, place)
    for place in block.nodes:
        for operand in dict.fromkeys(nodes[place].operands):
            nodes[operand].users.append(place)
        for callee in dict.fromkeys(nodes[place].calls):
            graph.blocks[callee].callers.append(place)


def _add_sequences(
    graph: Graph, module: HloModuleProto, block_of: dict[int, int]
) -> None:
    for number, sequence in module.schedule.sequences.items():
        at = block_of.get(number)
        if at is not None:
            block = graph.blocks[at]
            places = (graph.place_of.get(i) for i in sequence.instruction_ids)
            block.sequence = [p for p in places if p is not None and p in block.nodes]


def while_parts(node: Node) -> tuple[int, int] | None:
    """Return the places of a while's body and condition, None where it has them not."""
    if len(node.calls) != 2:
        return None
    return node.calls[_WHILE_BODY], node.calls[_WHILE_CONDITION]


Path = tuple[int, ...]
"""A shape index."""

Place = tuple[int, Path]
"""A node and a shape index in it."""


def sources(graph: Graph, at: int, path: Path) -> list[Place]:
    """Return the places whose values appear at this one; none if it defines its own."""
    node = graph.nodes[at]
    rule = _RULES.get(node.opcode)
    if rule is None or (not node.operands and node.opcode not in _CALLED):
        return []
    # A place that the source's shape doesn't have is an error of the module.
    return [
        (source, inner)
        for source, inner in rule(graph, node, path)
        if inner in parts(graph.nodes[source].shape)
    ]


def _operand(node: Node, number: int, path: Path) -> list[Place]:
    if 0 <= number < len(node.operands):
        return [(node.operands[number], path)]
    return []


def _forwarded(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, path)


def _copied(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, path) if path else []


def _element(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, (node.tuple_index, *path))


def _tuple(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, path[0], path[1:]) if path else []


def _called_root(graph: Graph, node: Node, path: Path) -> list[Place]:
    roots = (graph.blocks[callee].root for callee in node.calls[:1])
    return [(root, path) for root in roots if root is not None]


def _parameter(graph: Graph, node: Node, path: Path) -> list[Place]:
    block = graph.blocks[node.computation]
    found: list[Place] = []
    for caller in graph.flow_callers(block):
        found += _argument(graph.nodes[caller], node, path)
    return found


def _argument(caller: Node, parameter: Node, path: Path) -> list[Place]:
    if caller.opcode == "while":
        return _operand(caller, 0, path)
    if caller.opcode == "conditional":
        branches = [n for n, c in enumerate(caller.calls) if c == parameter.computation]
        return [p for n in branches for p in _operand(caller, n + 1, path)]
    if caller.opcode in ("async-update", "async-done"):
        return _operand(caller, 0, (0, parameter.parameter_number, *path))
    return _operand(caller, parameter.parameter_number, path)


def _send(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, path[1:]) if path[:1] == (0,) else []


def _recv_done(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, path) if path[:1] == (0,) else []


def _copy_start(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, ()) if path == (1,) else []


def _copy_done(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, (0, *path))


def _collective_start(graph: Graph, node: Node, path: Path) -> list[Place]:
    if path[:1] != (0,) or not _is_leaf(node, path):
        return []
    if len(path) == 1:
        return _operand(node, 0, ())
    if len(node.operands) > 1:
        return _operand(node, path[1], path[2:])
    return _operand(node, 0, path[1:])


def _collective_done(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, (1, *path)) if _is_leaf(node, path) else []


def _async_start(graph: Graph, node: Node, path: Path) -> list[Place]:
    if not _is_leaf(node, path):
        return []
    if path[:1] == (0,) and len(path) > 1:
        return _operand(node, path[1], path[2:])
    return _called_root(graph, node, path[1:]) if path[:1] == (1,) else []


def _async_update(_: Graph, node: Node, path: Path) -> list[Place]:
    return _operand(node, 0, path) if _is_leaf(node, path) else []


def _is_leaf(node: Node, path: Path) -> bool:
    return path in leaves(node.shape)


_CALLED = frozenset(("parameter", "call"))
_Rule = Callable[[Graph, Node, Path], list[Place]]
_RULES: dict[str, _Rule] = {
    "add-dependency": _forwarded,
    "all-gather-done": _collective_done,
    "all-gather-start": _collective_start,
    "all-reduce-done": _forwarded,
    "async-done": _collective_done,
    "async-start": _async_start,
    "async-update": _async_update,
    "bitcast": _forwarded,
    "call": _called_root,
    "collective-permute-done": _collective_done,
    "collective-permute-start": _collective_start,
    "conditional": _called_root,
    "copy": _copied,
    "copy-done": _copy_done,
    "copy-start": _copy_start,
    "domain": _forwarded,
    "get-tuple-element": _element,
    "opt-barrier": _forwarded,
    "parameter": _parameter,
    "recv-done": _recv_done,
    "send": _send,
    "tuple": _tuple,
    "while": _forwarded,
}


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
        """Return the values at a place: one, or several where callers differ."""
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
    """Return the places of the values numbered in `defined`, and the left-out ones."""
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
    """Yield (reader, operand index, shape index) for every use of a value."""
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

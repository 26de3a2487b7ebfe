"""A module's message as a graph: instructions by place, operands, callers, users.

Instructions stand in the order of their numbers, which is the order in which XLA holds
them; positions and uses of values are listed in that order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlodb.ingest.formats.hlo_pb2 import HloComputationProto, HloModuleProto
from hlodb.ingest.formats.proto_metadata import text_of

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
        """Tell whether a node is the root of its computation."""
        return self.blocks[self.nodes[place].computation].root == place

    def flow_callers(self, block: Block) -> list[int]:
        """Give the nodes from whose operands the parameters of a computation come.

        A computation that is also applied element by element (as a reducer is) takes
        nothing from its callers.
        """
        callers = block.callers
        is_flow = all(self.nodes[c].opcode in _CONTROL_FLOW for c in callers)
        return callers if is_flow else []


def build_graph(module: HloModuleProto, entry_id: int) -> Graph:
    """Give the graph of a module; references to nothing are left out.

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
    """Give the numbers of computations that only fusions call."""
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
    """Give the places of a while's body and condition, None where it has them not."""
    if len(node.calls) != 2:
        return None
    return node.calls[_WHILE_BODY], node.calls[_WHILE_CONDITION]

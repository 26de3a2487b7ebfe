"""Where a place in a module takes its value from: XLA's rules, opcode by opcode.

A place is an instruction and a shape index in it. It defines a value of its own where
no rule names a source (XLA `hlo_dataflow_analysis.cc`).
"""

from __future__ import annotations

from collections.abc import Callable

from hlodb.ingest.formats.proto_graph import Graph, Node
from hlodb.ingest.formats.proto_shapes import leaves, parts

Path = tuple[int, ...]
"""A shape index."""

Place = tuple[int, Path]
"""A node and a shape index in it."""


def sources(graph: Graph, at: int, path: Path) -> list[Place]:
    """Give the places whose values stand at this one; none where it defines its own."""
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

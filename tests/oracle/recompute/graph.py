"""Recomputes the queries that walk over the instruction graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from tests.oracle.dump import Instruction, Module
from tests.oracle.recompute.registry import Dump, Row, of_module, recomputes

_Edges: TypeAlias = dict[Instruction, set[tuple[str, Instruction]]]
"""For each instruction the kinds of its edges, and what they lead to."""

_CALLING = ("fusion", "call", "async-start", "while")


def producers(module: Module) -> _Edges:
    """Return what every instruction gets data from, also across computations."""
    edges: _Edges = defaultdict(set)
    for instruction in module.instructions:
        edges[instruction] |= {("operand", o) for o in instruction.operands}
        body = instruction.called("body")
        for _, ordinal, called in instruction.calls:
            edges[instruction].add(("call", called.root))
            for parameter in called.instructions:
                number = parameter.parameter_number
                if number is None:
                    continue
                if instruction.opcode == "conditional":
                    number = ordinal + 1
                elif instruction.opcode not in _CALLING:
                    continue
                if number < len(instruction.operands):
                    passed = instruction.operands[number]
                    edges[parameter].add(("argument", passed))
                if instruction.opcode == "while" and body is not None:
                    edges[parameter].add(("argument", body.root))
    return edges


def _users(module: Module) -> _Edges:
    turned: _Edges = defaultdict(set)
    for consumer, found in producers(module).items():
        for kind, producer in found:
            turned[producer].add((kind, consumer))
    return turned


def _walk(
    module: Module, edges: _Edges, start: Instruction, depth: int
) -> Iterator[Row]:
    seen = {start}
    reached = [start]
    for distance in range(1, depth + 1):
        found: dict[Instruction, list[tuple[str, int, Instruction]]] = defaultdict(list)
        for instruction in reached:
            for kind, other in edges.get(instruction, ()):
                if other not in seen:
                    found[other].append((kind, instruction.number, instruction))
        for instruction, ways in found.items():
            edge, _, through = min(ways)
            yield {
                **of_module(module),
                "start_instruction": start.name,
                "distance": distance,
                "name": instruction.name,
                "opcode": instruction.opcode,
                "shape": instruction.shape,
                "edge": edge,
                "through": through.name,
                "computation": instruction.computation.name,
                "op_name": instruction.op_name,
            }
        reached = [*found]
        seen |= set(reached)


@recomputes(
    "instruction_neighbours",
    {"direction": "users", "depth": 1},
    {"direction": "users", "depth": 4},
    {"direction": "inputs", "depth": 1},
    {"direction": "inputs", "depth": 4},
)
def instruction_neighbours(dump: Dump, direction: str, depth: int) -> Iterator[Row]:
    """Walk from the first parameter to its users, or from the result to its inputs."""
    for module in dump.modules:
        if direction == "inputs":
            yield from _walk(module, producers(module), module.entry.root, depth)
            continue
        for start in module.entry.instructions:
            if start.parameter_number == 0:
                yield from _walk(module, _users(module), start, depth)

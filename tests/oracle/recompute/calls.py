"""How computations are called: loops and their trip counts, collectives in fusions."""

from __future__ import annotations

import json
import re
from collections import defaultdict

from tests.oracle import shapes
from tests.oracle.dump import Computation, Instruction, Module

_COPIES = ("copy", "copy-start", "copy-done")


def is_workspace(call: Instruction, element: str) -> bool:
    """Return whether an element of a custom call's result is its workspace."""
    if call.opcode != "custom-call" or not shapes.is_tuple(call.shape):
        return False
    if shapes.is_tuple(element):
        return False
    shape = shapes.array(element)
    is_cublas = (call.target or "").startswith("__cublas")
    is_line = is_cublas and shape.element_type == "s8" and len(shape.dimensions) == 1
    return shape.element_type == "u8" or is_line


def chain_id(instruction: Instruction) -> str | None:
    """Return what names the parts of a collective that runs inside fusions."""
    text = instruction.attributes.get("frontend_attributes", "")
    found = re.search(r'chain_id="([^"]*)"', text)
    return found[1] if found else None


def async_collectives(module: Module) -> dict[Instruction, str]:
    """Return the collectives inside fusions with their part: start, during or done."""
    ends: dict[Instruction, str] = {}
    for instruction in module.instructions:
        if instruction.target in ("AsyncCollectiveStart", "AsyncCollectiveDone"):
            part = "start" if instruction.target.endswith("Start") else "done"
            for operand in instruction.operands:
                if ends.get(operand) != "start" or part == "start":
                    ends[operand] = part
    if not ends:
        return {}
    return {
        i: ends.get(i, "during")
        for i in module.instructions
        if chain_id(i) is not None
        and i.opcode != "custom-call"
        and i.computation.callers
    }


def async_fusions(module: Module) -> set[Instruction]:
    """Return the fusions that such collectives are in."""
    return {i.computation.callers[0][0] for i in async_collectives(module)}


def trip_count(loop: Instruction) -> tuple[int | None, str | None]:
    """Return how often a while runs, and what says so."""
    if loop.backend_config.startswith("{"):
        known = json.loads(loop.backend_config).get("known_trip_count")
        if known:
            return int(known["n"]), "backend_config"
    counted = _counted(loop)
    return (None, None) if counted is None else (counted, "condition")


def _past_copies(instruction: Instruction) -> Instruction:
    while instruction.opcode in _COPIES:
        instruction = instruction.operands[0]
    return instruction


def _number(instruction: Instruction) -> int | None:
    found = _past_copies(instruction)
    if found.opcode != "constant" or not re.fullmatch(r"-?\d+", found.inner):
        return None
    return int(found.inner)


def _element(instruction: Instruction) -> int | None:
    """Return which element of its computation's parameter an instruction is."""
    found = _past_copies(instruction)
    if found.opcode != "get-tuple-element":
        return None
    if _past_copies(found.operands[0]).opcode != "parameter":
        return None
    return int(found.attributes["index"])


def _counted(loop: Instruction) -> int | None:
    """Count a loop from a constant up to a constant, by constant steps."""
    condition, body = loop.called("condition"), loop.called("body")
    if condition is None or body is None or condition.root.opcode != "compare":
        return None
    compare = condition.root
    direction = compare.attributes.get("direction", "")
    if direction not in ("LT", "GT", "LE", "GE"):
        return None
    lesser, greater = compare.operands
    if direction[0] == "G":
        lesser, greater = greater, lesser
    element, limit = _element(lesser), _number(greater)
    start_tuple, next_tuple = _past_copies(loop.operands[0]), body.root
    if element is None or limit is None:
        return None
    if start_tuple.opcode != "tuple" or next_tuple.opcode != "tuple":
        return None
    start = _number(start_tuple.operands[element])
    step = _step(next_tuple.operands[element], element)
    if start is None or step is None or step <= 0:
        return None
    distance = limit - start + (direction[1] == "E")
    return max(0, -(-distance // step))


def _step(instruction: Instruction, element: int) -> int | None:
    added = _past_copies(instruction)
    if added.opcode != "add":
        return None
    for one, other in (added.operands, added.operands[::-1]):
        if _element(one) == element:
            return _number(other)
    return None


def executions(module: Module) -> dict[Computation, tuple[int, bool]]:
    """Return how often each computation runs, and whether all trip counts are known."""
    times: dict[Computation, int] = defaultdict(int)
    known: dict[Computation, bool] = defaultdict(lambda: True)

    def run(computation: Computation, count: int, is_known: bool) -> None:
        times[computation] += count
        known[computation] &= is_known
        for instruction in computation.instructions:
            for _, _, called in instruction.calls:
                if instruction.opcode == "while":
                    trips, _ = trip_count(instruction)
                    more = 1 if trips is None else trips
                    run(called, count * more, is_known and trips is not None)
                else:
                    run(called, count, is_known)

    run(module.entry, 1, True)
    return {c: (times[c], known[c]) for c in times}

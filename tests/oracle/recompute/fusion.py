"""Recomputes the queries about fusions, loops and custom calls."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from tests.oracle import shapes
from tests.oracle.dump import Instruction
from tests.oracle.recompute.calls import is_workspace, trip_count
from tests.oracle.recompute.fragmentation import first_scoped
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    of_module,
    of_space,
    of_value,
    readers,
    recomputes,
)

_PASSED = ("parameter", "constant", "tuple")
_FUSIBLE = frozenset(
    [
        "abs",
        "add",
        "and",
        "broadcast",
        "ceil",
        "clamp",
        "compare",
        "convert",
        "cosine",
        "divide",
        "dynamic-slice",
        "exponential",
        "floor",
        "log",
        "logistic",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "pad",
        "power",
        "reduce",
        "reshape",
        "reverse",
        "rsqrt",
        "select",
        "sign",
        "sine",
        "slice",
        "sqrt",
        "subtract",
        "tanh",
        "transpose",
        "xor",
    ]
)


@recomputes("fusion_profile")
def fusion_profile(dump: Dump) -> Iterator[Row]:
    """Compare what a fusion reads and writes with what its instructions make."""
    for module in dump.modules:
        for fusion in module.instructions:
            fused = fusion.called("calls")
            if fusion.opcode != "fusion" or fused is None:
                continue
            work = [
                i
                for i in fused.instructions
                if i.opcode not in (*_PASSED, "get-tuple-element")
            ]
            root = fused.root
            results = {root}
            if root.opcode == "tuple":
                results = set(root.operands)
            kept = sum(i.result_bytes for i in results if i.opcode not in _PASSED)
            count = len([*shapes.arrays(fusion.shape)])
            yield {
                **of_module(module),
                "instruction": fusion.name,
                "fusion_kind": fusion.attributes.get("kind"),
                "op_count": len(work),
                "output_count": count,
                "read_bytes": sum(i.result_bytes for i in fusion.operands),
                "written_bytes": fusion.result_bytes,
                "saved_bytes": sum(i.result_bytes for i in work) - kept,
                "op_name": fusion.op_name,
            }


@recomputes("custom_call_inventory", leaves_out=["takes_run_time_memory"])
def custom_call_inventory(dump: Dump) -> Iterator[Row]:
    """Sum custom calls by target, and custom fusions by their kind."""
    for module in dump.modules:
        groups: dict[tuple[str | None, str], list[Instruction]] = defaultdict(list)
        for instruction in module.instructions:
            kind = _custom_kind(instruction)
            if instruction.opcode == "custom-call":
                groups[instruction.target, "custom-call"].append(instruction)
            elif kind is not None:
                groups[kind, "fusion"].append(instruction)
        for (target, opcode), calls in groups.items():
            spaces = [s for call in calls if (s := _workspace(call)) is not None]
            scoped = [piece[1] for call in calls if (piece := first_scoped(call))]
            largest = max(calls, key=lambda call: (call.result_bytes, -call.number))
            yield {
                **of_module(module),
                "custom_call_target": target,
                "opcode": opcode,
                "call_count": len(calls),
                "operand_bytes": sum(
                    operand.logical_bytes for call in calls for operand in call.operands
                ),
                "result_bytes": sum(call.result_bytes for call in calls),
                "workspace_bytes": sum(spaces) if spaces else None,
                "max_workspace_bytes": max(spaces, default=None),
                "max_scoped_bytes": max(scoped, default=None),
                "largest_call": largest.name,
            }


def _custom_kind(fusion: Instruction) -> str | None:
    """Return the kind that the backend config of a custom fusion says."""
    if fusion.opcode != "fusion" or fusion.attributes.get("kind") != "kCustom":
        return None
    found = re.search(r'"kind": ?"([^"]+)"', fusion.backend_config)
    return found[1] if found else None


def _workspace(call: Instruction) -> int | None:
    if not shapes.is_tuple(call.shape):
        return None
    found = [a for a in shapes.arrays(call.shape) if is_workspace(call, a.text)]
    return sum(a.logical_bytes or 0 for a in found) if found else None


@recomputes("loop_memory")
def loop_memory(dump: Dump) -> Iterator[Row]:
    """Sum what a loop carries, and look at the live bytes while its body runs."""
    for space in dump.spaces:
        for loop in space.module.instructions:
            body = loop.called("body")
            if loop.opcode != "while" or body is None:
                continue
            steps = [i.step for i in body.instructions if i.step is not None]
            if not steps or not space.stretches:
                continue
            trips, source = trip_count(loop)
            carried = {}
            for allocation in space.allocations:
                for place in allocation.places:
                    value = place.value
                    names = [name for name, _ in value.positions]
                    if loop.name in names and not shapes.is_tuple(value.shape):
                        sizes = shapes.array(value.shape).dimensions
                        is_stacked = trips is not None and sizes[:1] == (trips,)
                        key = (allocation.number, place.offset, place.size, is_stacked)
                        carried[key] = place.size
            levels = [
                stretch.live
                for stretch in space.stretches
                if stretch.first <= max(steps) and stretch.last >= min(steps)
            ]
            stacked = sum(size for key, size in carried.items() if key[3])
            yield {
                **of_space(space),
                "instruction": loop.name,
                "trip_count": trips,
                "trip_count_from": source,
                "carry_bytes": sum(carried.values()),
                "stacked_bytes": None if trips is None else stacked,
                "body_peak_bytes": max(levels),
                "body_extra_bytes": max(levels) - min(levels),
                "body_from_step": min(steps),
                "body_to_step": max(steps),
                "op_name": loop.op_name,
            }


@recomputes("materialised_intermediates", {"min_bytes": 1024}, {"min_bytes": 100_000})
def materialised_intermediates(dump: Dump, min_bytes: int) -> Iterator[Row]:
    """Find temporary arrays with one reader that could have fused them."""
    for space in dump.spaces:
        for allocation in space.of_kind("temp"):
            for place in allocation.places:
                value, producer = place.value, place.value.instruction
                if place.size < min_bytes or shapes.is_tuple(value.shape):
                    continue
                if value.start is None or producer is None:
                    continue
                reader = _only_reader(readers(space.module, value))
                if reader is None or not _is_fusible(reader):
                    continue
                if producer.opcode in ("parameter", "constant", "while", "conditional"):
                    continue
                yield {
                    **of_space(space),
                    **of_value(value),
                    "opcode": producer.opcode,
                    "reader": reader.name,
                    "reader_opcode": reader.opcode,
                    "blocker": _blocker(producer, reader),
                    "size_bytes": place.size,
                    "leverage_bytes": space.leverage(allocation, value),
                    "op_name": producer.op_name,
                }


def _only_reader(found: list[Instruction]) -> Instruction | None:
    real = [
        i for i in found if i.opcode not in ("tuple", "get-tuple-element", "bitcast")
    ]
    return real[0] if len(real) == 1 else None


def _is_fusible(reader: Instruction) -> bool:
    if reader.opcode == "fusion":
        return reader.attributes.get("kind") in ("kLoop", "kInput")
    return reader.opcode in _FUSIBLE


def _blocker(producer: Instruction, reader: Instruction) -> str:
    opcode = producer.opcode
    if shapes.is_tuple(producer.shape):
        return "multi_output"
    if opcode == "custom-call":
        return "custom_call"
    if opcode in ("dot", "convolution"):
        return "dot"
    if opcode in ("reduce", "reduce-window", "sort", "scatter", "gather", "topk"):
        return "reduce"
    words = ("all-", "reduce-scatter", "collective", "copy", "async")
    if any(word in opcode for word in words):
        return "collective_or_copy"
    return "layout" if "transpose" in (opcode, reader.opcode) else "unknown"

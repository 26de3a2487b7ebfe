"""Recomputes the queries about allocations, donations and constants."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle import shapes
from tests.oracle.dump import Allocation, Instruction, Module, Value
from tests.oracle.memory import Space
from tests.oracle.recompute.calls import async_fusions, is_workspace
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    of_module,
    of_space,
    of_value,
    op_name,
    opcode,
    placed,
    ratio,
    readers,
    recomputes,
    space_name,
)
from tests.oracle.recompute.sources import source_of


@recomputes("largest_allocations")
def largest_allocations(dump: Dump) -> Iterator[Row]:
    """Name the largest value of every allocation."""
    for space in dump.spaces:
        for allocation in space.allocations:
            largest = min(
                allocation.places,
                key=lambda place: (-place.size, place.value.number),
                default=None,
            )
            value = largest.value if largest else None
            own_shape = value.shape if value else None
            yield {
                **of_space(space),
                "allocation_id": allocation.number,
                "kind": allocation.kind,
                "size_bytes": allocation.size,
                "space_ratio": ratio(allocation.size, space.size()),
                "parameter_number": allocation.parameter,
                "is_live_out": allocation.is_live_out,
                "value_count": len(allocation.places),
                "value_bytes": sum(place.size for place in allocation.places),
                "largest_instruction": value.name if value else None,
                "largest_op_name": op_name(value.instruction) if value else None,
                "shape": allocation.printed_shape or own_shape,
            }


@recomputes("longest_live_ranges", {}, {"all_kinds": True})
def longest_live_ranges(dump: Dump, all_kinds: bool = False) -> Iterator[Row]:
    """Count the steps at which each value is live."""
    kinds = ["temp"]
    if all_kinds:
        kinds += ["parameter", "constant", "live_out", "thread_local"]
    for space in dump.spaces:
        for allocation in space.allocations:
            for place in allocation.places:
                value = place.value
                if allocation.kind not in kinds or value.start is None:
                    continue
                live = (value.end or 0) - value.start + 1
                source = source_of(space.module, value.instruction)
                yield {
                    **of_space(space),
                    **of_value(value),
                    "opcode": opcode(value.instruction),
                    "kind": allocation.kind,
                    "size_bytes": place.size,
                    "start_step": value.start,
                    "end_step": value.end,
                    "live_steps": live,
                    "span_ratio": min(1, live / len(space.module.schedule)),
                    "op_name": op_name(value.instruction),
                    "source_file": source.file if source else None,
                    "source_line": source.line if source else None,
                }


@recomputes("dead_values", {}, {"tuples": True})
def dead_values(dump: Dump, tuples: bool = False) -> Iterator[Row]:
    """Find temporary values that nothing reads or passes on."""
    for space in dump.spaces:
        carried = async_fusions(space.module)
        for value, _, size in placed(space, "temp"):
            instruction = value.instruction
            if value.start is None or size == 0 or value.uses:
                continue
            if len(value.positions) > 1 or (
                shapes.is_tuple(value.shape) and not tuples
            ):
                continue
            if instruction and (
                _is_of_condition(instruction)
                or is_workspace(instruction, value.shape)
                or (instruction in carried and _is_passed_on(instruction, value))
            ):
                continue
            source = source_of(space.module, instruction)
            yield {
                **of_space(space),
                **of_value(value),
                "opcode": opcode(instruction),
                "size_bytes": size,
                "start_step": value.start,
                "end_step": value.end,
                "op_name": op_name(instruction),
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
            }


def _is_of_condition(instruction: Instruction) -> bool:
    """Return whether it is what a loop's condition gets, or its result."""
    computation = instruction.computation
    is_end = instruction is computation.root or instruction.opcode == "parameter"
    return computation.kind == "while_condition" and is_end


def _is_passed_on(instruction: Instruction, value: Value) -> bool:
    aliasing = instruction.attributes.get("output_to_operand_aliasing", "")
    return f"{value.index}: (" in aliasing


def _content(module: Module) -> tuple[object, ...]:
    """Return what modules of equal text have in common, whatever their files."""
    names = tuple((i.name, i.opcode, i.inner) for i in module.instructions)
    return module.program, names


@recomputes("constant_bloat")
def constant_bloat(dump: Dump) -> Iterator[Row]:
    """Group constants by value and shape; elided ones are those of equal modules."""
    groups: dict[tuple[object, ...], list[tuple[Space, int, str]]] = defaultdict(list)
    for space in dump.spaces:
        for allocation in space.of_kind("constant"):
            for place in allocation.places:
                value = place.value
                constant = value.instruction
                literal = constant.inner if constant else None
                is_elided = literal is None or "..." in literal
                same = (_content(space.module), allocation.number)
                identity = same if is_elided else ()
                name = of_space(space)["space_name"]
                key = (space.color, name, value.shape, literal, identity)
                label = f"{space.module.program}:{value.name}"
                groups[key].append((space, allocation.size, label))
    for (color, name, shape, text, _), found in groups.items():
        sizes = [size for _, size, _ in found]
        yield {
            "color": color,
            "space_name": name,
            "shape": shape,
            "literal": text,
            "copy_count": len(found),
            "module_count": len({id(space) for space, _, _ in found}),
            "constant_bytes": sum(sizes),
            "wasted_bytes": sum(sizes) - max(sizes),
            "example": min(label for _, _, label in found),
        }


def _last_use(module: Module, allocation: Allocation) -> int | None:
    steps = [
        reader.step
        for place in allocation.places
        for reader in readers(module, place.value)
        if reader.step is not None
    ]
    return max(steps, default=None)


# --- Donations ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Result:
    """An element of a program's result, and the allocation that it lies in."""

    index: str
    value: Value
    allocation: Allocation


def _results(module: Module) -> list[_Result]:
    root = module.entry.root.name
    return [
        _Result(index or "{}", place.value, allocation)
        for allocation in module.allocations
        for place in allocation.places
        for name, index in place.value.positions
        if name == root
    ]


def _parameter(module: Module, number: int, index: str) -> Allocation | None:
    return next(
        (
            a
            for a in module.allocations
            if (a.parameter, a.parameter_index) == (number, index)
        ),
        None,
    )


@dataclass(frozen=True)
class _Missed:
    """A parameter that could be donated to a result."""

    parameter: Allocation
    result: _Result


def _missed(module: Module) -> list[_Missed]:
    """Pair the n-th free result of a shape with the n-th free parameter."""
    donated = {(a.parameter, a.parameter_index) for a in module.aliases}
    aliased = {a.output_index for a in module.aliases}
    waiting: dict[tuple[object, ...], list[Allocation]] = defaultdict(list)
    for allocation in sorted(
        (a for a in module.allocations if a.parameter is not None),
        key=lambda a: (a.parameter, _path(a.parameter_index or "")),
    ):
        place = (allocation.parameter, allocation.parameter_index)
        if place not in donated and not allocation.is_live_out:
            shape = allocation.printed_shape
            waiting[shape, allocation.size, allocation.color].append(allocation)
    pairs = []
    for result in sorted(_results(module), key=lambda r: _path(r.index)):
        allocation = result.allocation
        if allocation.kind != "live_out" or result.index in aliased:
            continue
        shape = re.sub(r"\{[^{}]*\}", "", result.value.shape)
        found = waiting[shape, allocation.size, allocation.color]
        if found:
            pairs.append(_Missed(found.pop(0), result))
    return pairs


def _path(index: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", index)]


_Entry: TypeAlias = tuple[str, str | None, str | None, Allocation | None, int, str]
"""Status, kind of alias, output, allocation, parameter and its index."""


@recomputes("donation_ledger", leaves_out=["module_id", "reason"])
def donation_ledger(dump: Dump) -> Iterator[Row]:
    """Yield of every alias whether the output lies in the parameter's memory."""
    for module in dump.modules:
        if not module.allocations:
            continue
        results = {result.index: result for result in _results(module)}
        entries: list[_Entry] = []
        for alias in module.aliases:
            parameter = _parameter(module, alias.parameter, alias.parameter_index)
            result = results.get(alias.output_index or "none")
            is_there = parameter is not None and (
                parameter.is_live_out
                if alias.output_index is None
                else result is not None and result.allocation is parameter
            )
            status = "realised" if is_there else "declared_only"
            entries.append((status, alias.kind, alias.output_index, parameter,
                            alias.parameter, alias.parameter_index))  # fmt: skip
        for pair in _missed(module):
            entries.append(("missed", None, pair.result.index, pair.parameter,
                            pair.parameter.parameter or 0,
                            pair.parameter.parameter_index or ""))  # fmt: skip
        for status, kind, output, allocation, number, index in entries:
            instruction = _entry_parameter(module, number)
            source = source_of(module, instruction)
            color = allocation.color if allocation else None
            yield {
                **of_module(module),
                "status": status,
                "parameter_number": number,
                "parameter_index": index,
                "op_name": op_name(instruction),
                "output_index": output,
                "alias_kind": kind,
                "donated_bytes": allocation.size if allocation else None,
                "color": color,
                "space_name": None
                if color is None
                else space_name(module.platform, color),
                "shape": allocation.printed_shape if allocation else None,
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
            }


def _entry_parameter(module: Module, number: int) -> Instruction | None:
    instructions = module.entry.instructions
    return next((i for i in instructions if i.parameter_number == number), None)


def _is_read_before(start: int | None, last: int | None) -> bool | None:
    """Return True if a parameter is last read before its new tenant is in use."""
    if start is None or (last is not None and last > start):
        return None
    return True


@recomputes("missed_donation_value")
def missed_donation_value(dump: Dump) -> Iterator[Row]:
    """Find the peak again where a result takes no memory of its own."""
    for space in dump.spaces:
        for pair in _missed(space.module):
            result = pair.result.allocation
            if result.color != space.color or space.peak is None:
                continue
            rest = max(s.live - s.held[result.number] for s in space.stretches)
            last = _last_use(space.module, pair.parameter)
            starts = [p.value.start for p in result.places if p.value.start is not None]
            start = min(starts, default=None)
            instruction = _entry_parameter(space.module, pair.parameter.parameter or 0)
            source = source_of(space.module, instruction)
            yield {
                **of_space(space),
                "parameter_number": pair.parameter.parameter,
                "parameter_index": pair.parameter.parameter_index,
                "op_name": op_name(instruction),
                "output_index": pair.result.index,
                "shape": pair.parameter.printed_shape,
                "output_bytes": result.size,
                "last_use_step": last,
                "output_step": start,
                "is_possible": _is_read_before(start, last),
                "live_peak_bytes": space.peak,
                "saved_at_peak_bytes": space.peak - rest,
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
            }

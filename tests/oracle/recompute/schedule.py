"""Recomputes the queries about copies, and values that are held for long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle import shapes
from tests.oracle.dump import Allocation, Instruction, Value
from tests.oracle.memory import Space
from tests.oracle.recompute.calls import async_fusions
from tests.oracle.recompute.moves import Move, moves
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    kind_of,
    of_module,
    of_space,
    of_value,
    placed,
    readers,
    recomputes,
)
from tests.oracle.recompute.sources import source_of


@recomputes("copy_census")
def copy_census(dump: Dump) -> Iterator[Row]:
    """List copies with the first reason that applies."""
    for module in dump.modules:
        spaces = [space for space in dump.spaces if space.module is module]
        has_peak = any(space.peak_step is not None for space in spaces)
        owned: dict[str, int] = defaultdict(int)
        for space in spaces:
            for found in space.owners:
                if found.value:
                    owned[found.value.name] += found.owned
        for move in moves(module):
            copy = move.instruction
            if copy.opcode not in ("copy", "copy-start"):
                continue
            source = source_of(module, copy)
            yield {
                **of_module(module),
                "instruction": copy.name,
                "opcode": copy.opcode,
                "reason": _reason(move),
                "operand_shape": move.operand.shape,
                "shape": move.result.text,
                "copied_bytes": move.operand.logical_bytes,
                "at_peak_bytes": owned[copy.name] if has_peak else None,
                "op_name": copy.op_name,
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
            }


def _reason(move: Move) -> str:
    copy, operand = move.instruction, move.operand
    if not shapes.is_tuple(operand.shape):
        before = shapes.array(operand.shape)
        if before.space != move.result.space:
            return "space"
        if _layout(before) != _layout(move.result):
            return "layout"
    if kind_of(copy.computation) in ("while_body", "while_condition"):
        return "loop"
    tuples = [user for user in copy.users if user.opcode == "tuple"]
    users = copy.users + [user for t in tuples for user in t.users]
    if any(user.opcode == "while" for user in users):
        return "loop"
    root = copy.computation.root
    if operand.opcode in ("parameter", "constant") and (
        copy is root or root in copy.users
    ):
        return "output"
    return "async" if copy.opcode == "copy-start" else "interference"


def _layout(array: shapes.Array) -> tuple[object, ...]:
    return array.minor_to_major, array.tiles, array.printed_dimensions


def _reads(space: Space, value: Value) -> list[tuple[int, Instruction]]:
    """Return when and by what a value is read, in the order of the schedule."""
    found = [
        (reader.step, reader)
        for reader in readers(space.module, value)
        if reader.step is not None
    ]
    return sorted(found, key=lambda read: (read[0], read[1].number))


def _live_arrays(space: Space) -> Iterator[tuple[Allocation, Value, int]]:
    """Yield temporary arrays that are live when the peak is reached."""
    for allocation in space.of_kind("temp"):
        for place in allocation.places:
            value = place.value
            is_live = space.peak_step is not None and value.is_live(space.peak_step)
            if is_live and not shapes.is_tuple(value.shape):
                yield allocation, value, place.size


@recomputes("late_frees")
def late_frees(dump: Dump) -> Iterator[Row]:
    """Find values that only a late reader keeps alive at the peak."""
    for space in dump.spaces:
        peak = space.peak_step or 0
        for allocation, value, size in _live_arrays(space):
            start, end = value.start or 0, value.end or 0
            reads = [read for read in _reads(space, value) if start <= read[0] <= end]
            if size == 0 or not reads or value.instruction is None:
                continue
            last, reader = reads[-1]
            before = reads[-2][0] if len(reads) > 1 else start
            if last <= peak or before >= peak or start >= peak:
                continue
            is_blocked = reader.opcode.endswith("-done") or any(
                operand is not value.instruction and (operand.step or 0) >= peak
                for operand in reader.operands
            )
            results = sum(
                size for v, _, size in placed(space, "temp")
                if v.instruction is reader and v.start is not None
            )  # fmt: skip
            saving = max(0, space.leverage(allocation, value) - results)
            yield {
                **of_space(space),
                **of_value(value),
                "opcode": value.instruction.opcode,
                "size_bytes": size,
                "use_step_before": before,
                "last_use_step": last,
                "gap_steps": last - before,
                "last_reader": reader.name,
                "is_movable": not is_blocked,
                "result_bytes": results,
                "net_saving_bytes": 0 if is_blocked else saving,
                "op_name": value.instruction.op_name,
            }


@recomputes("computed_early")
def computed_early(dump: Dump) -> Iterator[Row]:
    """Find values that are live at the peak and only read behind it."""
    for space in dump.spaces:
        peak = space.peak_step or 0
        carriers = async_fusions(space.module)
        for allocation, value, size in _live_arrays(space):
            maker, start = value.instruction, value.start or 0
            later = [step for step, _ in _reads(space, value) if step > start]
            if maker is None or not later or start >= peak or later[0] <= peak:
                continue
            operands = sum(
                other_size
                for other, _, other_size in placed(space, "temp")
                if not shapes.is_tuple(other.shape)
                and other.start is not None
                and (other.end or 0) < peak
                and maker.step is not None
                and maker in readers(space.module, other)
            )
            is_meant = (
                maker.opcode in ("parameter", "while", "call", "conditional")
                or maker.opcode.endswith(("-start", "-update", "-done"))
                or maker.computation.kind == "async"
                or maker in carriers
            )
            saving = max(0, space.leverage(allocation, value) - operands)
            yield {
                **of_space(space),
                **of_value(value),
                "opcode": maker.opcode,
                "size_bytes": size,
                "start_step": start,
                "first_use_step": later[0],
                "gap_steps": later[0] - start,
                "operand_bytes": operands,
                "net_saving_bytes": 0 if is_meant else saving,
                "op_name": maker.op_name,
            }

"""Finds the operations that only move data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle import shapes
from tests.oracle.dump import Instruction, Module

_OPCODES = ("copy", "copy-start", "transpose", "bitcast-convert", "reshape")


@dataclass(frozen=True)
class Move:
    """An operation with its operand; `result` is the array that it moves it to."""

    instruction: Instruction
    operand: Instruction
    result: shapes.Array

    @property
    def reason(self) -> str | None:
        """Return what changes first: space, dimensions, tiling or order."""
        if shapes.is_tuple(self.operand.shape):
            return None
        before, after = shapes.array(self.operand.shape), self.result
        if before.element_type != after.element_type:
            return None
        changes = {
            "space": before.space != after.space,
            "dimensions": self.instruction.opcode == "transpose"
            or before.printed_dimensions != after.printed_dimensions,
            "tiling": before.tiles != after.tiles,
            "order": before.minor_to_major != after.minor_to_major,
        }
        return next((name for name, is_changed in changes.items() if is_changed), None)


def moves(module: Module) -> Iterator[Move]:
    """Yield the moves outside of fusions and reducers."""
    for instruction in module.instructions:
        if instruction.opcode in _OPCODES and not instruction.computation.is_inlined:
            operand = instruction.operands[0]
            if instruction.opcode != "copy-start" and shapes.is_tuple(
                instruction.shape
            ):
                continue
            result = next(shapes.arrays(instruction.shape))
            yield Move(instruction, operand, result)

"""Where arrays come from that instructions only pass on or store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.oracle.dump import Computation, Instruction
from tests.oracle.shapes import is_tuple

WHOLE = -1
"""The element of a result that is no tuple."""

_ONE_FROM_ONE = (
    "bitcast", "copy", "slice", "dynamic-slice", "convert", "reshape", "transpose",
)  # fmt: skip
_CALLS = ("while", "conditional", "call", "fusion", "async-start")
_COMPUTES_NOTHING = ("parameter", "constant", "iota", "broadcast")


class Array(NamedTuple):
    """A result, or an element of one that is a tuple."""

    instruction: Instruction
    element: int


def makers(start: Array) -> dict[Instruction, bool]:
    """Return what computed an array, and whether an update stored it.

    Of an array that updates write into, only what they write is looked for.
    """
    found: dict[Instruction, bool] = {}
    seen = {(start, False)}
    waiting = [(start, False)]
    while waiting:
        array, is_stored = waiting.pop()
        maker = array.instruction
        if maker.opcode == "dynamic-update-slice":
            sources, is_stored = [operand_of(maker, 1)], True
        else:
            sources = [*_sources(array)]
        if not sources and maker.opcode not in _COMPUTES_NOTHING:
            found[maker] = found.get(maker, False) or is_stored
        for source in sources:
            if (source, is_stored) not in seen:
                seen.add((source, is_stored))
                waiting.append((source, is_stored))
    return found


def _sources(array: Array) -> Iterator[Array]:
    """Yield the arrays that one is, as it is or in another form."""
    instruction, element = array
    opcode = instruction.opcode
    if opcode == "parameter":
        for caller, _, _ in instruction.computation.callers:
            yield from _passed(caller, instruction, element)
    elif opcode == "tuple":
        if element != WHOLE:
            yield operand_of(instruction, element)
    elif opcode == "opt-barrier":
        yield operand_of(instruction, 0, element)
    elif opcode in _CALLS:
        yield from _results(instruction, element)
    elif opcode == "copy-start":
        if element == 0:
            yield operand_of(instruction, 0)
    elif opcode == "async-update":
        if element == 1:
            yield operand_of(instruction, 0, 1)
    elif element == WHOLE:
        if opcode == "get-tuple-element":
            yield operand_of(instruction, 0, int(instruction.attributes["index"]))
        elif opcode == "copy-done":
            yield operand_of(instruction, 0, 0)
        elif opcode == "async-done":
            yield operand_of(instruction, 0, 1)
        elif opcode in _ONE_FROM_ONE:
            yield operand_of(instruction, 0)


def operand_of(instruction: Instruction, number: int, element: int = WHOLE) -> Array:
    """Return an operand, or an element of it; of a tuple in a tuple, the outer one."""
    outer = instruction.operand_elements[number]
    operand = instruction.operands[number]
    return Array(operand, element if outer is None else outer)


def _results(caller: Instruction, element: int) -> Iterator[Array]:
    """Yield what a caller's result is inside of what it calls."""
    for called in _called(caller):
        if caller.opcode == "async-start":
            if element == 1 and not is_tuple(called.root.shape):
                yield Array(called.root, WHOLE)
        elif is_tuple(called.root.shape) == (element != WHOLE):
            yield Array(called.root, element)
    if caller.opcode == "while" and is_tuple(caller.shape) == (element != WHOLE):
        yield operand_of(caller, 0, element)


def _passed(
    caller: Instruction, parameter: Instruction, element: int
) -> Iterator[Array]:
    """Yield what a caller passes for a parameter, a loop also what its body made."""
    assert parameter.parameter_number is not None
    numbers = [parameter.parameter_number]
    if caller.opcode not in _CALLS or is_tuple(parameter.shape) != (element != WHOLE):
        return
    if caller.opcode == "conditional":
        branches = enumerate(_called(caller), 1)
        numbers = [at for at, called in branches if called is parameter.computation]
    for number in numbers:
        yield operand_of(caller, number, element)
    body = caller.called("body")
    if caller.opcode == "while" and body is not None:
        yield Array(body.root, element)


def _called(caller: Instruction) -> list[Computation]:
    """Return what gives a result; of a conditional, its branches in order."""
    return [called for role, _, called in caller.calls if role != "condition"]

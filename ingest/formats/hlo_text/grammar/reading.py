"""Syntax → records: the module that a text holds, in XLA's names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.attributes import parse_tail
from hlodb.ingest.formats.hlo_text.grammar.parser import parse_module
from hlodb.ingest.formats.hlo_text.grammar.syntax import ParsedInstruction, give_names
from hlodb.ingest.formats.hlo_text.grammar.tokens import Refused
from hlodb.ingest.formats.hlo_text.header import parse_frame_tables
from hlodb.ingest.records import Call, Computation, HloModule, Instruction

_SNIPPET = 200


class ReadModule(NamedTuple):
    """A module, its instructions as a list, line and place of what follows, if any."""

    module: HloModule
    instructions: list[Instruction]
    next_line: int | None
    following: int | None


def read_module(text: str, start: int, stop: int, first_line: int = 1) -> ReadModule:
    """Return the module that XLA's parser takes from a part of `text`.

    The part begins at a line, number `first_line`. Raises ParseError where XLA refuses
    it.
    """
    line_of = _line_numbers(text, start, stop, first_line)
    try:
        parsed = parse_module(text, start, stop)
    except Refused as refused:
        raise _located(refused, text, line_of(refused.place)) from None
    except RecursionError:
        message = "instructions nest too deep"
        raise ParseError(message, line=first_line) from None
    give_names(parsed.computations)
    computations: list[Computation] = []
    instructions: list[Instruction] = []
    lines: list[int] = []
    for parts in parsed.computations:
        first, root = len(instructions), parts.root
        for own in parts.instructions:
            lines.append(line_of(own.place))
            try:
                instructions.append(_record(own, own is root))
            except ParseError as error:
                fault = Refused(error.message, own.place)
                raise _located(fault, text, lines[-1]) from None
        computations.append(
            Computation(
                parts.name, parts.is_entry, first, len(instructions),
                parts.execution_thread, parts.backend_config,
            )
        )  # fmt: skip
    frames = parse_frame_tables(parsed.frames_text).frames if parsed.frames_text else ()
    module = HloModule(
        parsed.name, parsed.header, tuple(computations), instructions, lines, frames,
        line_of(parsed.body_place),
    )  # fmt: skip
    following = parsed.following
    next_line = line_of(following) if following is not None else None
    return ReadModule(module, instructions, next_line, following)


def _line_numbers(
    text: str, start: int, stop: int, first_line: int
) -> Callable[[int], int]:
    """Return the function from a place in a part of the text to its line."""
    breaks = [start + found.start() for found in re.finditer("\n", text[start:stop])]
    return lambda place: first_line + bisect_left(breaks, place)


def _located(refused: Refused, text: str, line: int) -> ParseError:
    start = text.rfind("\n", 0, refused.place) + 1
    end = text.find("\n", refused.place)
    snippet = text[start : end if end >= 0 else len(text)][:_SNIPPET]
    column = refused.place - start + 1
    return ParseError(refused.message, line=line, column=column, snippet=snippet)


def _record(parsed: ParsedInstruction, is_root: bool) -> Instruction:
    said = [f"{key}={value}" for key, value in parsed.attributes.items()]
    if parsed.predecessors:
        names = ", ".join(f"%{i.name}" for i in parsed.predecessors)
        said.append(f"control-predecessors={{{names}}}")
    tail = parse_tail("".join(f", {attribute}" for attribute in said))
    calls = [
        Call(role, tuple(c.name for c in computations))
        for role, computations in parsed.calls
    ]
    return Instruction(
        parsed.name,
        parsed.opcode,
        parsed.shape,
        tuple(operand.name for operand in parsed.operands),
        is_root,
        parsed.parameter_number,
        parsed.literal,
        tuple(calls),
        tail.attributes,
        tail.location,
    )

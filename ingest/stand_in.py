"""Instructions that only a buffer assignment names, so that every row has one to join.

An assignment that arrives without its HLO text still prints most instructions, in its
`from instruction:` lines; of the others (schedule, positions, uses) the name is all.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain, filterfalse
from operator import attrgetter

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_instruction import parse_instruction
from hlodb.ingest.interning import Rows
from hlodb.ingest.records import BufferAssignment, HloModule, Instruction

NAME_ONLY = ""
"""Opcode of an instruction of which nothing but its name is known."""


def with_named_only(hlo: HloModule, assignment: BufferAssignment) -> HloModule:
    """Give the module with the instructions that only the assignment names at its end.

    They belong to no computation.
    """
    known = instruction_names(hlo.instructions)
    missing = dict.fromkeys(filterfalse(known.__contains__, _names(assignment)))
    if not missing:
        return hlo
    extra = [_instruction(name, assignment) for name in missing]
    own = hlo.instructions
    return replace(
        hlo,
        instructions=own + extra if isinstance(own, Rows) else [*own, *extra],
        lines=hlo.lines + [0] * len(extra),
    )


def instruction_names(instructions: Sequence[Instruction]) -> Container[str]:
    """Give what can be asked for names, the cheapest way."""
    if isinstance(instructions, Rows):
        return instructions.places
    return {instruction.name for instruction in instructions}


def _names(assignment: BufferAssignment) -> Iterator[str]:
    """Give the names of instructions: schedule order first, then as they appear."""
    a = assignment
    named = chain(a.values, a.positions, a.uses, a.live_ranges)
    return chain(a.schedule, map(attrgetter("instruction"), named))


def _instruction(name: str, assignment: BufferAssignment) -> Instruction:
    line = assignment.sources.get(name)
    if line is not None:
        try:
            return parse_instruction(line)
        except ParseError:
            pass
    return Instruction(name, NAME_ONLY, None)

"""Instructions that only a buffer assignment names, so that every row has one to join.

An assignment that arrives without its HLO text still prints most instructions, in its
`from instruction:` lines; of the others (schedule, positions, uses) the name is all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    known = set(_instruction_names(hlo.instructions))
    missing = [name for name in _names(assignment) if name not in known]
    if not missing:
        return hlo
    extra = [_instruction(name, assignment) for name in missing]
    own = hlo.instructions
    return replace(
        hlo,
        instructions=own + extra if isinstance(own, Rows) else [*own, *extra],
        lines=hlo.lines + [0] * len(extra),
    )


def _instruction_names(instructions: Sequence[Instruction]) -> list[str]:
    if isinstance(instructions, Rows):
        return instructions.names()
    return [instruction.name for instruction in instructions]


def _names(assignment: BufferAssignment) -> list[str]:
    """Give every instruction name once: schedule order first, then as they appear."""
    names = dict.fromkeys(assignment.schedule)
    names.update(dict.fromkeys(v.instruction for v in assignment.values))
    names.update(dict.fromkeys(p.instruction for p in assignment.positions))
    names.update(dict.fromkeys(u.instruction for u in assignment.uses))
    names.update(dict.fromkeys(r.instruction for r in assignment.live_ranges))
    return list(names)


def _instruction(name: str, assignment: BufferAssignment) -> Instruction:
    line = assignment.sources.get(name)
    if line is not None:
        try:
            return parse_instruction(line)
        except ParseError:
            pass
    return Instruction(name, NAME_ONLY, None)

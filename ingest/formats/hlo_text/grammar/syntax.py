"""What the parser makes of HLO text: computations whose instructions refer to others.

Names are those of the text until `give_names` changes those that collide.

XLA gives new names as `name_uniquer.cc` does: the number behind the last dot is no part
of the name proper, and one that is taken becomes the next that is free.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

_NUMBERED = re.compile(r"(.+)\.([+\-]?[0-9]+)", re.DOTALL)
_MOST_DIGITS = 18


class UniqueNames:
    """The names that are taken."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = defaultdict(set)
        self._next: dict[str, int] = defaultdict(int)

    def take(self, name: str) -> str:
        """Return `name`, or what XLA makes of it because it is taken."""
        numbered = _NUMBERED.fullmatch(name)
        if numbered and len(numbered[2]) > _MOST_DIGITS:
            numbered = None
        proper, number = (numbered[1], int(numbered[2])) if numbered else (name, 0)
        taken = self._taken[proper]
        if number in taken:
            number = self._next[proper]
            while number in taken:
                number += 1
            self._next[proper] = number + 1
        taken.add(number)
        if number == 0:
            return f"{proper}.0" if numbered else proper
        return f"{proper}.{number}"


@dataclass(slots=True, eq=False)
class ParsedInstruction:
    """An instruction; `place` is where its text begins.

    `attributes` are those that name no computation or instruction. `wrapped` is the
    opcode that an async instruction stands for.
    """

    name: str
    opcode: str
    shape: str | None
    place: int
    operands: list[ParsedInstruction] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, list[ParsedComputation]]] = field(default_factory=list)
    predecessors: list[ParsedInstruction] = field(default_factory=list)
    is_root: bool = False
    parameter_number: int | None = None
    literal: str | None = None
    wrapped: str | None = None


@dataclass(slots=True, eq=False)
class ParsedComputation:
    """A computation in the order of its text; nested instructions precede readers."""

    name: str
    place: int
    instructions: list[ParsedInstruction] = field(default_factory=list)
    is_entry: bool = False
    execution_thread: str | None = None
    backend_config: str | None = None

    @property
    def root(self) -> ParsedInstruction:
        """The instruction marked as root, else the last."""
        marked = (i for i in self.instructions if i.is_root)
        return next(marked, self.instructions[-1])


@dataclass(slots=True)
class ParsedModule:
    """A module, its computations in the order they end in.

    `following` is the place of what stands behind it, None at the end of the text.
    """

    name: str
    header: dict[str, str]
    frames_text: str
    computations: list[ParsedComputation]
    body_place: int
    following: int | None


def give_names(computations: list[ParsedComputation]) -> None:
    """Rename what collides, as XLA does when it puts computations into a module."""
    own, names = UniqueNames(), UniqueNames()
    for computation in computations:
        computation.name = own.take(computation.name)
        for instruction in computation.instructions:
            instruction.name = names.take(instruction.name)

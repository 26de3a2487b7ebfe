"""What the parser makes of HLO text: computations whose instructions refer to others.

Names are those of the text until `give_names` changes those that collide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlodb.ingest.formats.hlo_text.grammar.names import UniqueNames


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

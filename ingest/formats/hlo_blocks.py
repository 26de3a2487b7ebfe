"""What is remembered of HLO text: equal computations and equal lines are read once.

Passes of one compilation print most computations again, letter by letter. A cache keeps
the text of each beside what it holds, and forgets all when that becomes too much.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_elements import with_elements
from hlodb.ingest.formats.hlo_instruction import ELEMENT_MARK, parse_instructions
from hlodb.ingest.records import Instruction

_NAME = re.compile(r"\s*+(ENTRY\s++)?%?([^\s(){}=]++)\s*+")
_ARROW = re.compile(r"\)\s*+->\s*+\S")
_MAX_BLOCK_CHARACTERS = 32_000_000
_MAX_LINES = 200_000

Items = TypeVar("Items", bound=Any)
"""Instructions as a cache keeps them: has a length and can be sliced."""


class Head(NamedTuple):
    """The first line of a computation."""

    name: str
    is_entry: bool


class Block(NamedTuple, Generic[Items]):
    """A computation of one-line instructions, without its closing line.

    `places` says on which of its `line_count` lines each instruction stands, from 0;
    None where they stand one on each.
    """

    head: Head
    items: Items
    line_count: int
    places: list[int] | None = None

    def lines_from(self, first: int) -> Iterable[int]:
        """Give the line of each instruction; `first` is that of the first line."""
        if self.places is None:
            return range(first, first + self.line_count)
        return [first + place for place in self.places]


def computation_head(line: str) -> Head | None:
    """Give what the first line of a computation says, None where `line` is none."""
    line = line.rstrip()
    match = _NAME.match(line) if line.endswith("{") else None
    if match is None:
        return None
    types = line[match.end() : -1].rstrip()
    if types and not (types.startswith("(") and _ARROW.search(types)):
        return None
    return Head(match.group(2), match.group(1) is not None)


class BlockCache(ABC, Generic[Items]):
    """Computations by their text; a subclass says what it keeps of instructions."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block[Items] | None] = {}
        self._characters = 0

    @abstractmethod
    def read(self, lines: Sequence[str]) -> Items:
        """Give the instructions that lines print; ParseError where one prints none."""

    @abstractmethod
    def add(self, instructions: Sequence[Instruction]) -> Items:
        """Take in instructions that have no line of their own."""

    @abstractmethod
    def join(self, parts: Sequence[Items]) -> Sequence[Instruction]:
        """Give the instructions of all parts as one sequence."""

    def blocks(self, texts: Sequence[str]) -> list[Block[Items] | None]:
        """Give the computation that each text prints.

        None for a text that is not a head and sound instructions of one line each.
        """
        known = self._blocks
        new = [text for text in dict.fromkeys(texts) if text not in known]
        self._characters += sum(map(len, new))
        if self._characters > _MAX_BLOCK_CHARACTERS:
            known.clear()
            new = list(dict.fromkeys(texts))
            self._characters = sum(map(len, new))
        known.update(zip(new, self._read_blocks(new), strict=True))
        return list(map(known.__getitem__, texts))

    def _read_blocks(self, texts: Sequence[str]) -> list[Block[Items] | None]:
        """Read the lines of all texts at once, or of each where one is unsound."""
        try:
            bodies = list(map(_body, texts))
            items = self.read([line for body in bodies for line in body.lines])
        except ParseError:
            if len(texts) == 1:
                return [None]
            return [block for text in texts for block in self._read_blocks([text])]
        blocks: list[Block[Items] | None] = []
        start = 0
        for head, lines, line_count, places in bodies:
            stop = start + len(lines)
            part = items[start:stop]
            blocks.append(Block(head, part, line_count, places) if head else None)
            start = stop
        return blocks


class _Body(NamedTuple):
    """Lines of a computation, those of tuple elements included, and their places."""

    head: Head | None
    lines: Sequence[str]
    line_count: int
    places: list[int] | None


def _body(text: str) -> _Body:
    head, *lines = text.split("\n")
    places = None
    count = len(lines)
    if ELEMENT_MARK in text:
        lines, places = with_elements(lines)
    return _Body(computation_head(head), lines, count, places)


class InstructionCache(BlockCache[list[Instruction]]):
    """Keeps the records themselves; equal lines give identical ones."""

    def __init__(self) -> None:
        super().__init__()
        self._by_line: dict[str, Instruction] = {}

    def read(self, lines: Sequence[str]) -> list[Instruction]:
        """Give the instructions that lines print; ParseError where one prints none."""
        known = self._by_line
        if len(known) > _MAX_LINES:
            known.clear()
        new = [line for line in dict.fromkeys(lines) if line not in known]
        known.update(zip(new, parse_instructions(new), strict=True))
        return list(map(known.__getitem__, lines))

    def add(self, instructions: Sequence[Instruction]) -> list[Instruction]:
        """Take in instructions that have no line of their own."""
        return list(instructions)

    def join(self, parts: Sequence[list[Instruction]]) -> list[Instruction]:
        """Give the instructions of all parts as one list."""
        return [instruction for part in parts for instruction in part]

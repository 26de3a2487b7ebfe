"""What is remembered of HLO text: equal computations and equal lines are read once.

Passes of one compilation print most computations again, letter by letter. A cache keeps
the text of each beside what it holds, and drops all when that becomes too much.
Plain computations, which print a head, instructions of one line each and a closing
line, are read ahead, many at once; any other has to be read line by line.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Sequence
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, TypeVar

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.attributes import printed_pairs
from hlodb.ingest.formats.hlo_text.elements import with_elements
from hlodb.ingest.formats.hlo_text.instruction import (
    ELEMENT_MARK,
    odd_operands,
    parse_and_judge,
)
from hlodb.ingest.formats.scan import unquote
from hlodb.ingest.records import Instruction

_NAME = re.compile(r"\s*+(ENTRY\s++)?%?([^\s(){}=]++)\s*+")
_ARROW = re.compile(r"\)\s*+->\s*+\S")
_MAX_BLOCK_CHARACTERS = 16_000_000
_RECORD_CHARACTERS = 600
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
    None where they stand one on each. `called` are the computations it calls.
    """

    head: Head
    items: Items
    line_count: int
    places: list[int] | None = None
    called: Collection[str] = ()


def computation_head(line: str) -> Head | None:
    """Return the head of a computation; None where `line` is none."""
    line = line.rstrip()
    match = _NAME.match(line) if line.endswith("{") else None
    if match is None:
        return None
    types = line[match.end() : -1].rstrip()
    if types and not (types.startswith("(") and _ARROW.search(types)):
        return None
    return Head(match.group(2), match.group(1) is not None)


class Closing(NamedTuple):
    """What the closing line of a computation says of it."""

    execution_thread: str | None = None
    backend_config: str | None = None


NOTHING_SAID = Closing()
_OF_CLOSING = frozenset(Closing._fields)


def computation_closing(attributes: str) -> Closing | None:
    """Return what stands behind a closing brace; None where that is something else.

    XLA prints a thread that is not the main one and, since jaxlib 0.12, a
    configuration: `, execution_thread="host", backend_config={"a": 1}`.
    """
    if not attributes:
        return NOTHING_SAID
    pairs = printed_pairs(attributes)
    if pairs is None or not _OF_CLOSING.issuperset(pairs):
        return None
    thread = pairs.get("execution_thread", '""')
    config = pairs.get("backend_config")
    if thread[0] != '"' or (config and config[0] not in '{"'):
        return None
    return Closing(thread[1:-1] or None, config and unquote(config))


class Soundness(NamedTuple):
    """Whether a computation is one that XLA would print, and what it calls.

    Its names are unique, its operands stand above their readers, it has one root at
    most, and its instructions are usual ones.
    """

    is_sound: bool
    called: Collection[str] = ()


class BlockCache(ABC, Generic[Items]):
    """Computations by their text; a subclass says what it keeps of instructions."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block[Items] | None] = {}
        self._characters = 0

    @abstractmethod
    def read(self, lines: Sequence[str]) -> Items:
        """Return the instructions of lines; ParseError where one prints none."""

    @abstractmethod
    def add(self, instructions: Sequence[Instruction]) -> Items:
        """Take in instructions that have no line of their own."""

    @abstractmethod
    def whole(self, parts: Sequence[Items]) -> Items:
        """Put the instructions of all parts end to end."""

    @abstractmethod
    def soundness(self, items: Items, sizes: Sequence[int]) -> list[Soundness]:
        """Judge computations whose instructions stand end to end, so many in each."""

    @abstractmethod
    def has_unique_names(self, items: Items) -> bool:
        """Return whether no two instructions have one name."""

    @abstractmethod
    def sequence(self, items: Items) -> Sequence[Instruction]:
        """Return instructions as a sequence of records."""

    def forget_texts(self) -> None:
        """Drop the texts of computations, which are read again if they come again."""
        self._blocks.clear()
        self._characters = 0

    def judge(self, parts: Sequence[Items]) -> Soundness:
        """Judge the computation that the instructions of all parts make."""
        whole = self.whole(parts)
        [judged] = self.soundness(whole, [len(whole)])
        return judged

    def blocks(self, texts: Sequence[str]) -> list[Block[Items] | None]:
        """Return the computation that each text prints.

        None for a text that is not a head and sound instructions of one line each, as
        XLA prints them.
        """
        known = self._blocks
        new = [text for text in dict.fromkeys(texts) if text not in known]
        self._characters += _weight(new)
        if self._characters > _MAX_BLOCK_CHARACTERS:
            known.clear()
            new = list(dict.fromkeys(texts))
            self._characters = _weight(new)
        if new:
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
        judged = self.soundness(items, [len(body.lines) for body in bodies])
        for body, (is_sound, called) in zip(bodies, judged, strict=True):
            head, lines, line_count, places = body
            stop = start + len(lines)
            part = items[start:stop]
            block = Block(head, part, line_count, places, called) if head else None
            blocks.append(block if is_sound else None)
            start = stop
        return blocks


def _weight(texts: Sequence[str]) -> int:
    """Return the memory of computations as characters: each is a record, too."""
    return sum(map(len, texts)) + _RECORD_CHARACTERS * len(texts)


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
        self._unusual: set[Instruction] = set()

    def read(self, lines: Sequence[str]) -> list[Instruction]:
        """Return the instructions of lines; ParseError where one prints none."""
        known = self._by_line
        if len(known) > _MAX_LINES:
            known.clear()
        new = [line for line in dict.fromkeys(lines) if line not in known]
        instructions, unusual = parse_and_judge(new)
        self._unusual.update(unusual)
        known.update(zip(new, instructions, strict=True))
        return list(map(known.__getitem__, lines))

    def add(self, instructions: Sequence[Instruction]) -> list[Instruction]:
        """Take in instructions that have no line of their own."""
        opcodes = [i.opcode for i in instructions]
        odd = odd_operands(opcodes, [len(i.operands) for i in instructions])
        self._unusual.update(instructions[at] for at in odd)
        return list(instructions)

    def whole(self, parts: Sequence[list[Instruction]]) -> list[Instruction]:
        """Put the instructions of all parts end to end."""
        return list(chain.from_iterable(parts))

    def soundness(
        self, items: list[Instruction], sizes: Sequence[int]
    ) -> list[Soundness]:
        """Judge computations whose instructions stand end to end, so many in each."""
        rest = iter(items)
        return [self._judge(list(islice(rest, size))) for size in sizes]

    def _judge(self, instructions: list[Instruction]) -> Soundness:
        known: set[str] = set()
        called: list[str] = []
        roots = 0
        is_sound = bool(instructions) and self._unusual.isdisjoint(
            instructions if self._unusual else ()
        )
        for name, _, _, operands, is_root, _, _, calls, _, _ in instructions:
            if not known.issuperset(operands):
                is_sound = False
            known.add(name)
            roots += is_root
            if calls:
                called += chain.from_iterable(call.computations for call in calls)
        is_sound &= roots <= 1 and len(known) == len(instructions)
        return Soundness(is_sound, called)

    def has_unique_names(self, items: list[Instruction]) -> bool:
        """Return whether no two instructions have one name."""
        return len({instruction.name for instruction in items}) == len(items)

    def sequence(self, items: list[Instruction]) -> list[Instruction]:
        """Return the instructions themselves."""
        return items


# The closing line of a computation, the line below where it is blank, and then the
# next line where it may be a head.
_CLOSING = re.compile(
    r"\n\}((?>(?:, (?:execution_thread|backend_config)=[^\n]*+)?))[^\S\n]*+(?://.*+)?"
    r"(?:\Z|(\n\n?+)(?=(.*\{\n)?))"
)
_AHEAD = 1_000_000
"""Characters that are read ahead at once; longer computations are read in parts."""


Place = tuple[int, Closing, int, int]
"""Where a computation stands that was read ahead: its start, its closing line, the
start of what follows, and how many lines that is below the last instruction."""


class ReadAhead:
    """The computations of a text that are read already; places only go forward."""

    def __init__(self, text: str, cache: BlockCache[Any]) -> None:
        self._text = text
        self._cache = cache
        self._known: deque[tuple[Place, Block[Any] | None]] = deque()
        self._end = 0

    def plain(self, at: int) -> list[tuple[Place, Block[Any]]]:
        """Return the plain computations that follow one another from `at` on."""
        if at >= self._end:
            self._look(at)
        known = self._known
        while known and known[0][0][0] < at:
            known.popleft()
        found: list[tuple[Place, Block[Any]]] = []
        while known and known[0][0][0] == at:
            place, block = known.popleft()
            if block is None:  # It has to be read line by line.
                break
            found.append((place, block))
            at = place[2]
        return found

    def _look(self, at: int) -> None:
        """Read what may be computations from `at` on."""
        start, stop = at, at + _AHEAD
        text = self._text
        texts: list[str] = []
        places: list[Place] = []
        for found in _CLOSING.finditer(text, start):
            attributes, breaks, head = found.groups()
            last, end = found.span()
            closing = computation_closing(attributes)
            # What is too long or odd has to be read in parts, or line by line.
            if closing is None or last - start > _AHEAD:
                break
            texts.append(text[start:last])
            places.append((start, closing, end, len(breaks or "\n")))
            start = end
            if head is None or start >= stop:
                break
        self._end = max(start, at + 1)
        self._known = deque(zip(places, self._cache.blocks(texts), strict=True))

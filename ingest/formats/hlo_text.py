"""HLO module text: header, stack-frame tables, computations, instructions.

All print forms since 2018; several modules in one text, and log lines between them,
which are counted as unclaimed. Equal instruction lines are parsed once: pass the same
`cache` to every call of a batch.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_attributes import Incomplete
from hlodb.ingest.formats.hlo_blocks import (
    Block,
    BlockCache,
    Head,
    InstructionCache,
    computation_head,
)
from hlodb.ingest.formats.hlo_instruction import parse_instruction
from hlodb.ingest.formats.scan import is_balanced, split_commas
from hlodb.ingest.formats.stack_frames import is_title, parse_frame_tables
from hlodb.ingest.records import (
    Computation,
    Frame,
    HloModule,
    Reject,
    Unclaimed,
)

_END = re.compile(r'\s*\}(?:, execution_thread="((?:[^"\\]++|\\.)*+)")?\s*(?://.*)?$')
# The closing line of a computation, the line below where it is blank, and then the
# next line where it may be a head.
_CLOSING = re.compile(
    r'\n\}(?:, execution_thread="((?:[^"\\\n]++|\\.)*+)")?[^\S\n]*+(?://.*+)?'
    r"(?:\Z|(\n\n?+)(?=(.*\{\n)?))"
)
_OPENING = re.compile(r"\{[^\S\n]*$", re.MULTILINE)
_MAX_HEADER_LINES = 10_000
_MAX_WRAPPED_LINES = 100_000
_SNIPPET = 200
_REREAD_TIMES = 20
_REREAD_CHARACTERS = 1_000_000
"""How often text may be read again, line by line longer, before it counts as broken."""

_AHEAD = 4_000_000
"""Characters that are read ahead at once."""


@dataclass(frozen=True, slots=True)
class ParsedHlo:
    """The modules of one text, what was wrong with it, and how its lines were used."""

    modules: list[HloModule]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]
    lines_total: int


@dataclass(slots=True)
class _ModuleParts:
    """A module while it is being read; `parts` are its instructions so far."""

    name: str = ""
    header: dict[str, str] = field(default_factory=dict)
    computations: list[Computation] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    count: int = 0
    lines: list[int] = field(default_factory=list)
    frames: tuple[Frame, ...] = ()
    first_line: int = 1
    body_line: int = 0

    def is_empty(self) -> bool:
        return not (self.name or self.computations)

    def begin_body(self, line: int) -> None:
        """Note the line of the first computation."""
        self.body_line = self.body_line or line

    def add(self, items: Any, lines: Iterable[int]) -> None:
        self.parts.append(items)
        self.count += len(items)
        self.lines += lines


class _Place(NamedTuple):
    """Where a computation stands that was read ahead, and its execution thread.

    What follows it is at `end`, `closing_lines` below its last instruction.
    """

    start: int
    thread: str | None
    end: int
    closing_lines: int


class _Reader:
    """A place in a text, at the beginning of a line, with what was found so far."""

    def __init__(self, text: str, cache: BlockCache[Any]) -> None:
        self.text = text
        self.cache = cache
        self.at = 0
        self.number = 1
        self.patience = _REREAD_TIMES * len(text) + _REREAD_CHARACTERS
        self.ahead: deque[tuple[_Place, Block[Any] | None]] = deque()
        self.ahead_end = 0
        self.module = _ModuleParts()
        self.modules: list[HloModule] = []
        self.rejects: list[Reject] = []
        self.unclaimed: list[Unclaimed] = []

    def run(self) -> None:
        while self.at < len(self.text):
            line = self._line(self.at)
            if not line or line.isspace():
                self._pass(line)
            elif line.lstrip().startswith("HloModule "):
                self._read_header(line)
            elif head := computation_head(line):
                self._read_computation(head)
            elif is_title(line):
                self._read_frame_tables()
            else:
                self._leave(line)
        self._finish()

    def _line(self, at: int) -> str:
        """Give the line that begins at `at`, without its break."""
        end = self.text.find("\n", at)
        return self.text[at:end] if end >= 0 else self.text[at:]

    def _pass(self, lines: str) -> None:
        """Go to the line behind `lines`."""
        self.at += len(lines) + 1
        self.number += lines.count("\n") + 1

    def _read_frame_tables(self) -> None:
        first = self.number
        text = self.text[self.at : self._end_of_tables()].removesuffix("\n")
        tables = parse_frame_tables(text)
        self.module.frames = tables.frames
        lines = text.split("\n") if tables.odd_lines else []
        for at in tables.odd_lines:
            self.unclaimed.append(Unclaimed(first + at, lines[at][:_SNIPPET]))
        self._pass(text)

    def _end_of_tables(self) -> int:
        """Give where the next module or computation begins, or the end of the text."""
        text = self.text
        module = text.find("\nHloModule ", self.at) + 1 or len(text)
        for opening in _OPENING.finditer(text, self.at, module):
            start = text.rfind("\n", 0, opening.start()) + 1
            if computation_head(text[start : opening.end()]):
                return start
        return module

    def _leave(self, line: str) -> None:
        if not line.lstrip().startswith("//"):
            self.unclaimed.append(Unclaimed(self.number, line[:_SNIPPET]))
        self._pass(line)

    # --- header ---

    def _read_header(self, line: str) -> None:
        self._finish()
        text = self._header_text(line)
        if text is None:
            message = "the module header is not closed"
            self._reject(self.number, line, "header", "open_header", message)
            text = line
        name, header = _parse_header(text)
        self.module = _ModuleParts(name, header, first_line=self.number)
        self._pass(text)

    def _header_text(self, line: str) -> str | None:
        """Give the header that begins with `line`; quoted modules make it span many."""
        text = line
        for _ in range(_MAX_HEADER_LINES):
            following = self.at + len(text) + 1
            self.patience -= len(text)
            if self.patience < 0:
                return None
            if _is_closed(text) and not self._continues(following):
                return text
            if following >= len(self.text):
                return None
            text = self.text[self.at : following] + self._line(following)
        return None

    def _continues(self, at: int) -> bool:
        return at < len(self.text) and self._line(at).lstrip(", ").startswith(
            ("debug_attributes=", "origin_recovery_table=")
        )

    # --- computations ---

    def _read_computation(self, head: Head) -> None:
        if self.at >= self.ahead_end:
            self._look_ahead()
        if self._take_ahead():
            return
        self.module.begin_body(self.number)
        start = self.module.count
        self._pass(self._line(self.at))
        thread = self._read_body()
        self.module.computations.append(
            Computation(head.name, head.is_entry, start, self.module.count, thread)
        )

    def _take_ahead(self) -> bool:
        """Take the plain computations that follow one another from here on."""
        ahead, module, first = self.ahead, self.module, self.at
        while ahead and ahead[0][0].start < first:
            ahead.popleft()
        while ahead and ahead[0][0].start == self.at:
            (_, thread, end, closing_lines), block = ahead.popleft()
            if block is None:  # It has to be read line by line.
                break
            module.begin_body(self.number)
            (name, is_entry), items = block
            start, line = module.count, self.number + 1
            following = line + len(items)
            module.add(items, range(line, following))
            module.computations.append(
                Computation(name, is_entry, start, module.count, thread)
            )
            self.at, self.number = end, following + closing_lines
        return self.at > first

    def _look_ahead(self) -> None:
        """Read the computations from here on at once, where they are plain."""
        text, start = self.text, self.at
        stop = start + _AHEAD
        texts: list[str] = []
        places: list[_Place] = []
        for closing in _CLOSING.finditer(text, start):
            thread, breaks, head = closing.groups()
            texts.append(text[start : closing.start()])
            end = closing.end()
            places.append(_Place(start, thread, end, len(breaks or "\n")))
            start = end
            if head is None or start >= stop:
                break
        self.ahead_end = max(start, self.at + 1)
        self.ahead = deque(zip(places, self.cache.blocks(texts), strict=True))

    def _read_body(self) -> str | None:
        """Read line by line up to the closing brace; give the execution thread."""
        line = ""
        while self.at < len(self.text):
            line = self._line(self.at)
            try:
                items = self.cache.read([line])
            except ParseError as error:
                if end := _END.match(line):
                    self._pass(line)
                    return end.group(1)
                if not self._read_odd_line(line, error):
                    return None
            else:
                self.module.add(items, [self.number])
                self._pass(line)
        self._reject(
            self.number - 1,
            line,
            "computation",
            "truncated",
            "the text ends inside a computation; the rows up to here are kept",
        )
        return None

    def _read_odd_line(self, line: str, error: ParseError) -> bool:
        """Take what is no one-line instruction; False where the computation is over."""
        if not line or line.isspace() or line.lstrip().startswith("//"):
            self._pass(line)
            return True
        if line.startswith("HloModule ") or computation_head(line):
            self._reject(
                self.number, line, "computation", "open_computation",
                "expected `}` before the next computation",
            )  # fmt: skip
            return False
        if isinstance(error, Incomplete) and self._read_wrapped(line):
            return True
        self._reject(
            self.number,
            line,
            "instruction",
            "no_instruction",
            error.message,
            error.column,
        )
        self._pass(line)
        return True

    def _read_wrapped(self, text: str) -> bool:
        """Join lines until they make an instruction."""
        depth_known = _open_brackets(text)
        for _ in range(_MAX_WRAPPED_LINES):
            following = self.at + len(text) + 1
            if following >= len(self.text):
                return False
            line = self._line(following)
            text += "\n" + line
            depth_known += _open_brackets(line)
            self.patience -= len(text) if depth_known <= 0 else len(line)
            if self.patience < 0:
                return False
            if depth_known > 0:
                continue
            try:
                instruction = parse_instruction(text)
            except Incomplete:
                continue
            except ParseError:
                return False
            self.module.add(self.cache.add([instruction]), [self.number])
            self._pass(text)
            return True
        return False

    # --- results ---

    def _finish(self) -> None:
        found = self.module
        if found.is_empty():
            return
        if found.name and not any(c.is_entry for c in found.computations):
            message = "no computation is marked ENTRY: the text may have been cut"
            self._reject(max(self.number - 1, 1), "", "end", "no_entry", message)
        computations = _with_entry(found.computations)
        name = found.name or f"module_{computations[-1].name}"
        self.modules.append(
            HloModule(
                name,
                found.header,
                tuple(computations),
                self.cache.join(found.parts),
                found.lines,
                found.frames,
                found.first_line,
                self.number - 1,
                found.body_line,
            )
        )
        self.module = _ModuleParts(first_line=self.number)

    def _reject(
        self,
        number: int,
        line: str,
        section: str,
        code: str,
        message: str,
        column: int = 1,
    ) -> None:
        snippet = line[:_SNIPPET]
        self.rejects.append(Reject(number, column, section, code, message, snippet))


@lru_cache(maxsize=64)
def _is_closed(header: str) -> bool:
    return is_balanced(header)


@lru_cache(maxsize=64)
def _parse_header(text: str) -> tuple[str, dict[str, str]]:
    """Give name and fields. Cached: passes of a module mostly print equal headers."""
    parts = split_commas(text.strip().removeprefix("HloModule "))
    pairs = [part.partition("=") for part in parts[1:]]
    header = {key.strip(): value for key, _, value in pairs if key}
    return parts[0] if parts else "", header


def _open_brackets(line: str) -> int:
    """Give a quick estimate of brackets left open; strings are not looked into."""
    opened = line.count("{") + line.count("(")
    return opened - line.count("}") - line.count(")")


def _with_entry(computations: list[Computation]) -> list[Computation]:
    """Mark the last computation as entry where none is."""
    if not computations or any(c.is_entry for c in computations):
        return computations
    last = computations[-1]
    return [*computations[:-1], last._replace(is_entry=True)]


def parse_hlo(text: str, cache: BlockCache[Any] | None = None) -> ParsedHlo:
    """Give every module that `text` prints; never raises."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    reader = _Reader(text, InstructionCache() if cache is None else cache)
    reader.run()
    lines_total = text.count("\n") + (text[-1:] not in ("", "\n"))
    return ParsedHlo(reader.modules, reader.rejects, reader.unclaimed, lines_total)

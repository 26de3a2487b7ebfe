"""HLO module text: header, stack-frame tables, computations, instructions.

All print forms since 2018; several modules in one text, and log lines between them,
which are counted as unclaimed. Equal instruction lines are parsed once: pass the same
`cache` to every call of a batch.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_ahead import ReadAhead
from hlodb.ingest.formats.hlo_attributes import Incomplete
from hlodb.ingest.formats.hlo_blocks import (
    BlockCache,
    Head,
    InstructionCache,
    computation_head,
)
from hlodb.ingest.formats.hlo_elements import Elements
from hlodb.ingest.formats.hlo_header import is_closed, parse_header
from hlodb.ingest.formats.hlo_instruction import parse_instruction
from hlodb.ingest.formats.hlo_parts import ModuleParts
from hlodb.ingest.formats.stack_frames import is_title, parse_frame_tables
from hlodb.ingest.records import HloModule, Reject, Unclaimed

_END = re.compile(r'\s*\}(?:, execution_thread="((?:[^"\\]++|\\.)*+)")?\s*(?://.*)?$')
_OPENING = re.compile(r"\{[^\S\n]*$", re.MULTILINE)
_MAX_HEADER_LINES = 10_000
_MAX_WRAPPED_LINES = 100_000
_SNIPPET = 200
_REREAD_TIMES = 20
_REREAD_CHARACTERS = 1_000_000
"""How often text may be read again, line by line longer, before it counts as broken."""


@dataclass(frozen=True, slots=True)
class ParsedHlo:
    """The modules of one text, what was wrong with it, and how its lines were used."""

    modules: list[HloModule]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]
    lines_total: int


class _Reader:
    """A place in a text, at the beginning of a line, with what was found so far."""

    def __init__(self, text: str, cache: BlockCache[Any]) -> None:
        self.text = text
        self.cache = cache
        self.at = 0
        self.number = 1
        self.patience = _REREAD_TIMES * len(text) + _REREAD_CHARACTERS
        self.ahead = ReadAhead(text, cache)
        self.module = ModuleParts()
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
        name, header = parse_header(text)
        self.module = ModuleParts(name, header)
        self._pass(text)

    def _header_text(self, line: str) -> str | None:
        """Give the header that begins with `line`; quoted modules make it span many."""
        text = line
        for _ in range(_MAX_HEADER_LINES):
            following = self.at + len(text) + 1
            self.patience -= len(text)
            if self.patience < 0:
                return None
            if is_closed(text) and not self._continues(following):
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
        if self._take_plain():
            return
        self.module.begin_body(self.number)
        start = self.module.count
        self._pass(self._line(self.at))
        thread = self._read_body()
        self.module.end_computation(head, start, thread)

    def _take_plain(self) -> bool:
        """Take the plain computations that follow one another from here on."""
        module, first = self.module, self.at
        for (_, thread, end, closing_lines), block in self.ahead.plain(first):
            module.begin_body(self.number)
            start, line = module.count, self.number + 1
            module.add(block.items, block.lines_from(line))
            module.end_computation(block.head, start, thread)
            self.at, self.number = end, line + block.line_count + closing_lines
        return self.at > first

    def _read_body(self) -> str | None:
        """Read line by line up to the closing brace; give the execution thread."""
        line = ""
        elements = Elements()
        while self.at < len(self.text):
            line = self._line(self.at)
            self._add_elements(elements, line)
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

    def _add_elements(self, elements: Elements, line: str) -> None:
        """Add tuple elements that an instruction reads; what is none is left out."""
        with suppress(ParseError):
            for added in chain.from_iterable(elements.above([line])):
                self.module.add(self.cache.read([added]), [self.number])

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
        if found.name and not found.has_entry():
            message = "no computation is marked ENTRY: the text may have been cut"
            self._reject(max(self.number - 1, 1), "", "end", "no_entry", message)
        self.modules.append(found.joined(self.cache))
        self.module = ModuleParts()

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


def _open_brackets(line: str) -> int:
    """Give a quick estimate of brackets left open; strings are not looked into."""
    opened = line.count("{") + line.count("(")
    return opened - line.count("}") - line.count(")")


def parse_hlo(text: str, cache: BlockCache[Any] | None = None) -> ParsedHlo:
    """Give every module that `text` prints; never raises."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    reader = _Reader(text, InstructionCache() if cache is None else cache)
    reader.run()
    return ParsedHlo(
        reader.modules, reader.rejects, reader.unclaimed, lines_total=reader.number - 1
    )

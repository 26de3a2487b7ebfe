"""HLO module text: header, stack-frame tables, computations, instructions.

All print forms since 2018; several modules in one text, and log lines between them,
which are counted as unclaimed. Equal instruction lines are parsed once: pass the same
`cache` to every call of a batch.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.attributes import Incomplete
from hlodb.ingest.formats.hlo_text.blocks import (
    NOTHING_SAID,
    Block,
    BlockCache,
    Closing,
    Head,
    InstructionCache,
    Place,
    ReadAhead,
    Soundness,
    computation_closing,
    computation_head,
)
from hlodb.ingest.formats.hlo_text.elements import Elements
from hlodb.ingest.formats.hlo_text.header import (
    entry_parameters,
    is_closed,
    is_title,
    parse_frame_tables,
    parse_header,
)
from hlodb.ingest.formats.hlo_text.instruction import (
    ELEMENT_MARK,
    parse_instruction,
)
from hlodb.ingest.formats.scan import is_balanced
from hlodb.ingest.records import (
    MOST_KEPT,
    Computation,
    Frame,
    HloModule,
    Instruction,
    Packed,
    Reject,
    Tally,
    Unclaimed,
    total,
)

if TYPE_CHECKING:
    from hlodb.ingest.formats.hlo_text.grammar.reading import ReadModule


_Fault = TypeVar("_Fault", Reject, Unclaimed)


def _no_computations() -> Packed[Computation]:
    return Packed(Computation, [[], [], array("i"), array("i"), [], []])


@dataclass(slots=True)
class ModuleParts:
    """What was read of a module; `parts` are its instructions so far, `count` many.

    `is_odd` is True once something is not as XLA prints it, `is_cut` once a computation
    is not closed.
    """

    name: str = ""
    header: dict[str, str] = field(default_factory=dict)
    computations: Packed[Computation] = field(default_factory=_no_computations)
    parts: list[Any] = field(default_factory=list)
    count: int = 0
    lines: array[int] = field(default_factory=lambda: array("i"))
    frames: tuple[Frame, ...] = ()
    body_line: int = 0
    names: set[str] = field(default_factory=set)
    is_odd: bool = False
    is_cut: bool = False

    def is_empty(self) -> bool:
        """Return whether there is no module yet."""
        return not (self.name or len(self.computations))

    def has_entry(self) -> bool:
        """Return whether a computation is marked as entry."""
        return True in self.computations.column("is_entry")

    def begin_body(self, line: int) -> None:
        """Note the line of the first computation."""
        self.body_line = self.body_line or line

    def add(self, items: Any, lines: Iterable[int]) -> None:
        """Add instructions, as a cache keeps them, that begin at `lines`."""
        self.parts.append(items)
        self.count += len(items)
        self.lines.extend(lines)

    def add_blocks(
        self,
        blocks: list[tuple[Place, Block[Any]]],
        line: int,
        cache: BlockCache[Any],
    ) -> int:
        """Add computations, the first of which begins at `line`.

        Returns the line behind them.
        """
        names, start = self.names, self.count
        lines: list[int] = []
        parts: list[Any] = []
        computations: list[tuple[Any, ...]] = []
        is_marked = self.has_entry()
        for (_, closing, _, closing_lines), block in blocks:
            (name, is_entry), items, line_count, places, called = block
            if name in names or (called and not names.issuperset(called)):
                self.is_odd = True
            if is_entry:
                self.is_odd |= is_marked
                is_marked = True
            names.add(name)
            parts.append(items)
            line += 1
            if places is None:
                lines += range(line, line + line_count)
            else:
                lines += [line + place for place in places]
            line += line_count + closing_lines
            stop = start + len(items)
            computations.append((name, is_entry, start, stop, *closing))
            start = stop
        self.parts.append(parts[0] if len(parts) == 1 else cache.whole(parts))
        self.lines.fromlist(lines)
        columns = zip(*computations, strict=True)
        for column, more in zip(self.computations.columns, columns, strict=True):
            column.extend(more)
        self.count = start
        return line

    def end_computation(
        self, head: Head, start: int, closing: Closing, judged: Soundness
    ) -> None:
        """Make the instructions from number `start` on a computation."""
        is_known = head.name in self.names or not self.names.issuperset(judged.called)
        is_second = head.is_entry and self.has_entry()
        self.is_odd |= is_known or is_second or not judged.is_sound
        self.names.add(head.name)
        own = (head.name, head.is_entry, start, self.count, *closing)
        for column, value in zip(self.computations.columns, own, strict=True):
            column.append(value)

    def module(self, instructions: Sequence[Instruction]) -> HloModule:
        """Return the module; without entry its last computation counts as that."""
        if self.computations and not self.has_entry():
            self.computations.column("is_entry")[-1] = True
        return HloModule(
            self.name or f"module_{self.computations[-1].name}",
            self.header,
            self.computations,
            instructions,
            self.lines,
            self.frames,
            self.body_line,
        )


_END = re.compile(
    r'\s*\}((?:, \w+=(?>(?:[^"/]++|"(?>(?:[^"\\]++|\\.)*)"|/(?!/))*))?)\s*(?://.*)?$'
)
_OPENING = re.compile(r"\{[^\S\n]*$", re.MULTILINE)
_BLOCK_COMMENT = re.compile(r"\s*/\*")
_HEADER = re.compile(r"\s*HloModule ")
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")
# A header or an entry over several lines, the rest of a header.
_HLO_WORD = re.compile(r"\s*(?:HloModule|ENTRY)(?!\S)|\s*, *[a-z_]+=")
_HLO_INSTRUCTION = re.compile(
    r"\s*(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s+\(?[a-z][a-z0-9]*\["
)
_NAME_AND_BRACKET = re.compile(
    r"\s*%?[A-Za-z_][\w.\-]*(?>(?:\s++|/\*(?>(?:[^*]++|\*(?!/))*)\*/|//[^\n]*+)*)[({]"
)
_MAX_HEADER_LINES = 10_000
_MAX_WRAPPED_LINES = 100_000
_SNIPPET = 200
_MANY = 1_000_000
"""Characters of a long computation that are read at once."""

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
        self.computation_at = 0
        self.slow_until = 0
        self.patience = _REREAD_TIMES * len(text) + _REREAD_CHARACTERS
        self.ahead = ReadAhead(text, cache)
        self.module = ModuleParts()
        self.began = _Beginning(0, 1, 0, 0)
        self.modules: list[HloModule] = []
        self.rejects: Tally[Reject] = Tally()
        self.unclaimed: Tally[Unclaimed] = Tally()

    def run(self) -> None:
        while True:
            self._read_lines()
            if not self._finish():
                return

    def _read_lines(self) -> None:
        while self.at < len(self.text):
            line = self._line(self.at)
            if not line or line.isspace():
                self._pass(line)
            elif _BLOCK_COMMENT.match(line):
                self._pass_comment(line)
            elif _HEADER.match(line):
                self._read_header(line)
            elif head := computation_head(line):
                self._read_computation(head)
            elif is_title(line):
                self._read_frame_tables()
            else:
                self._leave(line)

    def _line(self, at: int) -> str:
        """Return the line that begins at `at`, without its break."""
        end = self.text.find("\n", at)
        return self.text[at:end] if end >= 0 else self.text[at:]

    def _pass(self, lines: str) -> None:
        """Go to the line behind `lines`."""
        self.at += len(lines) + 1
        self.number += lines.count("\n") + 1

    def _pass_comment(self, line: str) -> None:
        """Go behind a comment; what follows in its last line counts as a line."""
        end = self.text.find("*/", self.at)
        if end < 0:
            self._leave(line)
            return
        self.number += self.text.count("\n", self.at, end)
        self.at = end + 2
        if _REST_OF_LINE.match(self.text, self.at):
            self._pass(self._line(self.at))

    def _begin(self) -> None:
        """Note that a module begins here."""
        if self.module.is_empty() and not self.module.is_odd:
            found = total(self.rejects), total(self.unclaimed)
            self.began = _Beginning(self.at, self.number, *found)

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
        """Return the start of the next module or computation, or the text's end."""
        text, end = self.text, len(self.text)
        for opening in _OPENING.finditer(text, self.at):
            start = text.rfind("\n", 0, opening.start()) + 1
            if computation_head(text[start : opening.end()]):
                end = start
                break
        return text.find("\nHloModule ", self.at, end) + 1 or end

    def _leave(self, line: str) -> None:
        if not line.lstrip().startswith("//"):
            if _is_hlo(self.text, self.at, line):
                self._begin()
                self.module.is_odd = True
            self.unclaimed.append(Unclaimed(self.number, line[:_SNIPPET]))
        self._pass(line)

    # --- header ---

    def _read_header(self, line: str) -> None:
        if self._finish():
            return
        self._begin()
        text = self._header_text(line)
        is_open = text is None
        if text is None:
            message = "the module header is not closed"
            self._reject(self.number, line, "header", "open_header", message)
            text = line
        header = parse_header(text)
        self.module = ModuleParts(header.name, header.fields)
        self.module.is_odd = is_open or not header.is_plain
        self._pass(text)

    def _header_text(self, line: str) -> str | None:
        """Return the header that begins with `line`; quoted modules span many lines."""
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
        self._begin()
        if self._take_plain():
            return
        self.module.begin_body(self.number)
        start, part = self.module.count, len(self.module.parts)
        self.computation_at = self.at
        self._pass(self._line(self.at))
        closing = self._read_body()
        judged = self.cache.judge(self.module.parts[part:])
        self.module.end_computation(head, start, closing, judged)

    def _take_plain(self) -> bool:
        """Take the plain computations that follow one another from here on."""
        found = self.ahead.plain(self.at)
        if not found:
            return False
        self.module.begin_body(self.number)
        self.number = self.module.add_blocks(found, self.number, self.cache)
        self.at = found[-1][0][2]
        return True

    def _read_body(self) -> Closing:
        """Read line by line up to the closing brace; give the closing line."""
        line = ""
        elements = Elements()
        brace = self.text.find("\n}", self.at)
        brace = brace if brace >= 0 else len(self.text)
        is_compact = self.text.find(ELEMENT_MARK, self.at, brace) >= 0
        while self.at < len(self.text):
            if brace - self.at > _MANY and self.at >= self.slow_until:
                elements = self._read_many(elements, is_compact)
                continue
            line = self._line(self.at)
            # A comment at the closing brace reads no elements.
            if not line.startswith("}"):
                self._add_elements(elements, line)
            try:
                items = self.cache.read([line])
            except ParseError as error:
                if closing := _closing(line):
                    self._pass(line)
                    return closing
                if not self._read_odd_line(line, error):
                    return NOTHING_SAID
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
        self._note_cut()
        return NOTHING_SAID

    def _read_many(self, elements: Elements, is_compact: bool) -> Elements:
        """Read instructions of one line each at once, some of a long computation.

        Where any is none, no line is passed: they have to be read one by one. Gives
        the elements that were read up to here.
        """
        end = self.text.rfind("\n", self.at, self.at + _MANY)
        text = self.text[self.at : max(end, self.at)]
        self.slow_until = self.at + _MANY
        tried = elements
        try:
            lines = text.split("\n")
            places: Iterable[int] = range(len(lines))
            if is_compact:
                tried = elements.copy()
                lines, places = tried.put_into(lines)
            items = self.cache.read(lines)
        except ParseError:
            return elements
        self.module.add(items, [self.number + place for place in places])
        self._pass(text)
        self.slow_until = self.at
        return tried

    def _note_cut(self) -> None:
        """Note that a computation is open for certain: XLA would refuse its module."""
        cut = self.text[self.computation_at : self.at]
        self.module.is_cut |= not is_balanced(cut)

    def _add_elements(self, elements: Elements, line: str) -> None:
        """Add tuple elements that an instruction reads; what is none is left out."""
        try:
            for added in chain.from_iterable(elements.above([line])):
                self.module.add(self.cache.read([added]), [self.number])
        except ParseError:
            self.module.is_odd |= ELEMENT_MARK in line

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
            self._note_cut()
            return False
        if isinstance(error, Incomplete) and self._read_wrapped(line):
            return True
        self.module.is_odd = True
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

    def _finish(self) -> bool:
        """End the module; True where a second one without header begins within it."""
        found = self.module
        self.module = ModuleParts()
        if found.is_empty() and not found.is_odd:
            return False
        cache = self.cache
        items = cache.whole(found.parts)
        is_usual = not found.is_odd and cache.has_unique_names(items)
        again = None if found.is_cut or is_usual else self._read_by_grammar()
        if again is not None:
            instructions = cache.sequence(cache.add(again.instructions))
            self.modules.append(replace(again.module, instructions=instructions))
            return self._go_back(again, len(found.computations))
        elif not found.is_empty():
            is_marked = found.has_entry()
            module = found.module(cache.sequence(items))
            is_sound = total(self.rejects) == self.began.rejects
            if is_sound and not is_marked and _is_entry_missing(module):
                message = "no computation is marked ENTRY: the text may have been cut"
                self._reject(max(self.number - 1, 1), "", "end", "no_entry", message)
            self.modules.append(module)
        return False

    def _go_back(self, read: ReadModule, computations: int) -> bool:
        """Go back to what follows a module, where that has computations of its own."""
        if (
            read.following is None
            or read.next_line is None
            or computations <= len(read.module.computations)
        ):
            return False
        start = self.text.rfind("\n", 0, read.following) + 1
        self.patience -= self.at - start
        if self.patience < 0 or self.text[start : read.following].strip():
            return False
        self.at, self.number = start, read.next_line
        _forget_from(self.rejects, self.number)
        _forget_from(self.unclaimed, self.number)
        self.ahead = ReadAhead(self.text, self.cache)
        return True

    def _read_by_grammar(self) -> ReadModule | None:
        """Read the module again that ends here; None where XLA would refuse it."""
        # Loaded for text that XLA did not print as usual.
        from hlodb.ingest.formats.hlo_text.grammar.reading import read_module

        start, line, rejects, unclaimed = self.began
        try:
            found = read_module(self.text, start, min(self.at, len(self.text)), line)
        except ParseError as error:
            self._refuse(error, rejects)
            return None
        # What lines were faulted for that are a module's after all.
        behind = self.number if found.next_line is None else found.next_line
        _forget(self.rejects, rejects, behind)
        _forget(self.unclaimed, unclaimed, behind)
        return found

    def _refuse(self, error: ParseError, first: int) -> None:
        """Reject the place that XLA refuses, unless its line is rejected already."""
        if all(reject.line != error.line for reject in self.rejects[first:]):
            self._reject(
                error.line, error.snippet, "module", "invalid_hlo", error.message,
                error.column,
            )  # fmt: skip

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


def _forget(faults: Tally[_Fault], earlier: int, behind: int) -> None:
    """Drop the faults of a module above line `behind`; `earlier` were before it.

    Those that are only counted stand in the module, as nearly all of its lines do.
    """
    faults.left_out = min(faults.left_out, max(0, earlier - MOST_KEPT))
    faults[earlier:] = [fault for fault in faults[earlier:] if fault.line >= behind]


def _forget_from(faults: Tally[_Fault], line: int) -> None:
    """Drop the faults at `line` and behind it, which is read again.

    Those that are only counted are behind all that are kept.
    """
    kept = [fault for fault in faults if fault.line < line]
    if len(kept) < len(faults):
        faults.left_out = 0
    faults[:] = kept


class _Beginning(NamedTuple):
    """Where a module begins: place, line, and what was wrong before it."""

    at: int
    line: int
    rejects: int
    unclaimed: int


def _closing(line: str) -> Closing | None:
    """Return what a line says that closes a computation; None for another line."""
    found = _END.match(line)
    return computation_closing(found[1].rstrip()) if found else None


def _is_entry_missing(module: HloModule) -> bool:
    """Return whether the last computation is not the entry that the header tells of.

    Text written by hand marks no entry: its last computation is it.
    """
    if not module.computations:
        return True
    expected = entry_parameters(module.header)
    last = module.instructions[module.computations[-1].start :]
    found = sum(instruction.opcode == "parameter" for instruction in last)
    return expected not in (None, found)


def _is_hlo(text: str, at: int, line: str) -> bool:
    """Return whether a line that is no head is the beginning of HLO in another form."""
    if _HLO_WORD.match(line) or _HLO_INSTRUCTION.match(line):
        return True
    if not _NAME_AND_BRACKET.match(text, at):
        return False
    from hlodb.ingest.formats.hlo_text.grammar.parser import begins_computation

    return begins_computation(text, at)


def _open_brackets(line: str) -> int:
    """Return a quick estimate of brackets left open; strings are not looked into."""
    opened = line.count("{") + line.count("(")
    return opened - line.count("}") - line.count(")")


def parse_hlo(text: str, cache: BlockCache[Any] | None = None) -> ParsedHlo:
    """Return every module that `text` prints; never raises."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    reader = _Reader(text, InstructionCache() if cache is None else cache)
    reader.run()
    return ParsedHlo(
        reader.modules, reader.rejects, reader.unclaimed, lines_total=reader.number - 1
    )

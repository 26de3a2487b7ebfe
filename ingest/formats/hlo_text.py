"""HLO module text: header, stack-frame tables, computations, instructions.

All print forms since 2018; several modules in one text, and log lines between them,
which are counted as unclaimed. Equal instruction lines are parsed once: pass the same
`cache` to every call of a batch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_instruction import Incomplete, parse_instruction
from hlodb.ingest.formats.scan import is_balanced, split_commas
from hlodb.ingest.formats.stack_frames import is_title, parse_frame_tables
from hlodb.ingest.records import (
    Computation,
    Frame,
    HloModule,
    Instruction,
    Reject,
    Unclaimed,
)

_COMPUTATION = re.compile(
    r"\s*(ENTRY\s+)?%?([^\s(){}=]+)\s*(?:\(.*\)\s*->\s*.+)?\{\s*$", re.DOTALL
)
_END = re.compile(r'\s*\}(?:, execution_thread="((?:[^"\\]|\\.)*+)")?\s*(?://.*)?$')
_MAX_HEADER_LINES = 10_000
_MAX_WRAPPED_LINES = 100_000
_SNIPPET = 200


class InstructionCache(dict[str, Instruction]):
    """Instructions by their line; a line that is missing is parsed and kept."""

    def __missing__(self, line: str) -> Instruction:
        """Parse `line` and keep it; raises ParseError where it is no instruction."""
        instruction = parse_instruction(line)
        self[line] = instruction
        return instruction


@dataclass(frozen=True, slots=True)
class ParsedHlo:
    """The modules of one text, what was wrong with it, and how its lines were used."""

    modules: list[HloModule]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]
    lines_total: int


@dataclass(slots=True)
class _ModuleParts:
    """A module while it is being read."""

    name: str = ""
    header: dict[str, str] = field(default_factory=dict)
    computations: list[Computation] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    frames: tuple[Frame, ...] = ()
    first_line: int = 1

    def is_empty(self) -> bool:
        return not (self.name or self.computations)


class _Reader:
    """A position in the lines of a text, with what was found so far."""

    def __init__(self, text: str, cache: InstructionCache) -> None:
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.at = 0
        self.cache = cache
        self.module = _ModuleParts()
        self.ends_plainly = True
        self.modules: list[HloModule] = []
        self.rejects: list[Reject] = []
        self.unclaimed: list[Unclaimed] = []

    def run(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line or line.isspace():
                self.at += 1
            elif line.startswith("HloModule ") or line.lstrip().startswith(
                "HloModule "
            ):
                self._read_header()
            elif self._is_computation(line):
                self._read_computation()
            elif is_title(line):
                self._read_frame_tables()
            else:
                self._leave(line)
        self._finish()

    def _read_frame_tables(self) -> None:
        first = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("HloModule ") or self._is_computation(line):
                break
            self.at += 1
        tables = parse_frame_tables("\n".join(self.lines[first : self.at]))
        self.module.frames = tables.frames
        for at in tables.odd_lines:
            line = self.lines[first + at][:_SNIPPET]
            self.unclaimed.append(Unclaimed(first + at + 1, line))

    def _leave(self, line: str) -> None:
        if not line.lstrip().startswith("//"):
            self.unclaimed.append(Unclaimed(self.at + 1, line[:_SNIPPET]))
        self.at += 1

    # --- header ---

    def _read_header(self) -> None:
        self._finish()
        first = self.at
        stop = self._header_stop(first)
        text = "\n".join(self.lines[first:stop]).strip().removeprefix("HloModule ")
        parts = split_commas(text)
        self.module = _ModuleParts(name=parts[0] if parts else "", first_line=first + 1)
        pairs = [part.partition("=") for part in parts[1:]]
        self.module.header = {key.strip(): value for key, _, value in pairs if key}
        self.at = stop

    def _header_stop(self, first: int) -> int:
        """Give the line after the header; quoted modules may make it span many."""
        line = self.lines[first]
        if is_balanced(line) and not self._continues(first + 1):
            return first + 1
        for stop in range(
            first + 2, min(first + _MAX_HEADER_LINES, len(self.lines)) + 1
        ):
            text = "\n".join(self.lines[first:stop])
            if is_balanced(text) and not self._continues(stop):
                return stop
        self._reject(first, "header", "open_header", "the module header is not closed")
        return first + 1

    def _continues(self, index: int) -> bool:
        return index < len(self.lines) and self.lines[index].lstrip(", ").startswith(
            ("debug_attributes=", "origin_recovery_table=")
        )

    # --- computations ---

    def _is_computation(self, line: str) -> bool:
        return line.rstrip().endswith("{") and _COMPUTATION.match(line) is not None

    def _read_computation(self) -> None:
        first = self.at
        match = _COMPUTATION.match(self.lines[first])
        assert match is not None
        start = len(self.module.instructions)
        self.at += 1
        thread = self._read_body()
        computation = Computation(
            match.group(2), match.group(1) is not None, start,
            len(self.module.instructions), thread, first + 1,
        )  # fmt: skip
        self.module.computations.append(computation)

    def _read_body(self) -> str | None:
        """Read instructions up to the closing brace; give the execution thread."""
        if self.ends_plainly:
            self.ends_plainly = self._read_plain_body()
            if self.ends_plainly:
                return None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            try:
                instruction = self.cache[line]
            except ParseError as error:
                if end := _END.match(line):
                    self.at += 1
                    return end.group(1)
                if not self._read_odd_line(line, error):
                    return None
            else:
                self.module.instructions.append(instruction)
                self.at += 1
                self.module.lines.append(self.at)
        self._reject(
            self.at - 1,
            "computation",
            "truncated",
            "the text ends inside a computation; the rows up to here are kept",
        )
        return None

    def _read_plain_body(self) -> bool:
        """Read a body of one-line instructions and a bare brace at once.

        False, with nothing read, where it is not of that kind: then the rest of the
        text probably isn't either.
        """
        first = self.at
        try:
            end = self.lines.index("}", first)
            found = list(map(self.cache.__getitem__, self.lines[first:end]))
        except (ValueError, ParseError):
            return False
        self.module.instructions += found
        self.module.lines += range(first + 1, end + 1)
        self.at = end + 1
        return True

    def _read_odd_line(self, line: str, error: ParseError) -> bool:
        """Take what is no one-line instruction; False where the computation is over."""
        if not line or line.isspace() or line.lstrip().startswith("//"):
            self.at += 1
            return True
        if line.startswith("HloModule ") or self._is_computation(line):
            self._reject(
                self.at, "computation", "open_computation",
                "expected `}` before the next computation",
            )  # fmt: skip
            return False
        if isinstance(error, Incomplete) and self._read_wrapped():
            return True
        self._reject(
            self.at, "instruction", "no_instruction", error.message, error.column
        )
        self.at += 1
        return True

    def _read_wrapped(self) -> bool:
        """Join lines until they make an instruction."""
        first = self.at
        text = self.lines[first]
        stop = min(first + _MAX_WRAPPED_LINES, len(self.lines))
        depth_known = _open_brackets(text)
        for index in range(first + 1, stop):
            line = self.lines[index]
            text += "\n" + line
            depth_known += _open_brackets(line)
            if depth_known > 0:
                continue
            try:
                instruction = parse_instruction(text)
            except Incomplete:
                continue
            except ParseError:
                return False
            self.module.instructions.append(instruction)
            self.module.lines.append(first + 1)
            self.at = index + 1
            return True
        return False

    # --- results ---

    def _finish(self) -> None:
        parts = self.module
        if parts.is_empty():
            return
        computations = _with_entry(parts.computations)
        name = parts.name or f"module_{computations[-1].name}"
        self.modules.append(
            HloModule(
                name,
                parts.header,
                tuple(computations),
                parts.instructions,
                parts.lines,
                parts.frames,
                parts.first_line,
                self.at,
            )
        )
        self.module = _ModuleParts(first_line=self.at + 1)

    def _reject(
        self, index: int, section: str, code: str, message: str, column: int = 1
    ) -> None:
        snippet = self.lines[index][:_SNIPPET] if 0 <= index < len(self.lines) else ""
        self.rejects.append(Reject(index + 1, column, section, code, message, snippet))


def _open_brackets(line: str) -> int:
    """Give a quick estimate of brackets left open; strings are not looked into."""
    opened = line.count("{") + line.count("(")
    return opened - line.count("}") - line.count(")")


def _with_entry(computations: list[Computation]) -> list[Computation]:
    """Mark the last computation as entry where none is."""
    if not computations or any(c.is_entry for c in computations):
        return computations
    last = computations[-1]
    entry = Computation(
        last.name, True, last.start, last.stop, last.execution_thread, last.line
    )
    return [*computations[:-1], entry]


def parse_hlo(text: str, cache: InstructionCache | None = None) -> ParsedHlo:
    """Give every module that `text` prints; never raises."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    reader = _Reader(text, InstructionCache() if cache is None else cache)
    reader.run()
    return ParsedHlo(
        reader.modules, reader.rejects, reader.unclaimed, len(reader.lines)
    )

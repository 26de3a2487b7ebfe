"""Tuple elements that HLO text reads without a line of their own: `%while.3#0#1`.

Since 2026-07 XLA prints most get-tuple-elements in this compact way. Their lines are
put back where XLA's own parser puts them: right above the first line of the computation
that reads them, named by their path, `while.3_0` and `while.3_0_1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.instruction import (
    ELEMENT_MARK,
    operand_texts,
    take_apart,
)
from hlodb.ingest.formats.scan import split_commas, without_comments

_READ = re.compile(
    r"(?<![^\s%,/])([^\s%,(){}\[\]#\"]++)((?>(?:#[0-9]{1,9})+))(?![^\s,/])"
)
_DEEPEST = 16
"""Tuples within tuples so deep are real; each level of made-up ones costs a line."""


class Elements:
    """The tuple elements read in one computation, whose lines are met in order."""

    def __init__(self) -> None:
        self._shapes: dict[str, str] = {}
        self._parts: dict[str, list[str]] = {}
        self._made: set[str] = set()

    def copy(self) -> Elements:
        """Return an equal one, to go on with where a try fails."""
        found = Elements()
        found._shapes = dict(self._shapes)
        found._parts = dict(self._parts)
        found._made = set(self._made)
        return found

    def above(self, lines: Sequence[str]) -> list[list[str]]:
        """Return the lines to be put above each: elements that it is first to read.

        Left out are those of what is no tuple, or has fewer elements. Raises
        ParseError where a line is no instruction, or an instruction has the name that
        an element would get.
        """
        printed = take_apart(lines)
        found = []
        for name, shape, operands in zip(
            printed.names, printed.shapes, operand_texts(printed), strict=True
        ):
            reads = _READ.findall(operands) if ELEMENT_MARK in operands else ()
            found.append([line for read in reads for line in self._added(*read)])
            self._shapes[name] = shape or ""
        return found

    def put_into(self, lines: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return lines with those of elements above them, and where each one stood.

        An element stands where its first reader does, counted from 0. Raises as
        `above` does.
        """
        whole: list[str] = []
        places: list[int] = []
        for at, (added, line) in enumerate(zip(self.above(lines), lines, strict=True)):
            whole += [*added, line]
            places += [at] * (len(added) + 1)
        return whole, places

    def _added(self, of: str, path: str) -> Iterator[str]:
        """Yield the lines of elements on a path as far as there are any, and new."""
        for number in path.split(ELEMENT_MARK, _DEEPEST + 1)[1 : _DEEPEST + 1]:
            name = f"{of}_{number}"
            if name in self._shapes and name not in self._made:
                raise ParseError(f"{name} has a line, and is no element of {of}")
            if name not in self._shapes:
                parts = self._parts.get(of)
                if parts is None:
                    parts = self._parts[of] = _elements(self._shapes.get(of, ""))
                if int(number) >= len(parts):
                    return
                shape = self._shapes[name] = parts[int(number)]
                self._made.add(name)
                yield f"  %{name} = {shape} get-tuple-element(%{of}), index={number}"
            of = name


def _elements(shape: str) -> list[str]:
    """Return the shapes of a tuple's elements, none for an array."""
    shape = without_comments(shape).strip()
    return split_commas(shape[1:-1]) if shape.startswith("(") else []


def with_elements(lines: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return a computation's lines and those of elements, and where each one stood.

    An element stands where its first reader does, counted from 0. Raises ParseError
    where a line is no instruction.
    """
    return Elements().put_into(lines)


def implied_elements(lines: Sequence[int]) -> list[int]:
    """Return the elements that the text has no line for, by instruction.

    They share the line of the instruction below, as nothing else does.
    """
    neighbours = enumerate(pairwise(lines))
    return [at for at, (line, below) in neighbours if line and line == below]

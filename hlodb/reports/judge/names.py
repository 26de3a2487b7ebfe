"""Name programs for people: with a number where several share the name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Final, Protocol

from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Judged, Report
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import space_words

Names = Set[tuple[str, int | None]]
"""Programs and ranks."""


class Named(Protocol):
    """A row about one module of a run."""

    @property
    def program(self) -> str | None:
        """The program's name; None of a gate that is about the whole run."""

    @property
    def rank(self) -> int | None:
        """The rank that compiled it."""

    @property
    def module_number(self) -> int | None:
        """XLA's number of the module."""


RUN: Final = "run"
"""Name in place of a program, where a gate is about the whole run."""


class OfSpace(Protocol):
    """A row about a memory space."""

    @property
    def color(self) -> int | None:
        """XLA's number of the space."""

    @property
    def space(self) -> str | None:
        """Its name in the data."""


_KINDS = {
    "parameter": "arguments",
    "constant": "constants",
    "live_out": "results",
    "temp": "temporaries",
    "thread_local": "thread-local",
}
"""Kinds of allocations in words."""

_PARTS = {
    "retyped": "other type",
    "repadded": "padding",
    "memory_space": "moved to another space",
    "allocation_kind": "moved to another kind",
    "temp": "temporary memory",
    "whole": "all",
}
"""Parts of a difference in words, where their names are none."""

PART_TERMS = {
    **_PARTS,
    "lifetime": "more or less live at the peak",
    "alias": "no longer or newly shared",
}
"""The same for parts of either sign, as definitions name them."""

_TAGS = {
    "packing-only": "the same compiled program, placed otherwise",
    "schedule-only": "the same operations, scheduled or laid out otherwise",
}


def memory(row: OfSpace) -> str:
    """Return the name of the memory space of a row in words."""
    return space_words(row.space, row.color)


def kind_words(kind: str) -> str:
    """Return a kind of allocation in words."""
    return _KINDS.get(kind, kind.replace("_", " "))


def part_words(part: str, delta: int) -> str:
    """Return a part of a difference in words; what lives longer has a sign."""
    if part == "lifetime":
        return f"{'more' if delta > 0 else 'less'} live at the peak"
    if part == "alias":
        return "no longer shared" if delta > 0 else "newly shared"
    return _PARTS.get(part, part)


def tag_words(tag: str) -> str:
    """Return what else to know of a difference in words."""
    return _TAGS.get(tag, tag)


def state_words(state: str) -> str:
    """Return a state in words; a program without a candidate is missing.

    What was added may still be there where memory is back at its level.
    """
    words = {"failed": "missing", "fixed": "back at its level"}
    return words.get(state, state.replace("_", " "))


def place(row: Finding | ProgramRow) -> tuple[object, ...]:
    """Return the identity of a row; hosts may differ in their folders alone.

    Two modules of one place, one missing and one new, differ in their rules.
    """
    return (row.program, row.rank, row.module_number, row.path, row.color, row.rule)


def shared_names(report: Judged | Report) -> Names:
    """Return the names that several modules of one rank have, as PyTorch's all do."""
    modules = {(p.program, p.rank, p.module_number) for p in report.programs}
    counts = Counter((program, rank) for program, rank, _ in modules)
    return {name for name, count in counts.items() if count > 1}


def numbered(row: Named, shared: Names) -> str:
    """Return a program's name, then `#` and its number if that is shared."""
    is_shared = row.program is not None and (row.program, row.rank) in shared
    if is_shared and row.module_number is not None:
        return f"{row.program} #{row.module_number}"
    return row.program or RUN


def called(row: Named, shared: Names) -> str:
    """Return a program's name, with its number if that is shared, then a rank."""
    name = numbered(row, shared)
    return name if row.rank is None else f"{name} rank {row.rank}"

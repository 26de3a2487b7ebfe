"""Name programs for people: with a number where several share the name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Final, Protocol

from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Judged, Report
from hlodb.reports.read.programs import ProgramRow

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


def state_words(state: str) -> str:
    """Return a state in words; a program without a candidate is missing."""
    return "missing" if state == "failed" else state.replace("_", " ")


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

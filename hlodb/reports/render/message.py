"""What a short message about a report says beside its headline and its brief."""

from __future__ import annotations

from typing import NamedTuple

from hlodb.reports.document.escape import middle_cut
from hlodb.reports.judge.names import called, shared_names, state_words
from hlodb.reports.judge.report import Report
from hlodb.text import plain_bytes, signed_bytes, signed_percent

MOST_ROWS = 10
_NAME_CHARACTERS = 60


class MovedRow(NamedTuple):
    """A finding of the candidate, as text."""

    program: str
    space: str
    base: str
    candidate: str
    delta: str
    ratio: str
    state: str


def moved_rows(report: Report) -> tuple[list[MovedRow], int]:
    """Return the moved programs, at most ten rows, and the number of others."""
    moved = [f for f in report.findings if f.scope == "candidate" and f.delta_bytes]
    shared = shared_names(report)
    rows = [
        MovedRow(
            middle_cut(called(f, shared), _NAME_CHARACTERS),
            f.space,
            plain_bytes(f.base_bytes),
            plain_bytes(f.candidate_bytes),
            signed_bytes(f.delta_bytes),
            signed_percent(f.delta_ratio),
            state_words(f.state),
        )
        for f in moved[:MOST_ROWS]
    ]
    return rows, max(0, len(moved) - MOST_ROWS)


def compared(report: Report) -> str:
    """Return the names of the compared runs."""
    c = report.comparison
    base = f" compared with {c.base.name}" if c.base else ""
    return middle_cut(f"{c.candidate.name}{base}", 500)


def link_of(report: Report) -> str | None:
    """Return the address of the whole report, as in hlodb.toml."""
    link = report.settings.get("link", "None")
    return None if link == "None" else link

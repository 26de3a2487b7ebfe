"""Select the findings and series that have pictures."""

from __future__ import annotations

from collections.abc import Iterable

from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import place
from hlodb.reports.read.history import Trend
from hlodb.reports.read.pairs import Drawn, Verdict
from hlodb.reports.read.programs import program_row

MOST_DRAWN = 3
"""Findings that have pictures; the others have tables only."""

MOST_TRENDS = 3


def drawn_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that have pictures: the candidate's first that moved."""
    moved = [f for f in findings if f.scope == "candidate" and f.delta_bytes]
    return moved[:MOST_DRAWN]


def drawn_verdicts(
    verdicts: Iterable[Verdict], findings: Iterable[Finding]
) -> list[Drawn]:
    """Return the verdicts of the findings that have pictures."""
    shown = drawn_findings(findings)
    by_place = {place(program_row(v)): v for v in verdicts} if shown else {}
    return [Drawn(f.id, by_place[place(f)], f.candidate_run) for f in shown]


def drawn_trends(trends: Iterable[Trend], findings: Iterable[Finding]) -> list[Trend]:
    """Return the series to draw: those of findings first, then what moved furthest."""
    places = [_series_of(f) for f in drawn_findings(findings)]
    moved = [t for t in trends if len({p.bytes for p in t.points}) > 1]

    def order(trend: Trend) -> tuple[int, int]:
        place = _series_of(trend)
        first = places.index(place) if place in places else len(places)
        sizes = [point.bytes for point in trend.points]
        return first, min(sizes) - max(sizes)

    return sorted(moved, key=order)[:MOST_TRENDS]


def _series_of(row: Finding | Trend) -> tuple[str, int | None, int | None, int]:
    return row.program, row.rank, row.module_number, row.color

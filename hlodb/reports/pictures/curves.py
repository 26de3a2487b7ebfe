"""Reads how live memory moves over the schedules of the findings that are drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from hlodb.reports.judge.assemble import place_of
from hlodb.reports.model.facts import Module, Profile
from hlodb.reports.model.findings import Curve, Finding, Schedule
from hlodb.reports.model.names import place
from hlodb.reports.read.pairs import Verdict
from hlodb.reports.read.rows import rows
from hlodb.schema.connection import Connection

MOST_DRAWN = 3
"""How many findings have pictures; the others have tables only."""

POINTS = 120
"""Into how many points a schedule is cut at most."""

_Side = tuple[Module | None, Profile | None]


def drawn(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that have pictures: the candidate's first that moved."""
    moved = [f for f in findings if f.scope == "candidate" and f.delta_bytes]
    return moved[:MOST_DRAWN]


def drawn_verdicts(
    verdicts: Iterable[Verdict], findings: Iterable[Finding]
) -> list[tuple[Finding, Verdict]]:
    """Return the findings that have pictures, each with the verdict it tells of."""
    shown = drawn(findings)
    by_place = {place_of(v): v for v in verdicts} if shown else {}
    return [(f, by_place[place(f)]) for f in shown]


def read_curves(
    connection: Connection,
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding],
) -> list[Curve]:
    """Return the curves of the findings that are drawn, where live ranges are known."""
    judged = drawn_verdicts(verdicts, findings)
    if not judged:
        return []
    shown = [f for f, _ in judged]
    sides: list[tuple[_Side, _Side]] = [
        ((v.pair.base, v.base), (v.pair.candidate, v.candidate)) for _, v in judged
    ]
    points, steps = _points(connection, shown, sides)
    return [
        Curve(
            f.id,
            steps[number],
            _schedule(points[number, False], base[1]),
            _schedule(points[number, True], candidate[1]),
        )
        for number, (f, (base, candidate)) in enumerate(zip(shown, sides, strict=True))
        if number in steps
    ]


def _points(
    connection: Connection,
    findings: Iterable[Finding],
    sides: Iterable[tuple[_Side, _Side]],
) -> tuple[dict[tuple[int, bool], list[int]], dict[int, int]]:
    """Return points by number and side of a finding, and by its number their steps."""
    wanted = [
        (number, module.module_id, f.color, is_candidate)
        for number, (f, both) in enumerate(zip(findings, sides, strict=True))
        for is_candidate, (module, _) in enumerate(both)
        if module is not None
    ]
    points: dict[tuple[int, bool], list[int]] = defaultdict(list)
    steps: dict[int, int] = {}
    for number, is_candidate, width, live_bytes in rows(
        connection,
        "curves",
        curves=[number for number, *_ in wanted],
        modules=[module_id for _, module_id, *_ in wanted],
        colors=[color for *_, color, _ in wanted],
        candidates=[bool(is_candidate) for *_, is_candidate in wanted],
        points=POINTS,
    ):
        points[number, is_candidate].append(live_bytes)
        steps[number] = width
    return points, steps


def _schedule(points: list[int], profile: Profile | None) -> Schedule | None:
    if not points or profile is None or profile.live_peak_bytes is None:
        return None
    return Schedule(points, profile.live_peak_bytes, profile.peak_step or 0)

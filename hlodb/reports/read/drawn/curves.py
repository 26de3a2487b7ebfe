"""Read live memory over the schedules of the findings that are drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlodb.reports.read.facts import Profile, rows
from hlodb.reports.read.overview import Overview, Row, rows_of
from hlodb.reports.read.pairs import Drawn
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Schedule:
    """Live bytes over the schedule of one module, in one memory space.

    Each of `points` is the most of a stretch of steps, the last may be a shorter one.
    """

    points: list[int]
    peak_bytes: int
    peak_step: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The schedules of a finding's base and candidate, cut into stretches of `steps`.

    A schedule is null where the program does not use the memory space, or nothing is
    known of when its values live.
    """

    finding_id: str
    steps: int
    base: Schedule | None
    candidate: Schedule | None


POINTS = 120
"""Into how many points a schedule is cut at most."""


def read_curves(connection: Connection, drawn: Sequence[Drawn]) -> list[Curve]:
    """Return the curves of what is drawn, where live ranges are known."""
    if not drawn:
        return []
    points, steps = _points(connection, drawn)
    return [
        Curve(
            each.finding_id,
            steps[number],
            _schedule(points[number, False], each.verdict.base),
            _schedule(points[number, True], each.verdict.candidate),
        )
        for number, each in enumerate(drawn)
        if number in steps
    ]


def _points(
    connection: Connection, drawn: Iterable[Drawn]
) -> tuple[dict[tuple[int, bool], list[int]], dict[int, int]]:
    """Return points by number and side of a finding, and by its number their steps."""
    wanted = [
        (number, module.module_id, each.verdict.color, is_candidate)
        for number, each in enumerate(drawn)
        for is_candidate, module in enumerate(each.verdict.pair[:2])
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


def curve_of(overview: Overview, space: Row, name: str) -> Curve | None:
    """Return the curve of a program's memory space; None without live ranges."""
    stretches = rows_of(overview, "live_timeline", space)
    if space.get("peak_step") is None or len(stretches) < 2:
        return None
    steps = -(-(max(row["to_step"] for row in stretches) + 1) // POINTS)
    schedule = Schedule(
        levels(stretches, steps), space["live_peak_bytes"], space["peak_step"]
    )
    return Curve(name, steps, None, schedule)


def levels(stretches: Sequence[Row], steps: int) -> list[int]:
    """Return the most live bytes of each point of so many steps."""
    last = max(row["to_step"] for row in stretches)
    levels = [0] * (last // steps + 1)
    for row in stretches:
        for point in range(row["from_step"] // steps, row["to_step"] // steps + 1):
            levels[point] = max(levels[point], row["live_bytes"])
    return levels

"""What is drawn of one run: live memory over the schedule, where it is described."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlodb.reports.read.overview import Overview, Row, rows_of

if TYPE_CHECKING:
    from hlodb.reports.read.drawn.curves import Curve

POINTS = 120
"""Into how many points a schedule is cut at most."""


def curve_of(overview: Overview, space: Row, name: str) -> Curve | None:
    """Return the curve of a program's memory space; None without live ranges."""
    from hlodb.reports.read.drawn.curves import Curve, Schedule

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

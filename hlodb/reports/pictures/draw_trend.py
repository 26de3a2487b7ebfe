"""Draw a program's memory over the runs of its series, with the steps marked."""

from __future__ import annotations

from hlodb.reports.document.blocks import FLAT_RATIO, Table, table
from hlodb.reports.document.escape import middle_cut
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import (
    WIDTH,
    Axis,
    across,
    byte_axis,
    element,
    label,
    pixel,
    upward,
)
from hlodb.reports.read.history import Trend
from hlodb.text import plain_bytes, visible

_LEFT, _RIGHT = 64, WIDTH - 12
_FIRST, _LAST = 124, WIDTH - 72
"""Places of the first and the last run, whose names need room on both sides."""
_TOP, _BOTTOM = 40, 144
_LONGEST_NAME = 18


def draw_trend(trend: Trend, who: str, name: str) -> Picture:
    """Draw the series of `who`, a point per run that holds it."""
    first, last = trend.points[0], trend.points[-1]
    shown = [point.bytes for point in trend.points]
    if max(shown) - min(shown) <= FLAT_RATIO * max(shown):
        shown.append(0)
    sizes = byte_axis(shown, _BOTTOM, _TOP)
    drawing = upward(sizes, f"reserved memory ({sizes.unit})", _LEFT, _RIGHT)
    runs = _runs(trend)
    drawing += across(runs, f"runs of the series ({runs.unit})", _BOTTOM, _BOTTOM)
    text = (
        f'{who}: {plain_bytes(first.bytes)} in run "{first.run}",'
        f' {plain_bytes(last.bytes)} in run "{last.run}".'
    )
    return Picture(
        name,
        "Memory over the runs",
        text,
        _BOTTOM + 42,
        drawing + _series(trend, runs, sizes),
        _figures(trend),
    )


def _runs(trend: Trend) -> Axis:
    """Return the axis of the runs, on which the first and the last are named."""
    points = trend.points
    ticks = [
        (1.0, middle_cut(visible(points[0].run), _LONGEST_NAME)),
        (float(len(points)), middle_cut(visible(points[-1].run), _LONGEST_NAME)),
    ]
    return Axis(1, len(points), ticks, "in their order", _FIRST, _LAST)


def _series(trend: Trend, runs: Axis, sizes: Axis) -> str:
    corners, marks = [], []
    for number, point in enumerate(trend.points, 1):
        x, y = runs.at(number), sizes.at(point.bytes)
        corners.append(f"{pixel(x)} {pixel(y)}")
        marks.append(element("circle", cx=x, cy=y, r=3, class_="mark candidate"))
        if point.mark:
            marks.append(label(x, y - 8, point.mark, "step middle"))
    path = element("path", d="M" + "L".join(corners), class_="curve candidate")
    return path + "".join(marks)


def _figures(trend: Trend) -> Table:
    rows = [
        [str(number), point.run, plain_bytes(point.bytes), point.mark]
        for number, point in enumerate(trend.points, 1)
    ]
    return table(["number", "run", "memory", "step"], rows, numeric=(0, 2))

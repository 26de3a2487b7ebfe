"""Draw live memory over the schedule, base and candidate in one picture."""

from __future__ import annotations

from itertools import groupby, zip_longest

from hlodb.reports.document.blocks import Table, table
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import (
    WIDTH,
    Axis,
    across,
    byte_axis,
    count_axis,
    element,
    ending_at,
    label,
    line,
    pixel,
    upward,
)
from hlodb.reports.read.drawn.curves import Curve, Schedule
from hlodb.text import plain_bytes

_LEFT, _RIGHT = 64, WIDTH - 12
_TOP, _BOTTOM = 70, 270
_SIDES = ("base", "candidate")


def draw_curves(curve: Curve, who: str, alone: str = "candidate") -> Picture:
    """Draw the schedules of a finding about `who`, and mark the peak of each.

    `alone` is what the candidate is called where nothing is compared.
    """
    sides = [(n, s) for n in _SIDES if (s := getattr(curve, n)) is not None]
    names = {"base": "base", "candidate": alone}
    longest = max(len(schedule.points) for _, schedule in sides)
    steps = longest * curve.steps
    across_axis = ending_at(steps, count_axis(steps, "step", _LEFT, _RIGHT))
    sizes = [0, *(schedule.peak_bytes for _, schedule in sides)]
    up_axis = byte_axis(sizes, _BOTTOM, _TOP)
    drawing = upward(up_axis, f"live memory ({up_axis.unit})", _LEFT, _RIGHT)
    drawing += across(across_axis, "step of the schedule", _BOTTOM, _BOTTOM)
    for place, (name, schedule) in enumerate(sides):
        drawing += _path(schedule, curve.steps, name, across_axis, up_axis)
        drawing += _key(_LEFT + 330 * place, name, names[name], schedule)
    peaks = ", of ".join(f"the {names[n]} {_at(s)}" for n, s in sides)
    text = f"{who}: live memory over the schedule; peak of {peaks}."
    return Picture(
        f"curve-{curve.finding_id}",
        "Live memory over the schedule",
        text,
        _BOTTOM + 42,
        drawing,
        _figures(curve, alone),
    )


def _at(schedule: Schedule) -> str:
    return f"{plain_bytes(schedule.peak_bytes)} at step {schedule.peak_step:,}"


def _key(x: float, side: str, name: str, schedule: Schedule) -> str:
    sample = line(x, 12, x + 28, 12, f"curve {side}")
    return sample + label(x + 36, 16, f"{name}, peak of {_at(schedule)}")


def _path(s: Schedule, steps: int, name: str, across: Axis, up: Axis) -> str:
    """Draw a level line per point, then a mark at the peak."""
    drawn = [f"M{pixel(across.at(0))} {pixel(up.at(s.points[0]))}"]
    for number, size in enumerate(s.points):
        drawn.append(f"V{pixel(up.at(size))}H{pixel(across.at((number + 1) * steps))}")
    path = element(
        "path",
        d="".join(drawn),
        class_=f"curve {name}",
        data_points=" ".join(map(str, s.points)),
        data_width=str(steps),
        data_from=across.start,
        data_to=across.end,
        data_steps=str(int(across.high)),
    )
    x, y = across.at(s.peak_step + 0.5), up.at(s.peak_bytes)
    mark = line(x, y, x, _BOTTOM, f"peak {name}")
    return path + mark + element("circle", cx=x, cy=y, r=4, class_=f"mark {name}")


def _figures(curve: Curve, alone: str) -> Table:
    """Return the level of every stretch, those that follow with the same as one row."""
    base = curve.base.points if curve.base else []
    candidate = curve.candidate.points if curve.candidate else []
    levels = enumerate(zip_longest(base, candidate))
    rows = []
    for (b, c), found in groupby(levels, key=lambda each: each[1]):
        numbers = [number for number, _ in found]
        first, last = numbers[0] * curve.steps, (numbers[-1] + 1) * curve.steps - 1
        steps = str(first) if first == last else f"{first} to {last}"
        rows.append([steps, plain_bytes(b), plain_bytes(c)])
    header = ["steps", "most live, base", f"most live, {alone}"]
    if curve.base is None and alone != "candidate":
        return table([header[0], header[2]], [[r[0], r[2]] for r in rows], numeric=(1,))
    return table(header, rows, numeric=(1, 2))

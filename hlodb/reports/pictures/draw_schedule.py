"""Draw a program's live memory over its schedule, and what its reserved memory is."""

from __future__ import annotations

from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import element, label, line, pixel
from hlodb.reports.read.drawn.curves import Curve
from hlodb.reports.read.overview import Row
from hlodb.text import plain_bytes

WIDTH = 460
_LEFT, _RIGHT = 2, WIDTH - 2
_TOP, _BOTTOM = 46, 250
_BAR, _THICK = 296, 24
_HIGHEST_LIMIT = 1.6
"""A limit is drawn where it lies at most so many times as high as the peak."""


def draw_schedule(curve: Curve, space: Row, who: str, number: int) -> Picture:
    """Draw the curve of a memory space (a row of `headroom`), with its peak marked."""
    schedule = curve.candidate
    assert schedule is not None
    limit = space["usable_bytes"] or 0
    is_drawn = 0 < limit <= _HIGHEST_LIMIT * schedule.peak_bytes
    is_above = is_drawn and limit >= schedule.peak_bytes
    high = max(limit if is_drawn else 0, schedule.peak_bytes)
    steps = len(schedule.points)

    def x(step: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * step / steps

    def y(size: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * size / high

    path = f"M{pixel(_LEFT)} {pixel(_BOTTOM)}"
    for n, size in enumerate(schedule.points):
        path += f"L{pixel(x(n))} {pixel(y(size))}L{pixel(x(n + 1))} {pixel(y(size))}"
    drawing = element(
        "path", d=f"{path}L{pixel(_RIGHT)} {pixel(_BOTTOM)}Z", class_="area"
    )
    drawing += line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "grid")
    if is_drawn:
        drawing += line(_LEFT, y(limit), _RIGHT, y(limit), "ceiling")
        words = f"limit {plain_bytes(limit)}"
        drawing += label(_RIGHT, y(limit) - 6, words, "tick end")
    at = x(schedule.peak_step / curve.steps + 0.5)
    drawing += element(
        "circle", cx=at, cy=y(schedule.peak_bytes), r=4, class_="mark candidate"
    )
    peak = plain_bytes(schedule.peak_bytes)
    words = f"{peak} live at step {schedule.peak_step:,}"
    side = "end" if at > WIDTH / 2 else ""
    drawing += label(at, _TOP - 28 if is_above else _TOP - 12, words, f"label {side}")
    drawing += label(_LEFT, _BOTTOM + 16, "start of the program", "tick")
    drawing += label(_RIGHT, _BOTTOM + 16, "end", "tick end")
    drawing += _bar(space, limit)
    return Picture(
        f"schedule-{number}",
        "Live memory over the schedule",
        f"{who}: {words}; {plain_bytes(space['reserved_bytes'])} are reserved.",
        _BAR + _THICK + 42,
        drawing,
        None,
        WIDTH,
    )


def _bar(space: Row, limit: int) -> str:
    """Draw what of the reserved bytes is live at the peak, and what is left."""
    reserved, live = int(space["reserved_bytes"]), int(space["live_peak_bytes"])
    whole = max(limit, reserved)

    def x(size: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * size / whole

    parts = [("room", 0, whole), ("reserved", 0, reserved), ("candidate", 0, live)]
    drawn = "".join(
        element("rect", x=x(a), y=_BAR, width=x(b) - x(a), height=_THICK, class_=kind)
        for kind, a, b in parts
    )
    text = f"{plain_bytes(reserved)} reserved, {plain_bytes(live)} live at the peak"
    drawn += label(_LEFT, _BAR - 8, text)
    below = _BAR + _THICK + 18
    gaps = f"{plain_bytes(reserved - live)} reserved, not live then"
    drawn += label(_LEFT, below, gaps, "tick")
    if limit > reserved:
        drawn += label(
            _RIGHT, below, f"{plain_bytes(limit - reserved)} left", "tick end"
        )
    elif limit:
        words = f"{plain_bytes(reserved - limit)} above the limit"
        drawn += line(x(limit), _BAR - 4, x(limit), _BAR + _THICK + 4, "limit")
        drawn += label(_RIGHT, below, words, "tick end")
    return drawn

"""Draws where values lie in an arena over the schedule, base above candidate.

Across are the steps, upward the bytes of the arena, alike in both maps: what is empty
is memory that packing loses. What only one side has is hatched; what was resized is of
full colour, and of a pale one what lives at the peak of one side only.
"""

from __future__ import annotations

from typing import NamedTuple

from hlodb.reports.model.arenas import (
    STATUSES,
    Arena,
    ArenaMap,
    MappedValue,
    PlacedValue,
)
from hlodb.reports.outline.escape import html
from hlodb.reports.pictures.arena_words import figures_of, head, sentence, value_text
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
    upward,
)

_LEFT, _RIGHT = 64, WIDTH - 12
_KEYS = 24
"""Height of the row that says which colour is what."""

_ABOVE, _MAP, _BELOW = 58, 190, 46
"""Heights of what stands above a map, of the map, and of what stands below it."""

_HATCHED = {
    "new": "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "gone": "M-2 6L2 10M0 0L8 8M6 -2L10 2",
}
_STRIPE = 8
_LETTER = 7
"""About how wide a letter of a key is."""

_LEAST = 1
"""A value is drawn at least this wide and high, so that it can be seen."""


class _Side(NamedTuple):
    """One map: its arena, and what lies in it."""

    name: str
    arena: Arena
    placed: list[tuple[MappedValue, PlacedValue]]


def draw_arenas(arenas: ArenaMap, who: str) -> Picture:
    """Draw the maps of a finding about `who`."""
    sides = _sides(arenas)
    steps = max(side.arena.last_step for side in sides) + 1
    size = max(side.arena.size_bytes for side in sides)
    x = ending_at(steps, count_axis(steps, "step", _LEFT, _RIGHT))
    drawing = _patterns(arenas) + _keys(arenas)
    for number, side in enumerate(sides):
        top = _KEYS + number * (_ABOVE + _MAP + _BELOW) + _ABOVE
        y = ending_at(size, byte_axis([0, size], top + _MAP, top))
        drawing += _map(side, x, y, arenas.finding_id)
    return Picture(
        f"arenas-{arenas.finding_id}",
        "Where values lie in the arena",
        sentence(arenas, who),
        _KEYS + len(sides) * (_ABOVE + _MAP + _BELOW),
        drawing,
        figures_of(arenas),
    )


def _sides(arenas: ArenaMap) -> list[_Side]:
    base = [(v, v.base) for v in arenas.values if v.base is not None]
    candidate = [(v, v.candidate) for v in arenas.values if v.candidate is not None]
    both = (("base", arenas.base, base), ("candidate", arenas.candidate, candidate))
    return [_Side(name, arena, placed) for name, arena, placed in both if arena]


def _patterns(arenas: ArenaMap) -> str:
    """Return the hatches; those of a page have ids of their own."""
    return "".join(
        element(
            "pattern",
            element("path", d=stripes, class_=f"stripe {status}"),
            id=_pattern(status, arenas.finding_id),
            patternUnits="userSpaceOnUse",
            width=_STRIPE,
            height=_STRIPE,
        )
        for status, stripes in _HATCHED.items()
    )


def _pattern(status: str, finding_id: str) -> str:
    return f"{status}-{finding_id}"


def _kind(status: str) -> str:
    """Return the class of the style sheet."""
    return status.replace(" ", "-")


def _keys(arenas: ArenaMap) -> str:
    there = {value.status for value in arenas.values}
    shown = [status for status in STATUSES if status in there]
    drawn, x = [], float(_LEFT)
    for status in shown:
        drawn.append(_rectangle(x, 4, 22, 14, status, arenas.finding_id))
        drawn.append(label(x + 28, 16, status))
        x += 44 + _LETTER * len(status)
    return "".join(drawn)


def _rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    status: str,
    finding_id: str,
    content: str = "",
) -> str:
    is_hatched = status in _HATCHED
    fill = {"fill": f"url(#{_pattern(status, finding_id)})"} if is_hatched else {}
    place = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", content, **place, **fill, class_=f"value {_kind(status)}")


def _map(side: _Side, x: Axis, y: Axis, finding_id: str) -> str:
    arena = side.arena
    top, bottom = y.end, y.start
    drawing = label(_LEFT, top - 40, head(side.name, arena))
    drawing += upward(y, f"offset in the arena ({y.unit})", _LEFT, _RIGHT)
    drawing += across(x, "step of the schedule", bottom, bottom)
    drawing += element(
        "rect",
        x=x.at(0),
        y=y.at(arena.size_bytes),
        width=x.at(arena.last_step + 1) - x.at(0),
        height=bottom - y.at(arena.size_bytes),
        class_="room",
    )
    drawing += "".join(
        _value(value, placed, x, y, finding_id)
        for value, placed in reversed(side.placed)
    )
    peak = x.at(arena.peak_step + 0.5)
    return drawing + line(peak, top - 6, peak, bottom, "moment")


def _value(
    value: MappedValue, placed: PlacedValue, x: Axis, y: Axis, finding_id: str
) -> str:
    """Draw a value as a rectangle that tells its name, bytes and steps."""
    left, right = x.at(placed.start_step), x.at(placed.end_step + 1)
    low = y.at(placed.offset_bytes)
    high = y.at(placed.offset_bytes + placed.size_bytes)
    width, height = max(right - left, _LEAST), max(low - high, _LEAST)
    title = element("title", html(value_text(value, placed)))
    return _rectangle(left, high, width, height, value.status, finding_id, title)

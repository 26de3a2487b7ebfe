"""Draws where values lie in an arena over the schedule, base above candidate.

Across are the steps, upward the bytes of the arena, alike in both maps: what is empty
is memory that packing loses. What only one side has is hatched; what was resized is of
full colour, and of a pale one what lives at the peak of one side only.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from hlodb.reports.model.arenas import (
    ALONE,
    STATUSES,
    Arena,
    ArenaMap,
    MappedValue,
    Owner,
    PlacedValue,
    ValueFacts,
)
from hlodb.reports.outline.escape import html, middle_cut
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
    pixel,
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

_LONGEST_NAME = 200


class _Side(NamedTuple):
    """One map: its arena, what lies in it, and its program."""

    name: str
    arena: Arena
    placed: list[tuple[MappedValue, PlacedValue]]
    owner: Owner | None


def draw_arenas(arenas: ArenaMap, who: str) -> Picture:
    """Draw the maps of a finding about `who`."""
    sides = _sides(arenas)
    steps = max(side.arena.last_step for side in sides) + 1
    size = max(side.arena.size_bytes for side in sides)
    x = ending_at(steps, count_axis(steps, "step", _LEFT, _RIGHT))
    drawing = "" if arenas.is_alone else _patterns(arenas) + _keys(arenas)
    for number, side in enumerate(sides):
        top = _KEYS + number * (_ABOVE + _MAP + _BELOW) + _ABOVE
        y = ending_at(size, byte_axis([0, size], top + _MAP, top))
        drawing += _map(side, x, y, arenas)
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
    alone = "program" if arenas.is_alone else "candidate"
    both = (
        ("base", arenas.base, base, arenas.base_owner),
        (alone, arenas.candidate, candidate, arenas.candidate_owner),
    )
    return [
        _Side(name, arena, placed, owner)
        for name, arena, placed, owner in both
        if arena is not None
    ]


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
    shown = [status for status in STATUSES if status in there and status != ALONE]
    drawn, x = [], float(_LEFT)
    for status in shown:
        sample = element("rect", x=x, y=4, width=22, height=14)
        drawn.append(_group(status, arenas.finding_id, sample))
        drawn.append(label(x + 28, 16, status))
        x += 44 + _LETTER * len(status)
    return element("g", "".join(drawn), class_="keys") if drawn else ""


def _group(status: str, finding_id: str, content: str) -> str:
    """Return values of one status: what they share is written once."""
    is_hatched = status in _HATCHED
    fill = {"fill": f"url(#{_pattern(status, finding_id)})"} if is_hatched else {}
    return element("g", content, **fill, class_=f"value {_kind(status)}")


def _map(side: _Side, x: Axis, y: Axis, arenas: ArenaMap) -> str:
    arena = side.arena
    top, bottom = y.end, y.start
    drawing = label(_LEFT, top - 40, head(side.name, arena))
    drawing += upward(y, f"offset in the arena ({y.unit})", _LEFT, _RIGHT)
    drawing += across(x, "step of the schedule", bottom, bottom)
    content = element(
        "rect",
        x=x.at(0),
        y=y.at(arena.size_bytes),
        width=x.at(arena.last_step + 1) - x.at(0),
        height=bottom - y.at(arena.size_bytes),
        class_="room",
    )
    for status, found in groupby(
        reversed(side.placed), key=lambda each: each[0].status
    ):
        drawn = "".join(_value(value, placed, x, y) for value, placed in found)
        content += _group(status, arenas.finding_id, drawn)
    peak = x.at(arena.peak_step + 0.5)
    content += line(peak, top, peak, bottom, "moment")
    owner = side.owner
    return drawing + element(
        "svg",
        content,
        x=_LEFT,
        y=top,
        width=_RIGHT - _LEFT,
        height=bottom - top,
        viewBox=f"{_LEFT} {pixel(top)} {_RIGHT - _LEFT} {pixel(bottom - top)}",
        preserveAspectRatio="none",
        class_="map",
        data_steps=str(int(x.high)),
        data_bytes=str(int(y.high)),
        **({"data_run": owner.run, "data_program": owner.program} if owner else {}),
    )


def _value(value: MappedValue, placed: PlacedValue, x: Axis, y: Axis) -> str:
    """Draw a value as a rectangle that tells its name, bytes and steps."""
    left, right = x.at(placed.start_step), x.at(placed.end_step + 1)
    low = y.at(placed.offset_bytes)
    high = y.at(placed.offset_bytes + placed.size_bytes)
    width, height = max(right - left, _LEAST), max(low - high, _LEAST)
    return element(
        "rect",
        element("title", html(value_text(value, placed))),
        x=left,
        y=high,
        width=width,
        height=height,
        data_name=middle_cut(placed.instruction or "", _LONGEST_NAME),
        data_bytes=str(placed.size_bytes),
        **_facts(placed.facts),
    )


def _facts(facts: ValueFacts | None) -> dict[str, str]:
    """Return what values can be coloured by."""
    if facts is None:
        return {}
    known = (
        ("data_role", facts.role),
        ("data_line", facts.line),
        ("data_type", facts.element_type),
    )
    return {name: text for name, text in known if text}

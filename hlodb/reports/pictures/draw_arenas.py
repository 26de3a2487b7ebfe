"""Draw where values lie in memory over the schedule, base above candidate.

Across are the steps, upward the bytes, alike in both maps: the arena with its values,
where what is empty is memory that packing loses, and above it results, arguments and
constants, so that the height is all that the program reserves. What only one side has
is hatched; what was resized is of full colour, and of a pale one what lives at the peak
of one side only.

Words and tables say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from hlodb.reports.document.blocks import Table, table
from hlodb.reports.document.escape import html, middle_cut
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
from hlodb.reports.read.drawn.arenas import (
    ALONE,
    NOW,
    STATUSES,
    Arena,
    ArenaMap,
    Beside,
    MappedValue,
    Owner,
    PlacedValue,
    ValueFacts,
)
from hlodb.text import counted, few, plain_bytes

MOST_ROWS = 100
_LONGEST_NAME = 80

_KINDS = {
    "temp": "other arenas",
    "live_out": "results",
    "parameter": "arguments",
    "constant": "constants",
    "thread_local": "memory of threads",
}
"""Words for kinds of allocations, in the order in which they lie above the arena."""

_MOST_KINDS = 3
"""As many as a line has room for."""


def sentence(arenas: ArenaMap, who: str) -> str:
    """Return a sentence on how full the arenas of a finding are."""
    alone = "" if arenas.is_alone else "candidate "
    both = (("base ", arenas.base), (alone, arenas.candidate))
    free = ", ".join(_state(name, arena) for name, arena in both if arena is not None)
    return f"{who}: free of the arena at its fullest step: {free}."


def news(arenas: ArenaMap) -> str:
    """Return sentences on what changed, and on what is not drawn."""
    parts = (
        _changes(arenas),
        _largest_of(arenas),
        _all_above(arenas),
        _left_out(arenas),
    )
    return " ".join(part for part in parts if part)


def head(name: str, arena: Arena) -> str:
    """Return `base: arena of 4.00 MiB, 12.5 % free at step 17 (dashed)`."""
    size = plain_bytes(arena.size_bytes)
    free = f"{_free(arena)} free at step {arena.peak_step:,} (dashed)"
    return f"{name}: arena of {size}, {free}"


def above(arena: Arena) -> str:
    """Return `arguments 1.00 MiB, results 8 B`; nothing where nothing is."""
    sizes: Counter[str] = Counter()
    for each in arena.beside:
        sizes[_KINDS[each.kind]] += each.size_bytes
    kinds = [f"{kind} {plain_bytes(size)}" for kind, size in sizes.most_common()]
    return few(kinds, _MOST_KINDS)


def value_text(value: MappedValue, placed: PlacedValue) -> str:
    """Return `larger by 2.00 MiB: fusion.3, 4.00 MiB at 1.00 MiB, step 12 to 40; …`.

    What follows are shape, role, source line and readers, as far as they are known.
    """
    base, candidate = value.base, value.candidate
    delta = candidate.size_bytes - base.size_bytes if base and candidate else 0
    change = f" by {plain_bytes(abs(delta))}" if delta else ""
    fate = "" if value.status == ALONE else f"{value.status}{change}: "
    return "; ".join([f"{fate}{words_of(placed)}", *_described(placed.facts)])


def _described(facts: ValueFacts | None) -> Iterator[str]:
    if facts is None:
        return
    if facts.shape:
        yield _cut(facts.shape)
    if facts.role:
        yield facts.role.replace("_", " ")
    if facts.line:
        yield f"{'first read' if facts.is_read else 'defined'} at {facts.line}"
    if facts.readers:
        rest = facts.reader_count - len(facts.readers)
        more = f" and {rest:,} more" if rest else ""
        yield f"read by {', '.join(map(_cut, facts.readers))}{more}"


def _cut(name: str) -> str:
    """Return a name or shape, without its middle where it is very long."""
    return middle_cut(name, _LONGEST_NAME)


def beside_text(beside: Beside) -> str:
    """Return `results: fusion.3, 4.00 MiB, from step 12; …`, or `arguments: 7 of …`.

    What follows are shape, source line and readers, as far as they are known.
    """
    size = plain_bytes(beside.size_bytes)
    if beside.instruction is None:
        which = f"{beside.count:,} smaller, {size}" if beside.count > 1 else size
    else:
        which = f"{_cut(beside.instruction)}, {size}"
        if beside.start_step:
            which += f", from step {beside.start_step:,}"
    return "; ".join([f"{_KINDS[beside.kind]}: {which}", *_described(beside.facts)])


def words_of(placed: PlacedValue) -> str:
    """Return `fusion.3, 4.00 MiB at 1.00 MiB, step 12 to 40`."""
    place = f"{plain_bytes(placed.size_bytes)} at {plain_bytes(placed.offset_bytes)}"
    return f"{_name(placed)}, {place}, step {_steps(placed)}"


def figures_of(arenas: ArenaMap) -> Table:
    """Return the place of every value on both sides; what one lacks is left open."""
    if arenas.is_alone:
        cells = [_cells(value.candidate) for value in arenas.values]
        header = ["value", "bytes", "at byte", "steps"]
        return table(header, cells, MOST_ROWS, numeric=(1, 2, 3))
    rows = [[v.status, *_cells(v.base), *_cells(v.candidate)] for v in arenas.values]
    side = ["bytes", "at byte", "steps"]
    header = ["", "base", *side, "candidate", *side]
    return table(header, rows, MOST_ROWS, numeric=(2, 3, 4, 6, 7, 8))


def _state(name: str, arena: Arena) -> str:
    return f"{name}{_free(arena)} of {plain_bytes(arena.size_bytes)}"


def _free(arena: Arena) -> str:
    share = (arena.size_bytes - arena.live_bytes) / arena.size_bytes
    return f"{100 * share:.1f} %"


def _changes(arenas: ArenaMap) -> str:
    """Return the counts of values by status, how they are known, and the largest."""
    counts = Counter(value.status for value in arenas.values)
    if arenas.base is None or arenas.candidate is None:
        return ""
    kinds = ", ".join(f"{counts[s]:,} {s}" for s in STATUSES if counts[s])
    text = f"Values drawn: {kinds}"
    for status in ("new", NOW):
        now = [v.candidate for v in arenas.values if v.status == status and v.candidate]
        if now:
            text += f"; the largest {status} is {words_of(max(now, key=_size))}"
    how = "by instruction, operation, framework path or shape"
    return f"{text}. Base and candidate are matched {how}."


def _largest_of(arenas: ArenaMap) -> str:
    """Return which arena is drawn where a side has several."""
    both = (("base", arenas.base), ("candidate", arenas.candidate))
    counts = [
        f"{arena.arena_count} of the {name}"
        for name, arena in both
        if arena is not None and arena.arena_count > 1
    ]
    return f"Drawn is the largest arena of {' and of '.join(counts)}." if counts else ""


def _all_above(arenas: ArenaMap) -> str:
    """Return what lies above the arena of each side."""
    alone = "" if arenas.is_alone else " of the candidate"
    both = ((" of the base", arenas.base), (alone, arenas.candidate))
    lying = [
        f"Above the arena{name} lie {kinds}."
        for name, arena in both
        if arena is not None and (kinds := above(arena))
    ]
    return " ".join(lying)


def _left_out(arenas: ArenaMap) -> str:
    """Return how many values are too small to be drawn, and their share."""
    base = [v.base for v in arenas.values if v.base is not None]
    candidate = [v.candidate for v in arenas.values if v.candidate is not None]
    said = []
    for name, arena, drawn in (
        ("base", arenas.base, base),
        ("candidate", arenas.candidate, candidate),
    ):
        if arena is not None and arena.value_count > len(drawn):
            count = counted(arena.value_count - len(drawn), "smaller value")
            share = 1 - sum(placed.byte_steps for placed in drawn) / arena.byte_steps
            part = f"{100 * share:.2f} % of its bytes times steps"
            said.append(f"{count} of the {name} ({part})")
    return f"Left out are {' and '.join(said)}." if said else ""


def _cells(placed: PlacedValue | None) -> list[str]:
    if placed is None:
        return [""] * 4
    sizes = plain_bytes(placed.size_bytes), plain_bytes(placed.offset_bytes)
    return [_name(placed), *sizes, _steps(placed)]


def _name(placed: PlacedValue) -> str:
    # Names may be of any length, and a page has hundreds of them twice.
    return middle_cut(placed.instruction or "-", _LONGEST_NAME)


def _steps(placed: PlacedValue) -> str:
    return f"{placed.start_step:,} to {placed.end_step:,}"


def _size(placed: PlacedValue) -> int:
    return placed.size_bytes


_LEFT, _RIGHT = 64, WIDTH - 12
_KEYS = 24
"""Height of the row of keys."""

_ABOVE, _MAP, _BELOW = 76, 230, 46
"""Heights of the head of a map, of the map, and of its axis."""

_HATCHED = {
    "new": "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "gone": "M-2 6L2 10M0 0L8 8M6 -2L10 2",
}
_STRIPE = 8
_LETTER = 7
"""About how wide a letter of a key is."""

BESIDE = "beside"
"""The class of what lies beside the arena."""

_LEAST = 1
"""A value is drawn at least this wide and high, so that it can be seen."""

_LONGEST_DATA = 200


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
    size = max(side.arena.reserved_bytes for side in sides)
    x = ending_at(steps, count_axis(steps, "step", _LEFT, _RIGHT))
    drawing = "" if arenas.is_alone else _patterns(arenas) + _keys(arenas)
    for number, side in enumerate(sides):
        top = _KEYS + number * (_ABOVE + _MAP + _BELOW) + _ABOVE
        y = ending_at(size, byte_axis([0, size], top + _MAP, top))
        drawing += _map(side, x, y, arenas)
    return Picture(
        f"arenas-{arenas.finding_id}",
        "Where values lie in memory",
        sentence(arenas, who),
        _KEYS + len(sides) * (_ABOVE + _MAP + _BELOW),
        drawing,
        figures_of(arenas),
        more=news(arenas),
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
    drawing = label(_LEFT, top - 58, head(side.name, arena))
    if kinds := above(arena):
        drawing += label(_LEFT, top - 40, f"above it: {kinds}")
    drawing += upward(y, f"memory ({y.unit})", _LEFT, _RIGHT)
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
    if arena.beside:
        content += _group(BESIDE, arenas.finding_id, _drawn_beside(arena, x, y))
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
    """Draw a value as a rectangle with name, bytes and steps."""
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
        data_name=middle_cut(placed.instruction or "", _LONGEST_DATA),
        data_bytes=str(placed.size_bytes),
        **_facts(placed.facts),
    )


def _drawn_beside(arena: Arena, x: Axis, y: Axis) -> str:
    """Draw what lies beside the arena above it, the largest of a kind lowest."""
    order = list(_KINDS).index
    drawn, low = "", arena.size_bytes
    for each in sorted(arena.beside, key=lambda b: (order(b.kind), -b.size_bytes)):
        left, right = x.at(each.start_step), x.at(arena.last_step + 1)
        bottom, top = y.at(low), y.at(low + each.size_bytes)
        drawn += element(
            "rect",
            element("title", html(beside_text(each))),
            x=left,
            y=top,
            width=max(right - left, _LEAST),
            height=max(bottom - top, _LEAST),
            data_name=middle_cut(each.instruction or "", _LONGEST_DATA),
            data_bytes=str(each.size_bytes),
            **_facts(each.facts),
        )
        low += each.size_bytes
    return drawn


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

"""Draw what the live peak holds: role, layer, source line, array, from left to right.

Down are bytes: the whole height is the peak. Parts too low to be seen are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hlodb.reports.document.blocks import Table, table
from hlodb.reports.document.escape import html, middle_cut
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import WIDTH, element, label
from hlodb.reports.read.drawn.peak_parts import (
    Part,
    PeakParts,
    depth,
    without_layers,
)
from hlodb.text import counted, plain_bytes, plain_percent

NARROW = 360
"""Width of the drawing for phones, which leaves the last level out."""

_COLUMNS = {3: (0.24, 0.34, 0.42), 4: (0.2, 0.22, 0.25, 0.33)}
_NARROW_COLUMNS = (0.42, 0.58)
_LEVELS = ("role", "layer", "source line", "array")
_HEIGHT = {WIDTH: 372, NARROW: 250}
_LEAST, _LEAST_ARRAY = 4, 14
"""Heights below which parts are one; arrays have their names in them."""

_LABELLED = 14
_TWO_LINES = 32
_LETTER = 7
_MOST_ROWS = 100


class _Placed(NamedTuple):
    part: Part
    depth: int
    top: float
    height: float
    path: tuple[str, ...]


def draw_peak(parts: PeakParts, who: str, number: int, width: int = WIDTH) -> Picture:
    """Draw the parts of the peak of `who`; parts are not empty."""
    whole = sum(part.bytes for part in parts)
    height = _HEIGHT[width]
    levels: Sequence[str]
    levels = _LEVELS if depth(parts) == len(_LEVELS) else (_LEVELS[0], *_LEVELS[2:])
    columns = _COLUMNS[len(levels)]
    if width == NARROW:
        parts, columns = without_layers(parts), _NARROW_COLUMNS
        levels = (_LEVELS[0], _LEVELS[2])
    placed = _placed(parts, 0, 0, height / whole, len(columns))
    drawing = "".join(_rectangle(each, columns, width, whole) for each in placed)
    name = f"parts-{number}" if width == WIDTH else f"parts-{number}-narrow"
    named = ", ".join(levels)
    text = f"{who}: the live peak of {plain_bytes(whole)} by {named}."
    figures = _figures(parts, whole, levels) if width == WIDTH else None
    return Picture(
        name,
        f"What holds the peak: {named}",
        text,
        height,
        drawing,
        figures,
        width,
    )


def _placed(
    parts: Sequence[Part],
    depth: int,
    top: float,
    scale: float,
    levels: int,
    path: tuple[str, ...] = (),
) -> Iterator[_Placed]:
    if depth == levels:
        return
    is_last = depth == levels - 1
    for part in _seen(parts, (_LEAST_ARRAY if is_last else _LEAST) / scale):
        whole = (*path, part.name)
        yield _Placed(part, depth, top, part.bytes * scale, whole)
        yield from _placed(part.children, depth + 1, top, scale, levels, whole)
        top += part.bytes * scale


def _seen(parts: Sequence[Part], least: float) -> list[Part]:
    """Return parts of at least so many bytes; the others are one."""
    seen = [part for part in parts if part.bytes >= least]
    few = parts[len(seen) :]
    if len(few) < 2:
        return list(parts)
    name = counted(len(few), "other")
    rest = Part(name, name, few[0].role, sum(part.bytes for part in few))
    return [*seen, rest]


def _rectangle(
    placed: _Placed, columns: Sequence[float], width: int, whole: int
) -> str:
    part, depth = placed.part, placed.depth
    left = width * sum(columns[:depth])
    # What has no parts of its own reaches to the end.
    wide = width * (columns[depth] if part.children else sum(columns[depth:]))
    share = f"{plain_bytes(part.bytes)}, {plain_percent(part.bytes / whole)}"
    title = f"{' → '.join(middle_cut(name, 120) for name in placed.path)}: {share}"
    drawn = element(
        "rect",
        element("title", html(title)),
        x=left,
        y=placed.top,
        width=wide - 2,
        height=max(placed.height - 1, 1),
        class_=f"role part {part.role} depth-{depth}",
    )
    if placed.height < _LABELLED:
        return drawn
    letters = int((wide - 16) / _LETTER)
    words = f"{part.label}  {plain_bytes(part.bytes)}"
    lines = [words if len(words) <= letters else part.label]
    if placed.height >= _TWO_LINES:
        lines = [part.label, share.replace(", ", " · ")]
    y = placed.top + min(14.0, placed.height / 2 + 4)
    return drawn + "".join(
        label(left + 7, y + 15 * n, middle_cut(text, letters), "label inside")
        for n, text in enumerate(lines)
    )


def _figures(parts: PeakParts, whole: int, levels: Sequence[str]) -> Table:
    rows = [
        (*names, plain_bytes(size), plain_percent(size / whole))
        for names, size in sorted(_leaves(parts), key=lambda leaf: -leaf[1])
    ]
    count = len(levels)
    header = (*levels, "bytes", "share")
    return table(header, rows, _MOST_ROWS, numeric=(count, count + 1))


def _leaves(
    parts: Iterable[Part], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], int]]:
    for part in parts:
        whole = (*path, part.name)
        if part.children:
            yield from _leaves(part.children, whole)
        else:
            yield whole, part.bytes

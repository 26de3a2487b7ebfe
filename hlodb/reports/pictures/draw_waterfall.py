"""Draw why reserved memory moved: from the base, part by part, to the candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import kind_words, part_words
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import Axis, across, box, byte_axis, label, line
from hlodb.text import plain_bytes, signed_bytes

_ROW = 24
_BAR = 16
_LEFT, _RIGHT = 250, 610
"""Between these lie the bars; left of them what each is, right of them its bytes."""


_LEAST_RATIO = 0.005
"""A part is drawn by itself if it is at least this share of the largest."""


class _Bar(NamedTuple):
    """One row: bytes from one level to the other."""

    name: str
    start: int
    end: int
    text: str
    kind: str


def draw_waterfall(f: Finding, who: str) -> Picture:
    """Draw the parts of a finding about `who`, of which its card has the table."""
    bars = _bars(f)
    axis = byte_axis([bar.end for bar in bars], _LEFT, _RIGHT)
    bottom = _ROW * len(bars) + 4
    title = f"reserved memory ({axis.unit})"
    drawing = across(axis, title, 0, bottom) + _rows(bars, axis)
    text = (
        f"{who}: from {plain_bytes(f.base_bytes)} in the base to"
        f" {plain_bytes(f.candidate_bytes)} in the candidate, part by part."
    )
    return Picture(
        f"waterfall-{f.id}", "Why it moved", text, bottom + 42, drawing, None
    )


def _bars(f: Finding) -> list[_Bar]:
    level = f.base_bytes or 0
    bars = [_Bar("base", 0, level, plain_bytes(level), "base")]
    parts = [
        (f"{part_words(p.part, p.delta_bytes)}: {kind_words(p.kind)}", p.delta_bytes)
        for p in f.parts
    ]
    if f.residual_bytes:
        parts.append(("unexplained", f.residual_bytes))
    for name, delta in _large(parts):
        kind = "worse" if delta > 0 else "better"
        bars.append(_Bar(name, level, level + delta, signed_bytes(delta), kind))
        level += delta
    return [*bars, _Bar("candidate", 0, level, plain_bytes(level), "candidate")]


def _large(parts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the parts that can be seen; the others, if several, are one."""
    most = max((abs(delta) for _, delta in parts), default=0)
    few = [part for part in parts if abs(part[1]) < _LEAST_RATIO * most]
    if len(few) < 2:
        return list(parts)
    seen = [part for part in parts if part not in few]
    return [*seen, (f"{len(few)} smaller parts", sum(delta for _, delta in few))]


def _rows(bars: Sequence[_Bar], axis: Axis) -> str:
    drawn = []
    for number, bar in enumerate(bars):
        top = number * _ROW + (_ROW - _BAR) / 2
        start, end = axis.at(bar.start), axis.at(bar.end)
        drawn.append(label(_LEFT - 8, top + 12, bar.name, "label end"))
        drawn.append(box(start, end, top, _BAR, bar.kind))
        if bar.start < axis.low:
            drawn.append(line(_LEFT + 6, top + _BAR, _LEFT + 12, top, "cut"))
        drawn.append(label(_RIGHT + 8, top + 12, bar.text))
        if number < len(bars) - 1:
            drawn.append(line(end, top + _BAR, end, top + _ROW, "link"))
    return "".join(drawn)

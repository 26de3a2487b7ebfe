"""Draw how full the memory of the device is, a bar per memory space."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.judge.names import memory
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import across, box, count_axis, label, line
from hlodb.reports.read.capacity import Capacity
from hlodb.text import plain_bytes, plain_percent

_ROW = 30
_BAR = 18
_LEFT, _RIGHT = 90, 500
_NEAR_PERCENT = 95


def draw_headroom(rows: Sequence[Capacity]) -> Picture:
    """Draw the spaces whose limits are known; the section has a table."""
    shares = [100 * row.used_bytes / (row.limit_bytes or 1) for row in rows]
    axis = count_axis(round(max(100, *shares)), "%", _LEFT, _RIGHT)
    bottom = _ROW * len(rows) + 4
    title = "share of the limit (percent)"
    drawing = [across(axis, title, 0, bottom)]
    for number, (row, share) in enumerate(zip(rows, shares, strict=True)):
        top = number * _ROW + (_ROW - _BAR) / 2
        kind = "worse" if share >= _NEAR_PERCENT else "candidate"
        drawing.append(label(_LEFT - 8, top + 13, memory(row), "label end"))
        drawing.append(box(axis.at(0), axis.at(100), top, _BAR, "room"))
        drawing.append(box(axis.at(0), axis.at(share), top, _BAR, kind))
        drawing.append(label(_RIGHT + 8, top + 13, _amounts(row)))
    limit = axis.at(100)
    drawing.append(line(limit, 0, limit, bottom, "limit"))
    left = ", ".join(f"{memory(row)} {_headroom(row)}" for row in rows)
    text = f"Headroom of the largest program of every memory space: {left}."
    return Picture("headroom", "Headroom", text, bottom + 42, "".join(drawing), None)


def _amounts(row: Capacity) -> str:
    return f"{plain_bytes(row.used_bytes)} of {plain_bytes(row.limit_bytes)}"


def _headroom(row: Capacity) -> str:
    return plain_percent(row.headroom_ratio)

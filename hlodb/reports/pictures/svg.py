"""Elements of SVG, and axes with round numbers in units that people read."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import NamedTuple

from hlodb.reports.document.escape import html
from hlodb.reports.pictures.paint import paint
from hlodb.text import BYTE_UNITS, plain_bytes

WIDTH = 720
"""Width of every picture, in its own units; a page scales it."""

_MOST_TICKS = 5
_SHARE_TO_CUT = 0.9
"""An axis leaves out what lies below this share of its end, where all lies above."""

_LONGEST_TICK = 6
"""Names of ticks that would be longer count from the first of them."""


class Axis(NamedTuple):
    """Values between `low` and `high` at pixels from `start` to `end`.

    `ticks` are values and what they are called, in `unit`.
    """

    low: float
    high: float
    ticks: list[tuple[float, str]]
    unit: str
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the pixel of a value; one beyond an end is at that end."""
        within = min(max(value, self.low), self.high)
        share = (within - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def byte_axis(values: Iterable[int], start: float, end: float) -> Axis:
    """Return an axis for sizes: from zero, unless all of them lie far above it."""
    sizes = list(values)
    low, high = min(sizes), max(*sizes, 1)
    if low <= _SHARE_TO_CUT * high or low == high:
        return _axis(min(low, 0), high, *_byte_unit(high), start, end)
    axis = _axis(low, high, *_byte_unit(high), start, end)
    if max(len(name) for _, name in axis.ticks) <= _LONGEST_TICK:
        return _with_room(axis._replace(unit=f"{axis.unit}, not from 0"))
    above = _axis(0, high - low, *_byte_unit(high - low), start, end)
    return _with_room(
        above._replace(
            low=low,
            high=low + above.high,
            ticks=[(low + value, name) for value, name in above.ticks],
            unit=f"{above.unit} above {plain_bytes(low)}",
        )
    )


def _with_room(axis: Axis) -> Axis:
    """Return an axis that begins before its first tick, so that a bar there is seen."""
    return axis._replace(low=axis.low - (axis.high - axis.low) / 8)


def count_axis(highest: int, unit: str, start: float, end: float) -> Axis:
    """Return an axis from zero to `highest` or the round number after it."""
    return _axis(0, max(highest, 1), 1, unit, start, end)


def ending_at(high: float, axis: Axis) -> Axis:
    """Return an axis that ends with what is drawn, where its room is needed."""
    ticks = [tick for tick in axis.ticks if tick[0] <= high]
    return axis._replace(high=high, ticks=ticks)


def _byte_unit(size: int) -> tuple[int, str]:
    power = min((size.bit_length() - 1) // 10, len(BYTE_UNITS) - 1)
    return 1024**power, BYTE_UNITS[power]


def _axis(
    low: float, high: float, scale: int, unit: str, start: float, end: float
) -> Axis:
    step = _round_step((high - low) / scale / (_MOST_TICKS - 1))
    if scale == 1:
        step = max(step, 1)
    first, last = floor(low / scale / step), ceil(high / scale / step)
    decimals = max(0, -floor(log10(step)))
    ticks = [
        (n * step * scale, f"{n * step:,.{decimals}f}") for n in range(first, last + 1)
    ]
    return Axis(ticks[0][0], ticks[-1][0], ticks, unit, start, end)


def _round_step(least: float) -> float:
    """Return the first of 1, 2, 5, 10, 20, 50 … (or 0.5, 0.2 …) that is not below."""
    power = 10.0 ** floor(log10(least))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= least * (1 - 1e-9))


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """Return an element; `content` is markup, attributes are text or numbers.

    A `_` in the name of an attribute stands for `-`, one at its end for nothing. The
    colours of its class are attributes, too, see `paint`.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    painted = paint(name, str(attributes.get("class_", "")))
    for key, colour in painted.items():
        if key not in attributes:
            written += f' {key}="{colour}"'
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _value(value: str | float) -> str:
    return html(value) if isinstance(value, str) else pixel(value)


def pixel(value: float) -> str:
    """Return a coordinate, to a tenth."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def label(x: float, y: float, text: str, kind: str = "") -> str:
    """Return a line of text; `kind` is a class of the style sheet."""
    return element("text", html(text), x=x, y=y, class_=kind or "label")


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def box(x1: float, x2: float, y: float, height: float, kind: str) -> str:
    """Return a bar between two pixels, at least one wide so that it can be seen."""
    left, wide = min(x1, x2), max(abs(x2 - x1), 1)
    return element("rect", x=left, y=y, width=wide, height=height, class_=kind)


def across(axis: Axis, title: str, top: float, bottom: float) -> str:
    """Return a horizontal axis below a drawing, with a line up at every tick."""
    parts = []
    for value, text in axis.ticks:
        x = axis.at(value)
        parts.append(line(x, top, x, bottom + 4, "grid"))
        parts.append(label(x, bottom + 16, text, "tick middle"))
    middle = (axis.start + axis.end) / 2
    parts.append(label(middle, bottom + 34, title, "axis middle"))
    return "".join(parts)


def upward(axis: Axis, title: str, left: float, right: float) -> str:
    """Return a vertical axis left of a drawing, with a line across at every tick."""
    parts = [label(left, axis.end - 24, title, "axis")]
    for value, text in axis.ticks:
        y = axis.at(value)
        parts.append(line(left, y, right, y, "grid"))
        parts.append(label(left - 6, y + 4, text, "tick end"))
    return "".join(parts)

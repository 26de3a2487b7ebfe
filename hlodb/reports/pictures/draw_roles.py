"""Draw a program's memory by role, over the runs of its series.

A column per run; columns that touch and hold the same are one. What is reserved but not
live at the peak lies on top, so that a column is as high as the series beside it.

A sentence and a table say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    element,
    label,
    line,
    pixel,
    upward,
)
from hlodb.reports.read.drawn.role_histories import RoleHistory, RolePoint
from hlodb.text import counted, few, plain_bytes, signed_bytes, visible

NOT_LIVE = "not live at the peak"

_MOST_NAMED = 3


class _Stretch(NamedTuple):
    """Runs that follow one another, from number to number, and hold the same."""

    first: int
    last: int
    point: RolePoint
    end: RolePoint

    @property
    def numbers(self) -> str:
        """The numbers of its runs."""
        return _span(str(self.first), str(self.last))


def words(role: str) -> str:
    """Return the name of a role in words."""
    return role.replace("_", " ")


def role_sentence(history: RoleHistory, who: str) -> str:
    """Return the roles of the latest run."""
    known = [point for point in history.points if point.roles is not None]
    return f"{who}: {_holds(known[-1])}" if known else f"{who}: not known"


def role_news(history: RoleHistory, names: Sequence[str]) -> str:
    """Return what is not live, the largest move, and runs without roles."""
    known = [point for point in history.points if point.roles is not None]
    parts = [_not_live(known[-1])] if known else []
    if len(known) > 1 and (moved := _most_moved(known[0], known[-1], names)):
        parts.append(f"Most moved since {known[0].run}: {moved}.")
    for why, found in _unknown(history.points):
        runs = few([point.run for point in found], _MOST_NAMED)
        parts.append(f"{counted(len(found), 'run')} without roles ({why}): {runs}.")
    return " ".join(parts)


def _holds(point: RolePoint) -> str:
    roles = sorted((point.roles or {}).items(), key=lambda item: (-item[1], item[0]))
    largest = [f"{words(role)} {plain_bytes(size)}" for role, size in roles]
    return f"at the peak of {point.run} {few(largest, _MOST_NAMED) or 'nothing'}."


def _not_live(point: RolePoint) -> str:
    left = plain_bytes(point.not_live_bytes) if point.not_live_bytes else "nothing"
    whole = f"{left} of {plain_bytes(point.bytes)} is reserved and not live"
    return f"At the peak of {point.run} {whole}."


def _most_moved(first: RolePoint, last: RolePoint, names: Sequence[str]) -> str:
    before, now = first.roles or {}, last.roles or {}
    moves = {words(n): now.get(n, 0) - before.get(n, 0) for n in names}
    moves["what is not live"] = (last.not_live_bytes or 0) - (first.not_live_bytes or 0)
    name, delta = max(moves.items(), key=lambda item: abs(item[1]))
    return f"{name} {signed_bytes(delta)}" if delta else ""


def _unknown(points: Iterable[RolePoint]) -> list[tuple[str, list[RolePoint]]]:
    found: dict[str, list[RolePoint]] = {}
    for point in points:
        if point.unknown:
            found.setdefault(point.unknown, []).append(point)
    return sorted(found.items())


def _stretches(points: Sequence[RolePoint]) -> Iterator[_Stretch]:
    """Yield runs that follow one another with the same figures as one."""

    def figures(each: tuple[int, RolePoint]) -> tuple[object, ...]:
        number, p = each
        return p.bytes, p.roles, p.not_live_bytes, p.unknown, p.mark and number

    for _, found in groupby(enumerate(points, 1), key=figures):
        numbered = list(found)
        (first, start), (last, end) = numbered[0], numbered[-1]
        yield _Stretch(first, last, start, end)


def role_table(history: RoleHistory, names: Sequence[str]) -> Table:
    """Return every role of every run; runs that follow with the same are one row."""
    gaps = any(point.unknown for point in history.points)
    rows = []
    for stretch in _stretches(history.points):
        p = stretch.point
        row = [stretch.numbers, _span(p.run, stretch.end.run)]
        row += [_amount(p, role) for role in names]
        row += [plain_bytes(p.not_live_bytes), plain_bytes(p.bytes), p.mark]
        rows.append([*row, p.unknown] if gaps else row)
    header = ["number", "runs", *map(words, names), NOT_LIVE, "memory", "step"]
    numeric = (0, *range(2, len(names) + 4))
    return table([*header, "gap"] if gaps else header, rows, numeric=numeric)


def _amount(point: RolePoint, role: str) -> str:
    return plain_bytes(None if point.roles is None else point.roles.get(role, 0))


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


ROLES = (
    "weights",
    "averaged_weights",
    "optimiser_state",
    "caches",
    "argument_copies",
    "constants",
    "inputs",
    "gathered_weights",
    "saved_activations",
    "activations",
    "recomputed_activations",
    "gradients",
    "outputs",
    "optimiser_workspace",
    "workspace",
    "unclassified",
)
"""From the lowest: what stays is below what comes and goes. Others lie above these."""

_GAP = "not known"
_LEFT, _RIGHT = 64, WIDTH - 12
_FIRST, _LAST = 124, WIDTH - 72
"""Places of the first and the last run, as in the picture of the series."""

_KEY_ROW, _LETTER, _HEIGHT = 20, 7, 180
_LONGEST_NAME = 18


def draw_roles(history: RoleHistory, who: str, name: str) -> Picture:
    """Draw the runs of `who`; those of which roles are not known are dashed."""
    names = _names(history.points)
    keys, top = _keys([*names, *_others(history.points)])
    top += 40
    bottom = top + _HEIGHT
    sizes = byte_axis([0, *(point.bytes for point in history.points)], bottom, top)
    count = len(history.points)
    runs = Axis(
        1, max(count, 2), _ends(history.points), "in their order", _FIRST, _LAST
    )
    drawing = keys + upward(sizes, f"reserved memory ({sizes.unit})", _LEFT, _RIGHT)
    drawing += across(runs, f"runs of the series ({runs.unit})", bottom, bottom)
    half = min((runs.at(2) - runs.at(1)) / 2, _FIRST - _LEFT)
    for role, stretches in _bands(history.points, names):
        drawing += _band(role, stretches, runs, sizes, half)
    drawing += _marks(history.points, runs, sizes, half)
    return Picture(
        name,
        "What fills the memory by role, over the runs",
        role_sentence(history, who),
        bottom + 42,
        drawing,
        role_table(history, names),
        more=role_news(history, names),
    )


def _names(points: Iterable[RolePoint]) -> list[str]:
    """Return the roles that any run has, from the lowest."""
    there = {role for point in points for role in point.roles or {}}
    known = [role for role in ROLES if role in there]
    return known + sorted(there.difference(ROLES))


def _others(points: Sequence[RolePoint]) -> Iterator[str]:
    if any(point.not_live_bytes for point in points):
        yield NOT_LIVE
    if any(point.roles is None for point in points):
        yield _GAP


def _keys(names: Iterable[str]) -> tuple[str, float]:
    """Return a sample of each band, the first first, and the height that they take."""
    drawn, x, y = [], float(_LEFT), 4.0
    for name in names:
        text = words(name)
        width = 44 + _LETTER * len(text)
        if x + width > _RIGHT and x > _LEFT:
            x, y = float(_LEFT), y + _KEY_ROW
        kind = _kind(name)
        drawn.append(element("rect", x=x, y=y, width=22, height=14, class_=kind))
        drawn.append(label(x + 28, y + 12, text))
        x += width
    return "".join(drawn), y + _KEY_ROW


def _kind(name: str) -> str:
    """Return the classes of a band."""
    special = {NOT_LIVE: "not-live", _GAP: "gap"}
    return f"role {special.get(name, name if name in ROLES else 'other')}"


def _ends(points: Sequence[RolePoint]) -> list[tuple[float, str]]:
    first, last = (middle_cut(visible(points[n].run), _LONGEST_NAME) for n in (0, -1))
    return [(1.0, first), (float(len(points)), last)]


_Spans = list[tuple[int, int, int, int]]
"""From run to run, from byte to byte."""


def _bands(
    points: Sequence[RolePoint], names: Sequence[str]
) -> Iterator[tuple[str, _Spans]]:
    """Yield every band from the lowest, as spans that hold the same."""
    levels = [0] * len(points)
    for role in [*names, NOT_LIVE, _GAP]:
        sizes = [_size(point, role) for point in points]
        edges = [(low, low + size) for low, size in zip(levels, sizes, strict=True)]
        spans = []
        for (low, high), numbers in _runs_of_equals(edges):
            if high > low:
                spans.append((numbers[0], numbers[-1], low, high))
        levels = [high for _, high in edges]
        if spans:
            yield role, spans


def _size(point: RolePoint, band: str) -> int:
    if point.roles is None:
        return point.bytes if band == _GAP else 0
    if band == NOT_LIVE:
        return point.not_live_bytes or 0
    return point.roles.get(band, 0)


def _runs_of_equals(
    edges: Sequence[tuple[int, int]],
) -> Iterator[tuple[tuple[int, int], list[int]]]:
    for edge, found in groupby(enumerate(edges, 1), key=lambda each: each[1]):
        yield edge, [number for number, _ in found]


def _band(role: str, spans: _Spans, runs: Axis, sizes: Axis, half: float) -> str:
    """Draw a band; where columns are too far apart to touch, each by itself."""
    touching = 2 * half >= runs.at(2) - runs.at(1) - 0.01
    parts = []
    for first, last, low, high in spans:
        columns = (
            [(first, last)] if touching else [(n, n) for n in range(first, last + 1)]
        )
        for left, right in columns:
            x1, x2 = pixel(runs.at(left) - half), pixel(runs.at(right) + half)
            y1, y2 = pixel(sizes.at(low)), pixel(sizes.at(high))
            parts.append(f"M{x1} {y1}H{x2}V{y2}H{x1}Z")
    title = element("title", html(words(role)))
    return element("path", title, d="".join(parts), class_=_kind(role))


def _marks(points: Sequence[RolePoint], runs: Axis, sizes: Axis, half: float) -> str:
    """Mark the steps of the series, on the edge where each begins."""
    drawn = []
    for number, point in enumerate(points, 1):
        if point.mark:
            x, y = runs.at(number), sizes.at(point.bytes)
            drawn.append(line(x - half, sizes.end, x - half, sizes.start, "moment"))
            drawn.append(label(x, y - 6, point.mark, "step middle"))
    return "".join(drawn)

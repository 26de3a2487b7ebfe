"""Tells what fills a program's memory by role: as a sentence, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hlodb.reports.model.series import RoleHistory, RolePoint
from hlodb.reports.outline.blocks import Table, few, table
from hlodb.text import counted, plain_bytes, signed_bytes

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


def role_sentence(history: RoleHistory, who: str, names: Sequence[str]) -> str:
    """Return the latest run's roles, the largest moves, and the runs that are gaps."""
    known = [point for point in history.points if point.roles is not None]
    text = f"{who}: {_holds(known[-1])}" if known else f"{who}: not known"
    if len(known) > 1 and (moved := _most_moved(known[0], known[-1], names)):
        text += f" Most moved since {known[0].run}: {moved}."
    for why, found in _unknown(history.points):
        runs = few([point.run for point in found], _MOST_NAMED)
        text += f" {counted(len(found), 'run')} without roles ({why}): {runs}."
    return text


def _holds(point: RolePoint) -> str:
    roles = sorted((point.roles or {}).items(), key=lambda item: (-item[1], item[0]))
    largest = [f"{words(role)} {plain_bytes(size)}" for role, size in roles]
    holds = few(largest, _MOST_NAMED) or "nothing"
    left = plain_bytes(point.not_live_bytes) if point.not_live_bytes else "nothing"
    rest = f"{left} of {plain_bytes(point.bytes)} is reserved and not live then"
    return f"at the peak of {point.run} {holds}; {rest}."


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

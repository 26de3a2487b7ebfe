"""Read how the memory of the candidate's programs grows with their sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from hlodb.reports.read.capacity import Limit, Limits
from hlodb.reports.read.facts import Module, Run, rows
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class SizePoint:
    """Memory of a program that was compiled at one size."""

    size: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """How the reserved memory of a program grows with a size, see scaling_law.

    That is constant_bytes + linear_bytes * size + quadratic_bytes * size * size.
    `largest_size` is the largest that stays within the limit. `caveat` says what the
    bytes lack.
    """

    program: str
    color: int
    space: str
    axis: str
    other_axes: str | None
    constant_bytes: int
    linear_bytes: float
    quadratic_bytes: float
    r2_ratio: float | None
    max_residual_bytes: int
    limit_bytes: int | None
    largest_size: int | None
    points: list[SizePoint]
    caveat: str | None = None

    def bytes_at(self, size: float) -> float:
        """Return the bytes that the law gives for a size."""
        linear, quadratic = self.linear_bytes, self.quadratic_bytes
        return self.constant_bytes + linear * size + quadratic * size * size


_LEAST_SIZES = 3
"""Of fewer there is no law."""


class _Row(NamedTuple):
    """A point of a law, as `sql/scaling.sql` gives it."""

    program: str
    platform: str | None
    color: int
    space: str
    axis: str
    other_axes: str | None
    constant_bytes: int
    linear_bytes: float
    quadratic_bytes: float
    r2_ratio: float | None
    max_residual_bytes: int
    usable_bytes: int | None
    largest_size: int | None
    subject: int
    module_id: int
    axis_size: int
    reserved_bytes: int
    caveat: str | None


class _Sizes(NamedTuple):
    """What laws are made of: the modules of a series, and those of the candidate."""

    candidate: Run
    modules: list[int]
    present: set[int]


def scaling_laws(
    connection: Connection,
    modules: Mapping[int, Sequence[Module]],
    line: Sequence[Run],
    limits: Limits,
    top: int,
) -> list[ScalingLaw]:
    """Return the laws that the last run of `line` has a point of, the tightest first.

    They are those of scaling_law for its series, of what the runs of `line` hold. The
    limits are those of the section on capacity.
    """
    sizes = _sizes(modules, line)
    if not sizes.modules:
        return []
    kept, again = [], set()
    for law in _laws(connection, sizes):
        limit = _limit_of(law, limits)
        if limit == law[0].usable_bytes:
            kept.append(law)
        else:
            again.add((law[0].color, limit))
    for color, limit in again:
        kept += [
            law
            for law in _laws(connection, sizes, color, limit)
            if _limit_of(law, limits) == limit
        ]
    return sorted(map(_scaling_law, kept), key=_tightest_first)[:top]


def _sizes(modules: Mapping[int, Sequence[Module]], line: Sequence[Run]) -> _Sizes:
    """Return the modules of the programs that may be compiled at enough sizes."""
    candidate = line[-1]
    present = [m for m in modules[candidate.run_id] if m.has_assignment]
    programs = {m.program for m in present}
    keys: dict[str, set[int | None]] = defaultdict(set)
    held: dict[str, set[int]] = defaultdict(set)
    for run in line:
        for m in modules[run.run_id]:
            if m.has_assignment and m.program in programs:
                keys[m.program].add(m.program_key)
                held[m.program].add(m.module_id)
    enough = [program for program in keys if len(keys[program]) >= _LEAST_SIZES]
    ids = sorted({module_id for program in enough for module_id in held[program]})
    return _Sizes(candidate, ids, {m.module_id for m in present})


def _laws(
    connection: Connection,
    sizes: _Sizes,
    color: int | None = None,
    limit: int | None = None,
) -> list[list[_Row]]:
    """Return the points of each law of which the candidate has one."""
    found = rows(
        connection,
        "scaling",
        series=sizes.candidate.series,
        modules=sizes.modules,
        color=color,
        limit=limit,
    )
    each = (list(law) for _, law in groupby(map(_Row._make, found), _law_of))
    return [law for law in each if any(row.module_id in sizes.present for row in law)]


def _law_of(row: _Row) -> tuple[object, ...]:
    return row.subject, row.color, row.axis, row.other_axes


def _limit_of(law: Sequence[_Row], limits: Limits) -> int | None:
    row = law[0]
    return limits.get((row.platform, row.color, row.space), Limit()).bytes


def _scaling_law(law: Sequence[_Row]) -> ScalingLaw:
    row = law[0]
    return ScalingLaw(
        row.program,
        row.color,
        row.space,
        row.axis,
        row.other_axes,
        row.constant_bytes,
        row.linear_bytes,
        row.quadratic_bytes,
        row.r2_ratio,
        row.max_residual_bytes,
        row.usable_bytes,
        row.largest_size,
        [SizePoint(row.axis_size, row.reserved_bytes) for row in law],
        row.caveat,
    )


def _tightest_first(law: ScalingLaw) -> tuple[object, ...]:
    """Order by how much room there is to grow, then by memory."""
    greatest = law.points[-1]
    room = None
    if law.largest_size is not None:
        room = law.largest_size / max(greatest.size, 1)
    name = (law.program, law.color, law.axis, law.other_axes or "")
    return room is None, room or 0.0, -greatest.bytes, *name

"""Read the roles of memory at the peak, over the runs of the drawn series."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hlodb.reports.read.facts import Module, Profiles, rows
from hlodb.reports.read.history import Lines, Point, Track, Trend
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class RolePoint:
    """What a program's memory holds at its peak in one run of the series.

    The bytes of `roles`, which are live at the peak, and `not_live_bytes` add up to
    `bytes`. Both are null where `unknown` says why nobody knows them.
    """

    run: str
    bytes: int
    mark: str
    roles: dict[str, int] | None
    not_live_bytes: int | None
    unknown: str


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """A program's memory over the series by role, for a trend that is drawn."""

    program: str
    rank: int | None
    module_number: int | None
    color: int
    space: str
    points: list[RolePoint]


PRUNED = "details pruned"
NO_LIVE_RANGES = "no live ranges"

_Roles = Mapping[tuple[int, int], dict[str, int]]
"""Bytes at the peak by role, by module_id and memory space."""


def read_role_histories(
    connection: Connection,
    tracks: Iterable[Track],
    lines: Lines,
    drawn: Sequence[Trend],
    profiles: Profiles,
) -> list[RoleHistory]:
    """Return the roles at the peak of the drawn series, run by run.

    Runs share equal contents, and each content is queried once.
    """
    by_number = {track.number: track for track in tracks}
    modules = []
    for trend in drawn:
        number = next(n for (n, _), line in lines.items() if line is trend)
        modules.append([s.module for s in by_number[number].sightings])
    wanted = {m.module_id for found in modules for m in found}
    roles = _read_roles(connection, wanted) if wanted else {}
    return [
        _role_history(trend, found, profiles, roles)
        for trend, found in zip(drawn, modules, strict=True)
    ]


def _read_roles(connection: Connection, modules: Iterable[int]) -> _Roles:
    found: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for module_id, color, role, size in rows(
        connection, "roles", modules=sorted(modules)
    ):
        found[module_id, color][role] = size
    return found


def _role_history(
    trend: Trend, modules: Sequence[Module], profiles: Profiles, roles: _Roles
) -> RoleHistory:
    points = [
        _role_point(point, module.module_id, trend.color, profiles, roles)
        for point, module in zip(trend.points, modules, strict=True)
    ]
    number, rank = trend.module_number, trend.rank
    return RoleHistory(trend.program, rank, number, trend.color, trend.space, points)


def _role_point(
    point: Point, module_id: int, color: int, profiles: Profiles, roles: _Roles
) -> RolePoint:
    """Return the roles of one run, where what is there adds up to its live peak."""
    profile = profiles.get(module_id, {}).get(color)
    live = profile.live_peak_bytes if profile else 0
    found = roles.get((module_id, color), {})
    if live is None or live != sum(found.values()):
        why = NO_LIVE_RANGES if live is None else PRUNED
        return RolePoint(point.run, point.bytes, point.mark, None, None, why)
    left = point.bytes - live
    return RolePoint(point.run, point.bytes, point.mark, found, left, "")

"""Read the capacity of a device: limits, and the largest program of every space."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from hlodb.errors import UsageError
from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Module, Profiles, Run, rows
from hlodb.schema.connection import Connection
from hlodb.text import not_held, plain_bytes


class Limit(NamedTuple):
    """A limit; `source` and `nominal_bytes` are limit_from and that of `headroom`.

    `bytes` is None where nobody says how much there is.
    """

    bytes: int | None = None
    source: str | None = None
    nominal_bytes: int | None = None
    device: str | None = None


_SOURCES = {
    "parameter": "given by --limit",
    "log": "named by the log",
    "settings": "set in hlodb.toml",
    "dump": "named by the dump",
}
"""Sources of limits in words, by limit_from; for a chip its name is enough."""


class Limited(Protocol):
    """A row that is judged by a limit."""

    @property
    def limit_bytes(self) -> int | None:
        """The limit."""

    @property
    def limit_from(self) -> str | None:
        """Who names it."""

    @property
    def nominal_bytes(self) -> int | None:
        """Memory of the device."""


NOT_INCLUDED = (
    "Included: arguments, results, constants, temporaries. Not included: code, arrays"
    " kept between runs, other programs."
)
"""What reserved bytes and live peaks of a buffer assignment are about."""


def limit_words(limit: Limit) -> str:
    """Return `15.75 GiB usable of 16.00 GiB (TPU v5e)`, or who else names the limit."""
    words = plain_bytes(limit.bytes)
    nominal = limit.nominal_bytes
    is_part = limit.bytes is not None and nominal is not None and limit.bytes < nominal
    if is_part and limit.source in ("chip", "log"):
        words += f" usable of {plain_bytes(nominal)}"
    who = limit.device if limit.source == "chip" else _SOURCES.get(limit.source or "")
    return f"{words} ({who})" if who else words


def space_limit(space: Mapping[str, Any]) -> Limit:
    """Return the limit of a memory space by its row of `headroom`."""
    nominal, device = space["nominal_bytes"], space["device"]
    return Limit(space["usable_bytes"], space["limit_from"], nominal, device)


def limit_of(row: Limited, device: str | None) -> Limit:
    """Return the limit that a row of a report about `device` is judged by."""
    return Limit(row.limit_bytes, row.limit_from, row.nominal_bytes, device)


Limits = Mapping[tuple[str | None, int, str], Limit]
"""Limits by platform of a program, number and name of a memory space."""


def refused_programs(connection: Connection, run: Run) -> list[str]:
    """Return the programs of a run that the compiler refused."""
    rows = run_query(connection, "refused_modules", {"run": run.name}).dicts()
    return sorted({row["program"] for row in rows})


def read_limits(connection: Connection, run: Run, settings: Settings) -> Limits:
    """Return the limits of every memory space of a run, see `memory_limits`."""
    asked = {**settings.limits(), "run_ids": [run.run_id]}
    return {
        (row["platform"], row["color"], row["space_name"]): Limit(
            row["limit_bytes"], row["limit_from"], row["nominal_bytes"], row["device"]
        )
        for row in run_query(connection, "memory_limits", asked).dicts()
    }


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest program of a memory space, against the limit of the device.

    `limit_from` and `nominal_bytes` are those of the query `headroom`. The compiler
    refused the programs in `refused`. `caveats` say what the bytes of programs lack.
    """

    color: int
    space: str
    limit_bytes: int | None
    used_bytes: int
    headroom_bytes: int | None
    headroom_ratio: float | None
    program: str
    near_limit: list[str]
    plateau_ratio: float | None
    limit_from: str | None = None
    nominal_bytes: int | None = None
    refused: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


NEAR_LIMIT = 0.95
Row = Mapping[str, Any]


def read_capacity(
    connection: Connection,
    modules: Sequence[Module],
    profiles: Profiles,
    candidate: Run,
    settings: Settings,
) -> list[Capacity]:
    """Return the largest program of every memory space, against the device's limit."""
    ids = sorted({m.module_id for m in modules})
    plateaus = {
        (row[0], row[1]): round(row[2], 4)
        for row in rows(connection, "plateaus", modules=ids)
        if row[2] is not None
    }
    judged = _judged(connection, candidate, settings)
    by_space: dict[tuple[int, str], list[tuple[int, Module]]] = defaultdict(list)
    for module in modules:
        for color, p in profiles.get(module.module_id, {}).items():
            by_space[color, p.space_name].append((p.reserved_bytes, module))
    found = []
    for (color, space), used in sorted(by_space.items()):
        size, largest = min(used, key=lambda u: (-u[0], u[1].program))
        known = judged[largest.path, color]
        limit, ratio = known["usable_bytes"], known["headroom_ratio"]
        near = {m.program for b, m in used if limit and b >= NEAR_LIMIT * limit}
        all_known = [judged[m.path, color] for _, m in used]
        found.append(
            Capacity(
                color,
                space,
                limit,
                size,
                known["headroom_bytes"],
                None if ratio is None else round(ratio, 6),
                largest.program,
                sorted(near),
                plateaus.get((largest.module_id, color)),
                known["limit_from"],
                known["nominal_bytes"],
                sorted({row["program"] for row in all_known if row["is_refused"]}),
                sorted({_caveat(row) for row in all_known if row["caveat"]}),
            )
        )
    return found


def _judged(
    connection: Connection, run: Run, settings: Settings
) -> dict[tuple[str, int], Row]:
    """Return the rows of `headroom` by file and memory space."""
    asked = {"run": run.name, **settings.limits()}
    found = run_query(connection, "headroom", asked).dicts()
    return {(row["path"], row["color"]): row for row in found}


def _caveat(row: Row) -> str:
    return f"{row['program']}: {row['caveat']}"


def space_number(connection: Connection, space: str) -> int:
    """Return the number of a memory space, which may be given by its name."""
    if space.isdecimal():
        return int(space)
    found = connection.execute(
        "SELECT DISTINCT space_name, color FROM module_memory ORDER BY ALL"
    ).fetchall()
    colors: dict[str, set[int]] = defaultdict(set)
    for name, color in found:
        colors[name.lower()].add(color)
    fitting = colors.get(space.lower(), set())
    if not fitting:
        names = (name for name, _ in found)
        raise UsageError(not_held("memory space", space, names, holder="the data"))
    if len(fitting) > 1:
        numbers = ", ".join(map(str, sorted(fitting)))
        raise UsageError(f"space {space} may be {numbers}: pass one of the numbers")
    return fitting.pop()

"""The sections beside the findings: capacity and compile health."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlodb.queries.run import Value, run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Module, Profiles, Run, rows
from hlodb.schema.connection import Connection


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


@dataclass(frozen=True, slots=True)
class Health:
    """Compilations worth a look: repeated, nondeterministic, or slower passes."""

    kind: str
    name: str
    base: int
    candidate: int
    unit: str
    note: str


NEAR_LIMIT = 0.95
Row = Mapping[str, Any]
_MILLISECOND = 1000


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


def read_health(
    connection: Connection,
    base: Run | None,
    candidate: Run,
    noise: Mapping[str, int],
    top: int,
) -> list[Health]:
    """Return programs compiled often or with varying memory, and passes that slowed."""
    before = compile_counts(connection, base) if base else {}
    now = compile_counts(connection, candidate)
    found = [
        Health("recompiled", program, before.get(program, 0), count, "count", "")
        for program, count in sorted(now.items(), key=lambda item: (-item[1], item[0]))
        if count > 1
    ][:top]
    for program, width in sorted(noise.items(), key=lambda i: (-i[1], i[0]))[:top]:
        if width and program in now:
            note = "duplicate compiles of one run differ by this much"
            found.append(Health("nondeterministic", program, 0, width, "bytes", note))
    return found + (_slower_passes(connection, base, candidate, top) if base else [])


def compile_counts(connection: Connection, run: Run) -> dict[str, int]:
    """Return each program's compilations, on the host with the most of them.

    Of a name that many programs have, the one that was compiled most often, see
    `recompile_groups`.
    """
    asked: dict[str, Value] = {"run": run.name, "min_modules": 1}
    most: dict[str, int] = {}
    for row in run_query(connection, "recompile_groups", asked).dicts():
        most[row["program"]] = max(row["module_count"], most.get(row["program"], 0))
    return most


def _slower_passes(
    connection: Connection, base: Run, candidate: Run, top: int
) -> list[Health]:
    found = rows(connection, "pass_times", base=base.run_id, candidate=candidate.run_id)
    moved = [
        Health("pass", f"{pipeline}: {name}", int(b), int(c), "microseconds", "")
        for pipeline, name, b, c in found
        if b and c and abs(c - b) > _MILLISECOND
    ]
    moved.sort(key=lambda h: (-abs(h.candidate - h.base), h.name))
    return moved[:top]


def replicated_bytes(
    connection: Connection, modules: Iterable[Module], least: int
) -> dict[int, int]:
    """Return the bytes of whole parameters on every device, by `earliest_id`."""
    ids = sorted({m.earliest_id for m in modules})
    found = rows(connection, "replicated", modules=ids, least=least)
    return {row[0]: int(row[1]) for row in found}

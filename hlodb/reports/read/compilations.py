"""Read compilations: repeated, nondeterministic, replicated, slower passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hlodb.queries.run import Value, run_query
from hlodb.reports.read.facts import Module, Run, rows
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Health:
    """Compilations worth a look: repeated, nondeterministic, or slower passes."""

    kind: str
    name: str
    base: int
    candidate: int
    unit: str
    note: str


_MILLISECOND = 1000


def read_health(
    connection: Connection,
    base: Run | None,
    candidate: Run,
    noise: Mapping[str, int],
    top: int,
) -> list[Health]:
    """Return programs compiled often or with varying memory, and passes that slowed."""
    now = compile_counts(connection, candidate)
    ranked = sorted(now.items(), key=lambda item: (-item[1], item[0]))
    often = [(program, count) for program, count in ranked if count > 1][:top]
    before = compile_counts(connection, base) if base and often else {}
    found = [
        Health("recompiled", program, before.get(program, 0), count, "count", "")
        for program, count in often
    ]
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

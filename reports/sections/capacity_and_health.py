"""The sections beside the findings: capacity and compile health."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from hlodb.queries.run import run_query
from hlodb.reports.compare.read import Opcodes, read_opcodes, rows
from hlodb.reports.config.settings import Settings
from hlodb.reports.model.facts import Module, Profiles, Run
from hlodb.reports.model.sections import Capacity, Health
from hlodb.rules import rule_rows
from hlodb.schema.connection import Connection

NAMELESS = frozenset(
    name for _, kind, name in rule_rows("shared_names") if kind == "program"
)
"""Names that frameworks give to all their programs."""

NEAR_LIMIT = 0.95
_MILLISECOND = 1000
_SIZE = re.compile(r"(?<=[\[,])<?=?\d+(?=[\],])")


def capacity(
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
    by_space: dict[tuple[int, str], list[tuple[int, Module]]] = defaultdict(list)
    for module in modules:
        for color, p in profiles.get(module.module_id, {}).items():
            by_space[color, p.space_name].append((p.reserved_bytes, module))
    found = []
    for (color, space), used in sorted(by_space.items()):
        size, largest = min(used, key=lambda u: (-u[0], u[1].program))
        limit = settings.capacity_of(candidate, color, space, largest.platform)
        near = {m.program for b, m in used if limit and b >= NEAR_LIMIT * limit}
        found.append(
            Capacity(
                color,
                space,
                limit,
                size,
                limit - size if limit else None,
                round((limit - size) / limit, 6) if limit else None,
                largest.program,
                sorted(near),
                plateaus.get((largest.module_id, color)),
            )
        )
    return found


def health(
    connection: Connection,
    base: Run | None,
    candidate: Run,
    modules: Mapping[int, Sequence[Module]],
    noise: Mapping[str, int],
    top: int,
) -> list[Health]:
    """Return programs compiled often or with varying memory, and passes that slowed."""
    before = compile_counts(connection, modules[base.run_id]) if base else {}
    now = compile_counts(connection, modules[candidate.run_id])
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


def compile_counts(connection: Connection, modules: Sequence[Module]) -> dict[str, int]:
    """Return each program's compilations, on the host with the most of them.

    Of a name that all programs have, the one that was compiled most often.
    """
    nameless = [m for m in modules if m.program in NAMELESS]
    opcodes = read_opcodes(connection, (m.earliest_id for m in nameless))
    counts: dict[tuple[Hashable, ...], int] = defaultdict(int)
    most: dict[str, int] = {}
    asked = {"run_ids": sorted({m.run_id for m in modules})}
    rows_found = run_query(connection, "hosts", asked).dicts()
    of_folders = {row["folder"]: row["host"] for row in rows_found}
    for m in modules:
        likeness = _likeness(m, opcodes) if m.program in NAMELESS else ()
        host = of_folders.get(m.path[: m.path.rfind("/") + 1])
        key = (m.program, m.rank, host, *likeness)
        counts[key] += 1
        most[m.program] = max(counts[key], most.get(m.program, 0))
    return most


def _likeness(module: Module, opcodes: Mapping[int, Opcodes]) -> tuple[Hashable, ...]:
    """Return the identity of a program across sizes.

    Where its instructions are not there it is like none but its equals.
    """
    mix = opcodes.get(module.earliest_id)
    if mix is None:
        return (module.source_graph, module.graph_fingerprint)
    shapes = module.source_shapes or module.entry_shapes or ""
    return (_SIZE.sub("", shapes), *sorted(mix.items()))


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

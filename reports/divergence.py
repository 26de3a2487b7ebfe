"""Where two compilations part, and who is to look: the first stage that differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb

from hlodb.reports.facts import Module
from hlodb.reports.match import opcode_similarity
from hlodb.reports.model import Count, Divergence
from hlodb.reports.read import Opcodes, read_opcodes, rows

COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-",
    "reduce-scatter",
)
NEARLY_EQUAL = 0.95
_PASS_BLAME = {
    "spmd": "partitioner",
    "partition": "partitioner",
    "shard": "partitioner",
    "fusion": "fusion",
    "schedul": "scheduler",
    "remat": "scheduler",
    "layout": "layout",
}
"""What a pass's name tells of who owns it; the first word that it contains."""


class Snapshot(NamedTuple):
    """A module after one stage or pass."""

    stage: str
    pipeline: str | None
    pass_after: str | None
    pass_before: str | None
    graph_fingerprint: int | None
    exact_fingerprint: int | None

    @property
    def name(self) -> str:
        """What the snapshot is called in a report."""
        if self.stage != "pass":
            return self.stage
        return f"{self.pipeline or 'pipeline'}: after {self.pass_after or 'start'}"


class Traits(NamedTuple):
    """What tells sources apart beside their opcodes, see sql/traits.sql."""

    remat_count: int
    remat_mentions: int
    alias_count: int


class Compilation(NamedTuple):
    """What is known of how one module was compiled."""

    module: Module
    snapshots: Sequence[Snapshot]
    source_opcodes: Opcodes
    opcodes: Opcodes
    traits: Traits


def read_compilations(
    connection: duckdb.DuckDBPyConnection, modules: Sequence[Module]
) -> dict[Module, Compilation]:
    """Give what is known of how each module was compiled."""
    ids = {m.module_id for m in modules} | {
        m.source_id for m in modules if m.source_id is not None
    }
    opcodes = read_opcodes(connection, ids)
    traits = {
        row[0]: row[1:] for row in rows(connection, "traits", modules=sorted(ids))
    }
    snapshots = _read_snapshots(connection, modules)
    return {
        m: Compilation(
            m,
            snapshots[key],
            opcodes.get(m.source_id, {}) if m.source_id is not None else {},
            opcodes.get(m.module_id, {}),
            Traits(*traits[m.module_id if m.source_id is None else m.source_id]),
        )
        for key, m in enumerate(modules)
    }


def _read_snapshots(
    connection: duckdb.DuckDBPyConnection, modules: Sequence[Module]
) -> Mapping[int, list[Snapshot]]:
    found: dict[int, list[Snapshot]] = defaultdict(list)
    for key, *snapshot in rows(
        connection,
        "stages",
        keys=list(range(len(modules))),
        runs=[m.run_id for m in modules],
        ranks=[m.rank for m in modules],
        programs=[m.program for m in modules],
        numbers=[m.module_number for m in modules],
    ):
        found[key].append(Snapshot(*snapshot))
    return found


def divergence(
    base: Compilation, candidate: Compilation, main_part: str, flags_differ: bool
) -> Divergence:
    """Give where two compilations part, and whose change that is.

    `main_part` is the part of the waterfall that most of the difference falls in.
    """
    last, first = _first_difference(base.snapshots, candidate.snapshots)
    blame, reason = _blame(base, candidate, main_part, flags_differ, first)
    return Divergence(
        last.name if last else None, first.name if first else None, blame, reason
    )


def _first_difference(
    base: Sequence[Snapshot], candidate: Sequence[Snapshot]
) -> tuple[Snapshot | None, Snapshot | None]:
    """Compare snapshots of the same place in both compilations, in their order."""
    places = {_place(s): s for s in base}
    last: Snapshot | None = None
    for snapshot in candidate:
        twin = places.get(_place(snapshot))
        if twin is None:
            continue
        if twin.graph_fingerprint != snapshot.graph_fingerprint:
            return last, snapshot
        is_final = snapshot.stage == "after_optimizations"
        if is_final and twin.exact_fingerprint != snapshot.exact_fingerprint:
            return last, snapshot
        last = snapshot
    return last, None


def _place(s: Snapshot) -> tuple[str | None, ...]:
    return (s.stage, s.pipeline, s.pass_after, s.pass_before)


def _blame(
    base: Compilation,
    candidate: Compilation,
    main_part: str,
    flags_differ: bool,
    first: Snapshot | None,
) -> tuple[str, str]:
    b, c = base.module, candidate.module
    declared = base.traits.alias_count, candidate.traits.alias_count
    if main_part == "alias" and declared[0] != declared[1]:
        shared = "outputs may share the memory of a parameter"
        return "framework", f"{declared[1]} {shared}, {declared[0]} before"
    if b.exact_fingerprint is not None and b.exact_fingerprint == c.exact_fingerprint:
        return "packing", "the programs are the same, buffers are assigned otherwise"
    if first is not None and first.stage == "pass":
        return _blame_of_pass(first), f"first difference {first.name}"
    if b.graph_fingerprint is not None and b.graph_fingerprint == c.graph_fingerprint:
        return "scheduler", "the graphs are the same, order or layouts differ"
    known = b.source_graph is not None and c.source_graph is not None
    if known and b.source_graph == c.source_graph:
        if flags_differ:
            return "environment", "the source is the same, compiler flags differ"
        return _compiler_blame(base, candidate, main_part), "the source is the same"
    if not known:
        return _compiler_blame(base, candidate, main_part), "no source was dumped"
    return _source_blame(base, candidate, main_part)


def _blame_of_pass(snapshot: Snapshot) -> str:
    name = (snapshot.pass_after or "").lower()
    found = (blame for word, blame in _PASS_BLAME.items() if word in name)
    return next(found, "optimisation")


def _source_blame(
    base: Compilation, candidate: Compilation, main_part: str
) -> tuple[str, str]:
    """Tell who changed more where the source is not the same."""
    source = opcode_similarity(base.source_opcodes, candidate.source_opcodes)
    final = opcode_similarity(base.opcodes, candidate.opcodes)
    alike = f"the sources are {100 * source:.0f} % alike, the results"
    reason = f"{alike} {100 * final:.0f} %"
    moved = main_part in ("life", "kind", "fragmentation")
    if source >= NEARLY_EQUAL and (moved or 1 - final > 2 * (1 - source)):
        return _compiler_blame(base, candidate, main_part), reason
    return "framework", reason


def _compiler_blame(base: Compilation, candidate: Compilation, main_part: str) -> str:
    if main_part == "fragmentation":
        return "packing"
    if _collectives(base.opcodes) != _collectives(candidate.opcodes):
        return "partitioner"
    alike = opcode_similarity(base.opcodes, candidate.opcodes)
    if main_part in ("life", "kind") and alike >= NEARLY_EQUAL:
        return "scheduler"
    return "fusion"


def _collectives(opcodes: Opcodes) -> dict[str, int]:
    return {o: n for o, n in opcodes.items() if o.startswith(COLLECTIVES)}


def op_mix(base: Opcodes, candidate: Opcodes, top: int) -> list[Count]:
    """Give the opcodes whose number changed most, at most `top`."""
    counts = [
        Count(opcode, base.get(opcode, 0), candidate.get(opcode, 0))
        for opcode in base.keys() | candidate.keys()
    ]
    changed = [c for c in counts if c.base != c.candidate]
    changed.sort(key=lambda c: (-abs(c.candidate - c.base), c.name))
    return changed[:top]

"""What is known of how a module was compiled: its snapshots, opcodes and traits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hlodb.reports.facts import Module
from hlodb.reports.model_findings import Count
from hlodb.reports.read import Opcodes, read_opcodes, rows
from hlodb.schema.connection import Connection


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
    shardings: int | None
    sharding_kinds: int | None
    scoped_bytes: int


class Compilation(NamedTuple):
    """What is known of how one module was compiled; `source_typed` is with shapes."""

    module: Module
    snapshots: Sequence[Snapshot]
    source_opcodes: Opcodes
    opcodes: Opcodes
    traits: Traits
    source_typed: Opcodes


def read_compilations(
    connection: Connection, modules: Sequence[Module]
) -> dict[Module, Compilation]:
    """Return the recorded facts about each module's compilation."""
    sources = {m.source_id for m in modules if m.source_id is not None}
    ids = {m.module_id for m in modules} | sources
    opcodes = read_opcodes(connection, ids)
    typed = read_opcodes(connection, sources, typed=True)
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
            Traits(*traits[m.earliest_id]),
            typed.get(m.source_id, {}) if m.source_id is not None else {},
        )
        for key, m in enumerate(modules)
    }


def _read_snapshots(
    connection: Connection, modules: Sequence[Module]
) -> Mapping[int, list[Snapshot]]:
    found: dict[int, list[Snapshot]] = defaultdict(list)
    for key, *snapshot in rows(
        connection,
        "stages",
        keys=list(range(len(modules))),
        runs=[m.run_id for m in modules],
        ranks=[m.own_rank for m in modules],
        programs=[m.program for m in modules],
        numbers=[m.module_number for m in modules],
        first_numbers=[m.first_number for m in modules],
        paths=[m.path for m in modules],
    ):
        found[key].append(Snapshot(*snapshot))
    return found


def op_mix(base: Opcodes, candidate: Opcodes, top: int) -> list[Count]:
    """Return the opcodes whose number changed most, at most `top`."""
    counts = [
        Count(opcode, base.get(opcode, 0), candidate.get(opcode, 0))
        for opcode in base.keys() | candidate.keys()
    ]
    changed = [c for c in counts if c.base != c.candidate]
    changed.sort(key=lambda c: (-abs(c.candidate - c.base), c.name))
    return changed[:top]

"""Scoped memory of TPU kernels, which is no fragmentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Run
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """One program in one memory space, whatever became of it."""

    program: str
    base_program: str | None
    rank: int | None
    module_number: int | None
    path: str
    color: int
    space: str
    change: str
    state: str
    rule: str
    base_bytes: int | None
    candidate_bytes: int | None
    delta_bytes: int | None
    delta_ratio: float | None
    base_live_peak_bytes: int | None
    candidate_live_peak_bytes: int | None
    fragmentation_bytes: int | None
    padding_bytes: int | None
    noise_band_bytes: int


Scoped = Mapping[tuple[object, ...], int]
"""Bytes by program, number, rank and memory space."""

_KEY = ("program", "module_number", "rank", "color")


def scoped_bytes(connection: Connection, candidate: Run) -> Scoped:
    """Return the scoped bytes in arenas of a run, as in frag_by_space."""
    if candidate.platform != "tpu":
        return {}
    rows = run_query(connection, "frag_by_space", {"run": candidate.name}).dicts()
    return {tuple(r[k] for k in _KEY): r["scoped_bytes"] for r in rows}


def without_scoped(programs: Sequence[ProgramRow], scoped: Scoped) -> list[ProgramRow]:
    """Return programs with the fragmentation that is in no use at all."""
    found = []
    for p in programs:
        used = scoped.get(tuple(getattr(p, k) for k in _KEY), 0)
        if p.fragmentation_bytes is not None and used:
            p = replace(p, fragmentation_bytes=p.fragmentation_bytes - used)
        found.append(p)
    return found

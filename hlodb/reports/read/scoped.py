"""Scoped memory of TPU kernels, which is no fragmentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hlodb.queries.run import run_query
from hlodb.reports.model.facts import Run
from hlodb.reports.model.report import ProgramRow
from hlodb.schema.connection import Connection

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

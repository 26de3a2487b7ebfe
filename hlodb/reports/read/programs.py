"""The table of programs: a row per program and memory space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Run
from hlodb.reports.read.pairs import Verdict
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


_SCOPED_KEY = ("program", "module_number", "rank", "color")


def read_programs(
    connection: Connection, verdicts: Iterable[Verdict], candidate: Run
) -> list[ProgramRow]:
    """Return the row of every verdict, by program, rank and memory space.

    Scoped memory of TPU kernels is not counted as fragmentation.
    """
    scoped: dict[tuple[object, ...], int] = {}
    if candidate.platform == "tpu":
        asked = {"run": candidate.name}
        for row in run_query(connection, "frag_by_space", asked).dicts():
            scoped[tuple(row[name] for name in _SCOPED_KEY)] = row["scoped_bytes"]
    return sorted(
        (_without_scoped(program_row(v), scoped) for v in verdicts),
        key=lambda r: (r.program, r.rank or 0, r.color, r.base_bytes or 0),
    )


def program_row(v: Verdict) -> ProgramRow:
    """Return the row of a verdict."""
    base, now, module = v.base, v.candidate, v.pair.module
    return ProgramRow(
        program=module.program,
        base_program=v.pair.other_name,
        rank=module.rank,
        module_number=module.module_number,
        path=module.path,
        color=v.color,
        space=v.space,
        change=v.change,
        state=v.change,
        rule=v.rule,
        base_bytes=v.base_bytes,
        candidate_bytes=v.candidate_bytes,
        delta_bytes=v.delta_bytes,
        delta_ratio=v.delta_ratio,
        base_live_peak_bytes=base.live_peak_bytes if base else None,
        candidate_live_peak_bytes=now.live_peak_bytes if now else None,
        fragmentation_bytes=now.fragmentation_bytes if now else None,
        padding_bytes=now.padding_bytes if now else None,
        noise_band_bytes=v.noise_band_bytes,
    )


def _without_scoped(
    row: ProgramRow, scoped: Mapping[tuple[object, ...], int]
) -> ProgramRow:
    used = scoped.get(tuple(getattr(row, name) for name in _SCOPED_KEY), 0)
    if row.fragmentation_bytes is None or not used:
        return row
    return replace(row, fragmentation_bytes=row.fragmentation_bytes - used)

"""Puts verdicts, steps and explanations together: findings, the table of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.finding_ids import finding_id, places_of, with_own_ids
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.make_findings import Movement, make_finding, other_name, ratio
from hlodb.reports.judge.names import place
from hlodb.reports.read import history
from hlodb.reports.read.compared_runs import Scene
from hlodb.reports.read.details import Explanations, explain
from hlodb.reports.read.differences import Modules
from hlodb.reports.read.facts import Module, Run
from hlodb.reports.read.pairs import Verdict
from hlodb.reports.read.programs import ProgramRow
from hlodb.schema.connection import Connection


def explanations(
    connection: Connection,
    verdicts: Sequence[Verdict],
    steps: Sequence[history.Step],
    settings: Settings,
) -> Explanations:
    """Explain what moved between base and candidate, and the steps of the series."""
    moved = [m for v in verdicts if (m := _moved(v)) is not None]
    stepped = [m for s in steps if (m := _moved(s.verdict)) is not None]
    # Earlier steps are listed by their cause, which needs no split.
    asked = [*moved, *stepped]
    return explain(connection, asked, top=settings.top, split=set(moved))


def _moved(verdict: Verdict) -> Modules | None:
    """Return both modules where there is something to explain."""
    if verdict.change in ("new", "failed"):
        return None
    if verdict.change == "recovered" and not verdict.delta_bytes:
        return None
    return verdict.pair.both


class _Known(NamedTuple):
    """The facts that findings are made of, beside their verdicts."""

    scene: Scene
    settings: Settings
    explained: Explanations
    lines: history.Lines
    places: Mapping[int, int]


def findings_of(
    scene: Scene,
    verdicts: Sequence[Verdict],
    steps: Sequence[history.Step],
    explained: Explanations,
    lines: history.Lines,
    settings: Settings,
) -> list[Finding]:
    """Return a finding per verdict, then one per earlier step.

    A step that is the same difference as one of the candidate's is left out.
    """
    known = _Known(scene, settings, explained, lines, places_of(scene))
    since = scene.history.since
    found = with_own_ids(
        _finding(known, v, "candidate", scene.candidate, since[id(v.pair), v.color])
        for v in verdicts
    )
    ids = {f.id for f in found}
    for step in steps:
        finding = _finding(known, step.verdict, "history", step.run, step.since)
        if finding.id not in ids:
            ids.add(finding.id)
            found.append(finding)
    return found


def _finding(
    known: _Known, v: Verdict, scope: str, run: Run, since: history.Since
) -> Finding:
    settings, modules = known.settings, _moved(v)
    line = known.lines.get((since.track, v.color)) if since.track else None
    is_fixed = v.change == "improved" and scope == "candidate" and known.lines
    movement = Movement(
        verdict=v,
        id=_id(known, v, since),
        scope=scope,
        candidate_run=run,
        first_run=since.first,
        run_before=since.before,
        undone_run=since.undone if is_fixed else None,
        fate=since.fate or "" if scope == "history" else "",
        explanation=known.explained.get((modules, v.color)) if modules else None,
        history=[f"{p.run} {p.bytes} {p.mark}".rstrip() for p in line.points]
        if line
        else [],
    )
    platform = _module(v).platform
    limit = settings.limit_of(known.scene.candidate, v.color, v.space, platform)
    return make_finding(movement, settings, limit)


def _id(known: _Known, v: Verdict, since: history.Since) -> str:
    """Return the id of a finding by the program in the run that had it first.

    Of one that is missing, by the program in the last run that has it.
    """
    is_missing = v.pair.candidate is None
    there = since.before_module if is_missing else since.first_module
    module = there or _module(v)
    return finding_id(module, v.color, since.first.name, known.places[id(module)])


def place_of(v: Verdict) -> tuple[object, ...]:
    """Return the place of the row, and of the finding, that a verdict becomes."""
    return place(_program_row(v, _module(v)))


def platform_of(v: Verdict) -> str | None:
    """Return the platform that a verdict's program was compiled for."""
    return _module(v).platform


def _module(v: Verdict) -> Module:
    module = v.pair.candidate or v.pair.base
    assert module is not None
    return module


def program_rows(
    verdicts: Sequence[Verdict], findings: Sequence[Finding]
) -> list[ProgramRow]:
    """Return the row of every verdict, in the state that its finding is in."""
    told = {place(f): f for f in findings if f.scope == "candidate"}
    rows = []
    for row in (_program_row(v, _module(v)) for v in verdicts):
        f = told.get(place(row))
        rows.append(replace(row, change=f.change, state=f.state) if f else row)
    return sorted(
        rows, key=lambda r: (r.program, r.rank or 0, r.color, r.base_bytes or 0)
    )


def _program_row(v: Verdict, module: Module) -> ProgramRow:
    base, now = v.base, v.candidate
    return ProgramRow(
        program=module.program,
        base_program=other_name(v.pair),
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
        delta_ratio=ratio(v.delta_bytes, v.base_bytes),
        base_live_peak_bytes=base.live_peak_bytes if base else None,
        candidate_live_peak_bytes=now.live_peak_bytes if now else None,
        fragmentation_bytes=now.fragmentation_bytes if now else None,
        padding_bytes=now.padding_bytes if now else None,
        noise_band_bytes=v.noise_band_bytes,
    )

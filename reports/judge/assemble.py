"""Puts verdicts, steps and explanations together: findings, the table of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, islice
from typing import NamedTuple

from hlodb.reports.compare import history
from hlodb.reports.compare.pairs import Verdict, counts
from hlodb.reports.compare.scene import Scene
from hlodb.reports.compare.tracks import Track
from hlodb.reports.config.settings import Settings
from hlodb.reports.explain.differences import Modules
from hlodb.reports.explain.explain import Explanations, explain
from hlodb.reports.judge.finding_ids import finding_id, places_of, with_own_ids
from hlodb.reports.judge.findings import (
    Movement,
    make_finding,
    other_name,
    ratio,
)
from hlodb.reports.model.facts import Module, Run
from hlodb.reports.model.findings import Finding
from hlodb.reports.model.names import place
from hlodb.reports.model.report import ProgramRow
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
    tracks: Mapping[int, Track]
    lines: history.Lines
    places: Mapping[int, int]


class _Since(NamedTuple):
    """Since which run a difference stands, the run before, and the rise it undoes."""

    first: Run
    before: Run | None
    undone: Run | None


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
    tracks = {id(s.module): t for t in scene.tracks for s in t.sightings}
    known = _Known(scene, settings, explained, tracks, lines, places_of(scene))
    found = with_own_ids(
        _finding(known, v, "candidate", scene.candidate) for v in verdicts
    )
    ids = {f.id for f in found}
    for step in steps:
        finding = _finding(known, step.verdict, "history", step.run)
        if finding.id not in ids:
            ids.add(finding.id)
            found.append(finding)
    return found


def _finding(known: _Known, v: Verdict, scope: str, run: Run) -> Finding:
    scene, settings = known.scene, known.settings
    track = known.tracks.get(id(_module(v)))
    if track and v.pair.candidate is None and track.sightings[-1].run == run:
        track = None  # The series takes another program for what became of it.
    since = _since(known, track, v, scope, run)
    modules = _moved(v)
    line = known.lines.get((id(track.last), v.color)) if track else None
    movement = Movement(
        verdict=v,
        id=_id(known, track, v, since.first),
        scope=scope,
        candidate_run=run,
        first_run=since.first,
        run_before=since.before,
        undone_run=since.undone,
        fate=_fate(track, v, scene, settings) if scope == "history" else "",
        explanation=known.explained.get((modules, v.color)) if modules else None,
        history=[f"{p.run} {p.bytes} {p.mark}".rstrip() for p in line.points]
        if line
        else [],
    )
    limit = settings.limit_of(scene.candidate, v.color, v.space, _module(v).platform)
    return make_finding(movement, settings, limit)


def _id(known: _Known, track: Track | None, v: Verdict, first: Run) -> str:
    """Return the id of a finding by the program in the run that had it first."""
    there = (
        [s for s in track.sightings if s.run.run_id == first.run_id] if track else []
    )
    module = there[0].module if there else _module(v)
    if track and v.pair.candidate is None:
        module = track.last
    return finding_id(module, v.color, first.name, known.places[id(module)])


def _since(
    known: _Known, track: Track | None, v: Verdict, scope: str, run: Run
) -> _Since:
    base, candidate, before = v.pair.base, v.pair.candidate, v.pair.base_run
    if candidate is None and scope == "candidate":
        return _missing_since(known, track, run, before)
    if track is None or base is None or candidate is None:
        return _Since(run, before, None)
    profiles, settings = known.scene.profiles, known.settings
    first = history.first_run(track, base, candidate, v.color, profiles) or run
    like = None if v.pair.differing_keys else candidate
    earlier = track.before(first.run_id, like)
    undone = None
    if v.change == "improved" and scope == "candidate" and known.lines:
        undone = history.undone_step(track, candidate, v.color, profiles, settings)
    return _Since(first, earlier.run if earlier else before, undone)


def _missing_since(
    known: _Known, track: Track | None, run: Run, before: Run | None
) -> _Since:
    """Return the first run to lack a program that `run` lacks."""
    line, last = known.scene.line, track.sightings[-1].run if track else None
    following = dropwhile(lambda each: each != last, line)
    first = next(islice(following, 1, None), None)
    return _Since(first, last, None) if first else _Since(run, before, None)


def _fate(track: Track | None, v: Verdict, scene: Scene, settings: Settings) -> str:
    """Return the fate of an earlier step: a rise is `undone`, or one that counts
    `stands` in the candidate, as does an absence; else nothing is said.

    A rise of one more compilation is undone, too, where that is not there any more.

    Of a candidate with other shapes nobody knows whether the rise is in it.
    """
    if v.change == "failed":
        return "stands"
    low, high = v.base_bytes or 0, v.candidate_bytes or 0
    if track is None or low >= high:
        return ""
    is_there = track.sightings[-1].run.run_id == scene.candidate.run_id
    is_once = v.pair.is_again and not is_there
    if is_once or history.is_undone(track, v, scene.profiles):
        return "undone"
    is_known = is_there and track.comparable(track.last, _module(v))
    return "stands" if is_known and counts(low, high, settings) else ""


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

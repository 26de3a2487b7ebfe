"""Builds the report: which pairs, what moved, why, is it allowed, can one rely on it.

    runs → baseline → pairs → verdicts → explanations → findings → gates → Report

It only reads the warehouse, from one connection, and asks no clock: the same warehouse,
request and settings give the same report.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from hashlib import blake2b
from typing import NamedTuple

from hlodb.queries.catalogue import load_catalogue
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.definitions import METRICS, Metric
from hlodb.reports.judge.findings import cause_groups
from hlodb.reports.judge.notes import notes
from hlodb.reports.judge.outcome import conclude
from hlodb.reports.judge.report import REPORT_SCHEMA, Comparison, Report, plain
from hlodb.reports.judged import judge_scene
from hlodb.reports.read import capacity_and_health as sections
from hlodb.reports.read.capacity_and_health import Capacity, Health
from hlodb.reports.read.compared_runs import Request, Scene, read_scene
from hlodb.reports.read.environment import (
    EnvironmentChange,
    environment_changes,
    run_facts,
)
from hlodb.reports.read.facts import Module
from hlodb.reports.read.limits import Limits, read_limits
from hlodb.reports.read.programs import ProgramRow
from hlodb.reports.read.scaling import ScalingLaw, scaling_laws
from hlodb.reports.read.soundness import QualityRow, quality
from hlodb.reports.read.unassigned import captured, partial
from hlodb.reports.read.waste import Waste, waste
from hlodb.rules import rule_rows
from hlodb.schema.connection import Connection
from hlodb.version import __version__


def build_report(
    connection: Connection, request: Request, settings: Settings
) -> Report:
    """Return the report on a candidate.

    Raises UsageError for a run that is not there, NothingToCompare where the warehouse
    (or the series) holds no run at all. Where there is a candidate and no base, the
    report says so.
    """
    scene = read_scene(connection, request, settings)
    today = _today(request, scene)
    environment = _environment(connection, scene)
    limits = read_limits(connection, scene.candidate, settings)
    judged = judge_scene(connection, scene, request, settings, limits, today)
    beside = _sections_beside(
        connection, scene, judged.programs, request, settings, limits
    )
    report = Report(
        report_schema=REPORT_SCHEMA,
        report_id="",
        kind=request.kind,
        hlodb_version=__version__,
        stamp=request.stamp,
        today=today.isoformat() if today else None,
        verdict="",
        exit_code=0,
        headline="",
        counts={},
        comparison=_comparison(scene, settings, request, environment),
        gates=judged.gates,
        causes=cause_groups(judged.findings),
        findings=judged.findings,
        programs=judged.programs,
        capacity=beside.capacity,
        waste=beside.waste,
        health=beside.health,
        trends=judged.trends,
        role_histories=judged.role_histories,
        scaling=beside.scaling,
        quality=beside.quality,
        waivers=judged.waivers,
        settings=settings.described(),
        metrics=[*METRICS, *_parts()],
        notes=[
            *captured(connection, scene),
            *partial(connection, scene),
            *notes(scene, settings, judged.programs),
        ],
        curves=judged.curves,
        arenas=judged.arenas,
        flames=judged.flames,
        db=request.db,
    )
    return _with_id(conclude(report, request.fail_on, request.allow_empty))


class _Beside(NamedTuple):
    """The sections beside the findings."""

    capacity: list[Capacity]
    waste: list[Waste]
    health: list[Health]
    scaling: list[ScalingLaw]
    quality: list[QualityRow]


def _sections_beside(
    connection: Connection,
    scene: Scene,
    programs: Sequence[ProgramRow],
    request: Request,
    settings: Settings,
    limits: Limits,
) -> _Beside:
    catalogue = load_catalogue()
    base, candidate, top = scene.baseline.run, scene.candidate, settings.top
    asked = request.program
    present = [m for m in scene.present if asked in (None, m.program)]
    return _Beside(
        sections.capacity(connection, present, scene.profiles, candidate, settings),
        [
            each
            for each in waste(connection, programs, candidate, catalogue, settings)
            if asked in (None, each.program)
        ]
        if "waste" in request.shown
        else [],
        sections.health(connection, base, candidate, scene.noise, top),
        scaling_laws(connection, scene.modules, scene.line, settings, limits)
        if "series" in request.shown
        else [],
        quality(connection, scene.compared, catalogue, settings),
    )


def _parts() -> list[Metric]:
    """Return what each part of a difference means."""
    rows = rule_rows("difference_parts")
    return [Metric(part, "bytes", "neutral", f"{text}.") for part, text in rows]


def _today(request: Request, scene: Scene) -> date | None:
    """Return the day for waivers: the candidate's own, unless given."""
    started = scene.candidate.started_at
    return request.today or (started.date() if started else None)


def _environment(connection: Connection, scene: Scene) -> list[EnvironmentChange]:
    if scene.baseline.run is None:
        return []
    return environment_changes(connection, scene.baseline.run, scene.candidate)


def _comparison(
    scene: Scene,
    settings: Settings,
    request: Request,
    environment: list[EnvironmentChange],
) -> Comparison:
    pairs = [p for p in scene.pairs if p.both is not None]
    both = [modules for p in pairs if (modules := p.both) is not None]
    # Under `window` a program has a pair for every base of its own.
    programs = {id(c) for _, c in both}
    base = scene.baseline.run
    return Comparison(
        candidate=run_facts(scene.candidate, scene.present),
        base=run_facts(base, scene.modules[base.run_id]) if base else None,
        rule=scene.baseline.rule,
        rule_text=scene.baseline.text,
        series=request.series or settings.series or scene.candidate.series,
        series_runs=[run.name for run in scene.line],
        environment=environment,
        matched=len(programs),
        comparable=len(programs - {id(p.candidate) for p in pairs if p.differing_keys}),
        identical=len(programs - {id(c) for b, c in both if not _is_identical(b, c)}),
        same_source=len(programs - {id(c) for b, c in both if not _same_source(b, c)}),
    )


def _is_identical(base: Module, candidate: Module) -> bool:
    known = base.exact_fingerprint is not None
    return known and base.exact_fingerprint == candidate.exact_fingerprint


def _same_source(base: Module, candidate: Module) -> bool:
    known = base.source_graph is not None
    return known and base.source_graph == candidate.source_graph


def _with_id(report: Report) -> Report:
    """Return the report its id: a digest of its canonical JSON.

    Without stamp and version, and without the sections that are read on demand: these
    follow from the runs that the others name.
    """
    published = plain(report)
    for name in ("stamp", "hlodb_version", "waste", "role_histories", "scaling"):
        del published[name]
    canonical = json.dumps(published, sort_keys=True, separators=(",", ":"))
    digest = blake2b(canonical.encode(), digest_size=8)
    return replace(report, report_id=digest.hexdigest())

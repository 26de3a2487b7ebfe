"""Builds the report: which pairs, what moved, why, is it allowed, can one rely on it.

    runs → baseline → pairs → verdicts → explanations → findings → gates → Report

It only reads the warehouse, from one connection, and asks no clock: the same warehouse,
request and settings give the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from hashlib import blake2b

import duckdb

from hlodb.queries.catalogue import load_catalogue
from hlodb.reports import history, sections
from hlodb.reports.assemble import explanations, findings_of, program_rows
from hlodb.reports.definitions import METRICS
from hlodb.reports.environment import environment_changes, run_facts
from hlodb.reports.findings import cause_groups, in_order, with_triage
from hlodb.reports.gate_rows import GateFacts, gate_rows, waiver_rows
from hlodb.reports.model import (
    REPORT_SCHEMA,
    Comparison,
    EnvironmentChange,
    Gate,
    ProgramRow,
    Report,
)
from hlodb.reports.model_findings import Finding
from hlodb.reports.outcome import conclude
from hlodb.reports.pairs import Pair, is_identical, judge
from hlodb.reports.scene import Request, Scene, read_scene
from hlodb.reports.settings import Settings
from hlodb.reports.triage import holding, read_triage
from hlodb.version import __version__


def build_report(
    connection: duckdb.DuckDBPyConnection, request: Request, settings: Settings
) -> Report:
    """Give the report on a candidate.

    Raises UsageError for a run that is not there, NothingToCompare where the warehouse
    (or the series) holds no run at all. Where there is a candidate and no base, the
    report says so.
    """
    scene = read_scene(connection, request, settings)
    today = _today(request, scene)
    catalogue = load_catalogue()
    environment = _environment(connection, scene)
    verdicts = [
        verdict
        for pair in scene.pairs
        for verdict in judge(pair, scene.profiles, scene.bands, settings)
    ]
    is_report = request.kind == "report"
    steps = (
        history.steps(scene.tracks, scene.profiles, scene.bands, settings)
        if is_report
        else []
    )
    trends = (
        history.trends(scene.tracks, scene.profiles, steps, scene.candidate)
        if is_report
        else []
    )
    explained = explanations(connection, scene, verdicts, steps, settings, environment)
    found = findings_of(scene, verdicts, steps, explained, trends, settings)
    decisions = {k: holding(t, today) for k, t in read_triage(connection).items()}
    findings = in_order([with_triage(f, decisions.get(f.id)) for f in found])
    facts = _gate_facts(
        connection, scene, findings, program_rows(verdicts, findings), settings, today
    )
    gates = gate_rows(facts, settings) if is_report else []
    findings = _waived(findings, gates)
    programs = program_rows(verdicts, findings)
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
        gates=gates,
        causes=cause_groups(findings),
        findings=findings,
        programs=programs,
        capacity=sections.capacity(
            connection, scene.present, scene.profiles, scene.candidate.device, settings
        ),
        waste=sections.waste(
            connection, programs, scene.candidate, catalogue, settings.top
        ),
        health=sections.health(
            connection,
            scene.baseline.run,
            scene.candidate,
            scene.modules,
            scene.bands,
            settings.top,
        ),
        trends=trends,
        quality=sections.quality(connection, scene.compared, catalogue, settings),
        waivers=waiver_rows(gates, facts, settings) if is_report else [],
        settings=settings.described(),
        metrics=list(METRICS),
        notes=_notes(scene, settings, programs),
    )
    return _with_id(conclude(report, request.fail_on, request.allow_empty))


def _today(request: Request, scene: Scene) -> date | None:
    """Give the day that waivers are held against: the candidate's own, unless given."""
    started = scene.candidate.started_at
    return request.today or (started.date() if started else None)


def _environment(
    connection: duckdb.DuckDBPyConnection, scene: Scene
) -> list[EnvironmentChange]:
    if scene.baseline.run is None:
        return []
    return environment_changes(connection, scene.baseline.run, scene.candidate)


def _gate_facts(
    connection: duckdb.DuckDBPyConnection,
    scene: Scene,
    findings: Sequence[Finding],
    programs: Sequence[ProgramRow],
    settings: Settings,
    today: date | None,
) -> GateFacts:
    return GateFacts(
        findings=findings,
        programs=programs,
        device=scene.candidate.device,
        compiles=sections.compile_counts(scene.present),
        replicated=_replicated(connection, scene, settings),
        today=today,
    )


def _replicated(
    connection: duckdb.DuckDBPyConnection, scene: Scene, settings: Settings
) -> dict[str, tuple[int, int]]:
    """Give the replicated bytes of base and candidate by program, if a gate asks."""
    least = settings.replicated_bytes
    if least is None:
        return {}
    modules = [m for p in scene.pairs for m in (p.base, p.candidate) if m is not None]
    sizes = sections.replicated_bytes(connection, modules, least)

    def size(pair: Pair, name: str) -> int:
        module = getattr(pair, name)
        return sizes.get(module.module_id, 0) if module is not None else 0

    return {p.program: (size(p, "base"), size(p, "candidate")) for p in scene.pairs}


def _waived(findings: Sequence[Finding], gates: Sequence[Gate]) -> list[Finding]:
    """Give findings whose gate is waived that state, unless triage said another."""
    waived = {
        g.finding_id
        for g in gates
        if g.gate == "regression" and g.status == "waived" and g.finding_id
    }
    return [
        replace(f, state="waived") if f.id in waived and f.triage is None else f
        for f in findings
    ]


def _comparison(
    scene: Scene,
    settings: Settings,
    request: Request,
    environment: list[EnvironmentChange],
) -> Comparison:
    pairs = [p for p in scene.pairs if p.base is not None and p.candidate is not None]
    both = [(p.base, p.candidate) for p in pairs if p.base and p.candidate]
    base = scene.baseline.run
    return Comparison(
        candidate=run_facts(scene.candidate, scene.present),
        base=run_facts(base, scene.modules[base.run_id]) if base else None,
        rule=scene.baseline.rule,
        rule_text=scene.baseline.text,
        series=request.series or settings.series or scene.candidate.series,
        series_runs=[run.name for run in scene.line],
        environment=environment,
        matched=len(both),
        comparable=sum(not pair.differing_keys for pair in pairs),
        identical=sum(is_identical(b, c) for b, c in both),
        same_source=sum(
            b.source_graph is not None and b.source_graph == c.source_graph
            for b, c in both
        ),
    )


def _notes(
    scene: Scene, settings: Settings, programs: Sequence[ProgramRow]
) -> list[str]:
    notes = []
    if not any(scene.bands.values()) and scene.pairs:
        text = "Nothing was compiled twice with different memory"
        notes.append(f"{text}: the noise band is 0.")
    for run in scene.late_runs():
        notes.append(
            f"Run {run.name} came late: it was ingested after runs that follow it, and"
            " what was compared with its neighbours is compared anew."
        )
    for budget in settings.budgets:
        rows = [p for p in programs if p.candidate_bytes is not None]
        if not any(budget.program == "*" or _fits(budget.program, p) for p in rows):
            notes.append(f"The budget of {budget.program} fits no program of this run.")
    renamed = {(p.base_program, p.program) for p in programs if p.base_program}
    for old, new in sorted(renamed, key=repr):
        notes.append(f"Program {new} is followed under its old name {old}.")
    return notes


def _fits(glob: str, row: ProgramRow) -> bool:
    return fnmatchcase(row.program, glob)


def _with_id(report: Report) -> Report:
    """Give the report its id: a hash of its content without stamp and version."""
    bare = replace(report, stamp=None, hlodb_version="")
    digest = blake2b(repr(bare).encode(), digest_size=8)
    return replace(report, report_id=digest.hexdigest())

"""What moved between the runs, and whether that is allowed.

pairs → verdicts → explanations → findings → gates
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.assemble import (
    explanations,
    findings_of,
    place_of,
    platform_of,
    program_rows,
)
from hlodb.reports.judge.decisions import decided
from hlodb.reports.judge.drawn import drawn_trends, drawn_verdicts
from hlodb.reports.judge.finding_ids import former_ids
from hlodb.reports.judge.findings import Finding, in_order
from hlodb.reports.judge.gates import GateFacts, gate_rows, standing_rows
from hlodb.reports.judge.report import Gate, WaiverRow
from hlodb.reports.judge.waivers import waiver_rows, with_whole_ids
from hlodb.reports.read import capacity_and_health as sections
from hlodb.reports.read import history
from hlodb.reports.read.compared_runs import Request, Scene
from hlodb.reports.read.decisions import read_decisions
from hlodb.reports.read.differences import read_lost_donations
from hlodb.reports.read.drawn.arenas import ArenaMap, read_arena_maps
from hlodb.reports.read.drawn.curves import Curve, read_curves
from hlodb.reports.read.drawn.flames import FlamePair, read_flames
from hlodb.reports.read.drawn.role_histories import RoleHistory, read_role_histories
from hlodb.reports.read.facts import Module
from hlodb.reports.read.history import Trend
from hlodb.reports.read.limits import Limits, refused_programs
from hlodb.reports.read.pairs import Verdict
from hlodb.reports.read.programs import ProgramRow, scoped_bytes, without_scoped
from hlodb.schema.connection import Connection


class Judged(NamedTuple):
    """What moved, and whether that is allowed; a diff has no gates and no history."""

    findings: list[Finding]
    programs: list[ProgramRow]
    trends: list[Trend]
    role_histories: list[RoleHistory]
    gates: list[Gate]
    waivers: list[WaiverRow]
    curves: list[Curve]
    arenas: list[ArenaMap]
    flames: list[FlamePair]


def judge_scene(
    connection: Connection,
    scene: Scene,
    request: Request,
    settings: Settings,
    limits: Limits,
    today: date | None,
) -> Judged:
    """Judge every pair of a scene; `today` decides which waivers hold."""
    is_report = request.kind == "report"
    verdicts = scene.verdicts
    steps, lines = _history(scene, settings) if is_report else ([], {})
    trends = list(lines.values())
    has_base = scene.baseline.run is not None
    told = [v for v in verdicts if has_base and v.change != "same"]
    if is_report and settings.donation_loss:
        told += _hidden_losses(connection, verdicts, settings)
    explained = explanations(connection, told, steps, settings)
    found = findings_of(scene, told, steps, explained, lines, settings)
    decisions = read_decisions(connection)
    findings = decided(found, decisions, former_ids(scene), today, settings)
    findings = in_order(findings)
    scoped = scoped_bytes(connection, scene.candidate)
    programs = without_scoped(program_rows(verdicts, findings), scoped)
    drawn = drawn_verdicts(told, findings) if "pictures" in request.shown else []
    pictured = (
        read_curves(connection, drawn),
        read_arena_maps(connection, drawn),
        read_flames(connection, drawn),
    )
    if not is_report:
        findings = [_of_a_diff(f) for f in findings]
        return Judged(findings, programs, trends, [], [], [], *pictured)
    roles = (
        read_role_histories(
            connection,
            scene.history.tracks,
            lines,
            drawn_trends(trends, findings),
            scene.profiles,
        )
        if "series" in request.shown
        else []
    )
    facts = GateFacts(
        findings=findings,
        programs=programs,
        platforms={place_of(v): platform_of(v) for v in verdicts},
        candidate=scene.candidate,
        limits=limits,
        refused=refused_programs(connection, scene.candidate),
        compiles=(
            sections.compile_counts(connection, scene.candidate)
            if settings.recompiles is not None
            else {}
        ),
        replicated=_replicated(connection, scene, settings),
        today=today,
    )
    settings = with_whole_ids(settings, findings)
    gates = gate_rows(facts, settings)
    standing = standing_rows(facts, settings)
    regressions = [g for g in gates if g.gate == "regression"]
    findings = _waived(findings, [*regressions, *standing])
    programs = without_scoped(program_rows(verdicts, findings), scoped)
    waivers = waiver_rows([*gates, *standing], settings, today)
    return Judged(findings, programs, trends, roles, gates, waivers, *pictured)


def _of_a_diff(finding: Finding) -> Finding:
    """Return a finding of a diff without the command of the diff that it is in."""
    kept = [c for c in finding.commands if not c.startswith("hlodb diff ")]
    return replace(finding, commands=kept)


def _hidden_losses(
    connection: Connection,
    verdicts: Sequence[Verdict],
    settings: Settings,
) -> list[Verdict]:
    """Return verdicts `same` behind which the gate `donation_loss` finds something.

    What was lost may be little beside the rest, or made up for by something else.
    """
    small = [v for v in verdicts if v.rule in ("below_floor", "equal_bytes")]
    pairs = list(dict.fromkeys(pair for v in small if (pair := v.pair.both)))
    lost = dict(zip(pairs, read_lost_donations(connection, pairs), strict=True))
    return [
        v
        for v in small
        if (pair := v.pair.both) is not None
        and lost[pair].get(v.color, 0) > settings.floor_bytes
    ]


def _history(
    scene: Scene, settings: Settings
) -> tuple[list[history.Step], history.Lines]:
    """Return steps and absences of the series, and every program's line through it."""
    found, line, base = scene.history, scene.line, scene.baseline.run
    steps = [s for s in found.steps if s.verdict.change != "failed"]
    lines = history.trends(found.tracks, scene.profiles, steps, scene.candidate)
    if settings.missing_program and base in line:
        # To compare base and candidate, which both lack it, does not show it.
        until = line[: line.index(base) + 1]
        failed = [s for s in found.steps if s.verdict.change == "failed"]
        steps += [s for s in failed if s.run in until]
    return steps, lines


def _replicated(
    connection: Connection, scene: Scene, settings: Settings
) -> list[tuple[str, int, int]]:
    """Return the replicated bytes of base and candidate of programs, if a gate asks.

    Programs of one name have a row each, and so have ranks, unless these are alike.
    """
    least = settings.replicated_bytes
    if least is None:
        return []
    modules = [m for p in scene.pairs for m in (p.base, p.candidate) if m is not None]
    sizes = sections.replicated_bytes(connection, modules, least)

    def size(module: Module | None) -> int:
        return sizes.get(module.earliest_id, 0) if module is not None else 0

    return sorted({(p.program, size(p.base), size(p.candidate)) for p in scene.pairs})


def _waived(findings: Sequence[Finding], gates: Sequence[Gate]) -> list[Finding]:
    """Mark findings as waived whose gate is, unless triage decided otherwise."""
    waived = {g.finding_id for g in gates if g.status == "waived"}
    return [
        replace(f, state="waived") if f.id in waived and f.triage is None else f
        for f in findings
    ]

"""Build a report: read facts, judge them, read the data of pictures.

    read → judge → document → pictures | render

A report depends on warehouse, request and settings alone: it never reads the clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b

from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.definitions import METRICS, part_metrics
from hlodb.reports.judge.drawn import drawn_trends, drawn_verdicts
from hlodb.reports.judge.findings import cause_groups
from hlodb.reports.judge.judgement import Judgement, judge
from hlodb.reports.judge.notes import notes
from hlodb.reports.judge.report import REPORT_SCHEMA, Report, published
from hlodb.reports.read.compared_runs import ComparedRuns, Request, parse_side
from hlodb.reports.read.details import DetailsOfPairs
from hlodb.reports.read.drawn.arenas import ArenaMap, read_arena_maps
from hlodb.reports.read.drawn.curves import Curve, read_curves
from hlodb.reports.read.drawn.flames import FlamePair, read_flames
from hlodb.reports.read.drawn.role_histories import (
    RoleHistory,
    read_role_histories,
)
from hlodb.reports.read.facts import read_runs
from hlodb.reports.read.report_facts import ReportFacts, read_report_facts
from hlodb.schema.connection import Connection
from hlodb.version import __version__


def build_report(
    connection: Connection,
    request: Request,
    settings: Settings,
    known: DetailsOfPairs | None = None,
    compared: ComparedRuns | None = None,
) -> Report:
    """Return the report on a candidate.

    `known` and `compared` are as for `read_report_facts`. Raise UsageError for an
    unknown run, NothingToCompare where the warehouse (or the series) holds no run at
    all. A candidate without a base has a report that says so.
    """
    facts = read_report_facts(connection, request, settings, known, compared)
    judged = judge(facts, request, settings)
    compared, findings = facts.compared, judged.findings
    is_drawn = "pictures" in request.shown
    drawn = drawn_verdicts(facts.moved, findings) if is_drawn else []
    trends = list(facts.lines.values())
    series = drawn_trends(trends, findings) if "series" in request.shown else []
    return _report(
        facts,
        judged,
        request,
        settings,
        role_histories=read_role_histories(
            connection, compared.history.tracks, facts.lines, series, compared.profiles
        ),
        curves=read_curves(connection, drawn),
        arenas=read_arena_maps(connection, drawn),
        flames=read_flames(connection, drawn),
    )


def report_on(facts: ReportFacts, settings: Settings) -> Report:
    """Return the diff whose facts were read with those of other runs.

    Of its pictures it has those that need no more than the facts.
    """
    request = Request(kind="diff")
    settings = replace(settings, budgets=())  # Gates are of reports.
    judged = judge(facts, request, settings)
    series = drawn_trends(facts.lines.values(), judged.findings)
    # Which roles fill the memory of earlier runs is not known.
    untold = [
        RoleHistory(t.program, t.rank, t.module_number, t.color, t.space, [])
        for t in series
    ]
    return _report(facts, judged, request, settings, role_histories=untold)


def _report(
    facts: ReportFacts,
    judged: Judgement,
    request: Request,
    settings: Settings,
    role_histories: list[RoleHistory],
    curves: Sequence[Curve] = (),
    arenas: Sequence[ArenaMap] = (),
    flames: Sequence[FlamePair] = (),
) -> Report:
    compared, findings = facts.compared, judged.findings
    report = partial(
        Report,
        report_schema=REPORT_SCHEMA,
        kind=request.kind,
        hlodb_version=__version__,
        stamp=request.stamp,
        today=judged.today.isoformat() if judged.today else None,
        **judged.outcome._asdict(),
        comparison=judged.comparison,
        causes=cause_groups(findings),
        findings=findings,
        programs=judged.programs,
        capacity=facts.capacity,
        waste=facts.waste,
        health=facts.health,
        trends=list(facts.lines.values()),
        role_histories=role_histories,
        scaling=facts.scaling,
        quality=facts.quality,
        waivers=judged.waivers,
        settings=settings.described(),
        metrics=[*METRICS, *part_metrics()],
        notes=[*facts.unassigned, *notes(compared, settings, judged.programs)],
        curves=list(curves),
        arenas=list(arenas),
        flames=list(flames),
        db=request.db,
    )
    return report(report_id=_report_id(report.keywords))


def build_diff(
    connection: Connection,
    base: str,
    candidate: str,
    settings: Settings,
    *,
    top: int,
    shown: frozenset[str] = frozenset(),
    db: str | None = None,
) -> Report:
    """Return the report on two sides, RUN or RUN:PROGRAM, without gates.

    Of the settings only devices and limit apply: everything counts in a diff. Unsound
    data leaves it unknown, as it does a report.
    """
    runs = read_runs(connection)
    base_run, base_program = parse_side(base, runs)
    run, program = parse_side(candidate, runs)
    request = Request(
        candidate=run,
        baseline=f"run:{base_run}",
        kind="diff",
        program=program,
        base_program=base_program,
        shown=shown,
        db=db,
    )
    everything = Settings(
        floor_bytes=0,
        floor_ratio=0.0,
        top=top,
        devices=settings.devices,
        limit_bytes=settings.limit_bytes,
    )
    return build_report(connection, request, everything)


def _report_id(fields: Mapping[str, object]) -> str:
    """Return a digest of the fields of a report as canonical JSON.

    Stamp, version and the sections that are read on demand are left out: a report has
    the same id in every format.
    """
    content = published(Report, fields)
    for name in ("stamp", "hlodb_version", "waste", "role_histories", "scaling"):
        del content[name]
    # The id was part of the digest, as empty text, when the first ids were recorded.
    content["report_id"] = ""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=8).hexdigest()

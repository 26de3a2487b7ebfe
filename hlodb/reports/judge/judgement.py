"""Judge the facts of a report: findings, gates and waivers, then the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.decisions import decided
from hlodb.reports.judge.finding_ids import former_ids
from hlodb.reports.judge.findings import DONATION_LOST, Finding, in_order
from hlodb.reports.judge.former_names import former_names
from hlodb.reports.judge.gates import GateFacts, gate_rows, standing_rows
from hlodb.reports.judge.headline import headline_of
from hlodb.reports.judge.make_findings import make_findings
from hlodb.reports.judge.names import place
from hlodb.reports.judge.report import Comparison, Gate, Judged, WaiverRow
from hlodb.reports.judge.verdict import exit_code_of, judged_gates, verdict_of
from hlodb.reports.judge.waivers import waiver_rows, with_whole_ids
from hlodb.reports.read.compared_runs import ComparedRuns, Request
from hlodb.reports.read.environment import EnvironmentChange, run_facts
from hlodb.reports.read.facts import Module
from hlodb.reports.read.programs import ProgramRow, program_row
from hlodb.reports.read.report_facts import ReportFacts


class Outcome(NamedTuple):
    """The verdict, and the fields of a report that follow from it."""

    verdict: str
    exit_code: int
    headline: str
    counts: dict[str, int]
    gates: list[Gate]


class Judgement(NamedTuple):
    """Everything that is decided about the facts; a diff has no gates and waivers."""

    today: date | None
    comparison: Comparison
    findings: list[Finding]
    programs: list[ProgramRow]
    waivers: list[WaiverRow]
    outcome: Outcome


def judge(facts: ReportFacts, request: Request, settings: Settings) -> Judgement:
    """Return findings, gates and verdict, by nothing but the arguments."""
    compared = facts.compared
    started = compared.candidate.started_at
    # Waivers must hold on the day of the candidate, unless another one is given.
    today = request.today or (started.date() if started else None)
    found = make_findings(facts, settings)
    former = former_ids(compared)
    findings = in_order(decided(found, facts.decisions, former, today, settings))
    gates: list[Gate] = []
    waivers: list[WaiverRow] = []
    if request.kind == "report":
        gate_facts = _gate_facts(facts, findings, today)
        settings = with_whole_ids(settings, findings)
        gates = gate_rows(gate_facts, settings)
        standing = standing_rows(gate_facts, settings)
        findings = _waived(findings, [*_deciding(gates, findings), *standing])
        waivers = waiver_rows([*gates, *standing], settings, today)
    else:
        findings = [_of_a_diff(f) for f in findings]
    programs = _with_states(facts.programs, findings)
    series = request.series or settings.series or compared.candidate.series
    comparison = _comparison(compared, series, facts.environment)
    judged = Judged(
        request.kind,
        comparison,
        findings,
        programs,
        gates,
        facts.capacity,
        facts.quality,
    )
    return Judgement(
        today,
        comparison,
        findings,
        programs,
        waivers,
        _outcome(judged, request),
    )


def _outcome(judged: Judged, request: Request) -> Outcome:
    """Return verdict, exit code, headline and counts.

    Unsound data leaves the verdict unknown, whatever the gates say: neither a pass nor
    a failure can be relied on. No gate is listed where nothing was compared.
    """
    counts = Counter(row.state for row in judged.programs)
    verdict = verdict_of(judged)
    return Outcome(
        verdict,
        exit_code_of(judged, verdict, request.fail_on, request.allow_empty),
        headline_of(judged, verdict, counts),
        dict(sorted(counts.items())),
        [] if verdict == "nothing" else judged_gates(judged),
    )


def _gate_facts(
    facts: ReportFacts, findings: Sequence[Finding], today: date | None
) -> GateFacts:
    rows = {place(program_row(v)): v for v in facts.compared.verdicts}
    return GateFacts(
        findings=findings,
        programs=facts.programs,
        platforms={at: v.pair.module.platform for at, v in rows.items()},
        candidate=facts.compared.candidate,
        limits=facts.limits,
        refused=facts.refused,
        compiles=facts.compiles,
        replicated=facts.replicated,
        today=today,
        former=former_names(facts.compared),
    )


def _of_a_diff(finding: Finding) -> Finding:
    """Return a finding of a diff without the command of the diff that it is in."""
    kept = [c for c in finding.commands if not c.startswith("hlodb diff ")]
    return replace(finding, commands=kept)


def _deciding(gates: Iterable[Gate], findings: Iterable[Finding]) -> list[Gate]:
    """Return the gates whose waiver leaves a finding waived."""
    lost = {f.id for f in findings if f.state == DONATION_LOST}
    return [
        g
        for g in gates
        if g.gate == "regression"
        or (g.gate == "donation_loss" and g.finding_id in lost)
    ]


def _waived(findings: Iterable[Finding], gates: Sequence[Gate]) -> list[Finding]:
    """Mark findings as waived whose gates all are, unless triage decided otherwise."""
    waived = {g.finding_id for g in gates if g.status == "waived"}
    waived -= {g.finding_id for g in gates if g.status == "fail"}
    return [
        replace(f, state="waived") if f.id in waived and f.triage is None else f
        for f in findings
    ]


def _with_states(
    programs: Iterable[ProgramRow], findings: Iterable[Finding]
) -> list[ProgramRow]:
    """Return programs in the states of their findings."""
    found = {place(f): f for f in findings if f.scope == "candidate"}
    return [
        replace(row, change=f.change, state=f.state)
        if (f := found.get(place(row)))
        else row
        for row in programs
    ]


def _rule_text(compared: ComparedRuns) -> str:
    """Return why a base was chosen, and whether it came later than the candidate."""
    base, candidate = compared.baseline.run, compared.candidate
    text = compared.baseline.text
    if base is None or compared.baseline.rule == "run":
        return text
    if base.ingested_at is None or candidate.ingested_at is None:
        return text
    if base.ingested_at <= candidate.ingested_at:
        return text
    return (
        f"{text}, though it was ingested later: its files are older, or it was dated so"
        " (--started-at)"
    )


def _comparison(
    compared: ComparedRuns, series: str | None, environment: list[EnvironmentChange]
) -> Comparison:
    pairs = [p for p in compared.pairs if p.both is not None]
    both = [modules for p in pairs if (modules := p.both) is not None]
    # Under `window` a program has a pair for every base of its own.
    programs = {c.key for _, c in both}
    other_inputs = {c.key for p in pairs if p.differing_keys and (c := p.candidate)}
    other_results = {c.key for b, c in both if not _is_identical(b, c)}
    other_sources = {c.key for b, c in both if not _same_source(b, c)}
    base = compared.baseline.run
    return Comparison(
        candidate=run_facts(compared.candidate, compared.present),
        base=run_facts(base, compared.modules[base.run_id]) if base else None,
        rule=compared.baseline.rule,
        rule_text=_rule_text(compared),
        series=series,
        series_runs=[
            run.name for run in compared.line if run.series == compared.candidate.series
        ],
        environment=environment,
        matched=len(programs),
        comparable=len(programs - other_inputs),
        identical=len(programs - other_results),
        same_source=len(programs - other_sources),
    )


def _is_identical(base: Module, candidate: Module) -> bool:
    known = base.exact_fingerprint is not None
    return known and base.exact_fingerprint == candidate.exact_fingerprint


def _same_source(base: Module, candidate: Module) -> bool:
    known = base.source_graph is not None
    return known and base.source_graph == candidate.source_graph

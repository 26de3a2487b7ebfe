"""What a report saw of findings, as the events that triage keeps of them."""

from __future__ import annotations

from hlodb.reports.compare.read import rows
from hlodb.reports.judge.findings import ALERTING
from hlodb.reports.model.findings import Finding, Triage
from hlodb.reports.model.report import ProgramRow, Report
from hlodb.schema.connection import Connection

SEEN, UNDONE, OUTGROWN, NOTED = "seen", "undone", "outgrown", "noted"


def sighting(finding: Finding, decision: Triage | None) -> str:
    """Return the event of a report: `outgrown` if decided about less, `noted` what
    needs no decision."""
    if finding.state == UNDONE:
        return UNDONE
    seen = SEEN if _needs_decision(finding) else NOTED
    if decision is None or decision.status == "reopened" or finding.triage is not None:
        return seen
    now, then = finding.candidate_bytes, decision.candidate_bytes
    return OUTGROWN if now and then and now > then else seen


def _needs_decision(finding: Finding) -> bool:
    """Return whether a finding fails a gate, or stands since it did.

    What is the same is a finding only where a donation was lost.
    """
    is_bad = finding.change in (*ALERTING, "failed", "same")
    return is_bad and (finding.scope == "candidate" or finding.stands)


def returned(connection: Connection, report: Report) -> dict[str, ProgramRow]:
    """Return the findings about missing programs that the candidate holds again.

    By their ids, with the row of the program. A report names what is still missing.
    """
    *earlier, _ = report.comparison.series_runs
    missing = {finding.id for finding in report.findings}
    present = {
        (p.program, p.rank, p.color): p
        for p in report.programs
        if p.candidate_bytes is not None
    }
    ranks = {rank for _, rank, _ in present}
    found = {}
    for row in rows(connection, "failed_findings"):
        finding, first_run, is_of_lone_host, program, rank, color = row
        if is_of_lone_host and len(ranks) == 1 and None in {rank, *ranks}:
            [rank] = ranks  # Of one host, see in_ranks_of.
        which = program, rank, color
        if first_run in earlier and finding not in missing and which in present:
            found[finding] = present[which]
    return found

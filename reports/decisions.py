"""What people decided about findings, and whether it still holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import duckdb

from hlodb.reports.findings import ALERTING
from hlodb.reports.model_findings import Finding, Triage
from hlodb.reports.pairs import counts
from hlodb.reports.read import rows
from hlodb.reports.settings import Settings
from hlodb.reports.sizes import plain_bytes


def read_decisions(connection: duckdb.DuckDBPyConnection) -> dict[str, Triage]:
    """Give the last decision about every finding that has one."""
    return {
        finding: Triage(status, reason or "", until, actor, candidate_bytes)
        for finding, status, reason, until, actor, candidate_bytes in rows(
            connection, "decisions"
        )
        if status != "reopened"
    }


def decided(
    findings: Sequence[Finding],
    decisions: Mapping[str, Triage],
    today: date | None,
    settings: Settings,
) -> list[Finding]:
    """Give findings in the state that decisions leave them in.

    A waiver ends on its day, and any decision where memory grew beyond what it was
    about: by as much as would be a difference. The finding then says so.
    """
    found = []
    for finding in findings:
        triage = decisions.get(finding.id)
        if triage is not None and _has_ended(triage, today):
            triage = None
        if triage is not None and _has_grown(triage, finding, settings):
            finding = _outgrown(finding, triage)
            triage = None
        found.append(_with(finding, triage))
    return found


def _has_ended(triage: Triage, today: date | None) -> bool:
    if triage.until is None or today is None:
        return False
    return today >= date.fromisoformat(triage.until)


def _has_grown(triage: Triage, finding: Finding, settings: Settings) -> bool:
    before, now = triage.candidate_bytes, finding.candidate_bytes
    if before is None or now is None:
        return False
    return now > before and counts(before, now, settings)


def _outgrown(finding: Finding, triage: Triage) -> Finding:
    text = f"{triage.status} at {plain_bytes(triage.candidate_bytes)}, grown since"
    return replace(finding, tags=[*finding.tags, text])


def _with(finding: Finding, triage: Triage | None) -> Finding:
    if triage is None:
        return finding
    state = triage.status if finding.change in ALERTING else finding.state
    return replace(finding, triage=triage, state=state)

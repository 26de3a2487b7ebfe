"""Apply the decisions of `hlodb triage` to findings, as long as they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.findings import OPEN, Finding
from hlodb.reports.judge.sentences import EXPIRED
from hlodb.reports.judge.waivers import COVERED
from hlodb.reports.read.decisions import Decisions, Triage
from hlodb.text import plain_bytes


def decided(
    findings: Sequence[Finding],
    decisions: Decisions,
    former_ids: Mapping[str, Sequence[str]],
    today: date | None,
    settings: Settings,
) -> list[Finding]:
    """Return findings in the state that decisions leave them in.

    A finding without any takes that of an id that it had before a late run came, unless
    that id is another finding's now. A waiver ends on its day, and any decision where
    memory grew beyond what it was about: by as much as would be a difference. The
    finding then says so.
    """
    found = []
    taken = {finding.id for finding in findings}
    for finding in findings:
        former = (i for i in former_ids.get(finding.id, []) if i not in taken)
        made = (decisions[i] for i in (finding.id, *former) if i in decisions)
        triage = next(made, None)
        if triage is not None and _has_ended(triage, today):
            finding = _expired(finding, triage)
            triage = None
        if triage is not None and _has_grown(triage, finding, settings):
            finding = _outgrown(finding, triage)
            triage = None
        found.append(_with(finding, triage))
    return found


def _has_ended(triage: Triage, today: date | None) -> bool:
    if triage.status == "reopened":
        return True
    if triage.until is None or today is None:
        return False
    return today >= date.fromisoformat(triage.until)


def _expired(finding: Finding, triage: Triage) -> Finding:
    if triage.until is None:
        return finding
    return replace(finding, tags=[*finding.tags, f"{EXPIRED} {triage.until}"])


def _has_grown(triage: Triage, finding: Finding, settings: Settings) -> bool:
    before, now = triage.candidate_bytes, finding.candidate_bytes
    if before is None or now is None:
        return False
    return now > before and settings.counts(before, now)


def _outgrown(finding: Finding, triage: Triage) -> Finding:
    text = f"{triage.status} at {plain_bytes(triage.candidate_bytes)}, grown since"
    return replace(finding, tags=[*finding.tags, text])


def _with(finding: Finding, triage: Triage | None) -> Finding:
    """Return a finding with its decision.

    One that allows nothing leaves its state, and so does any where a rise is undone.
    """
    if triage is None:
        return finding
    is_allowed = finding.state in OPEN and triage.status in COVERED
    state = triage.status if is_allowed else finding.state
    return replace(finding, triage=triage, state=state)

"""Waive gates: by decisions of `hlodb triage`, by waivers of hlodb.toml."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from hlodb.errors import UsageError
from hlodb.reports.config.settings import Settings, Waiver, covers
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Gate, WaiverRow

COVERED = ("accepted", "waived", "invalid", "duplicate")
"""Decisions of triage under which a finding does not fail its gate."""


def with_whole_ids(settings: Settings, findings: Iterable[Finding]) -> Settings:
    """Return settings whose waivers name findings by their whole ids.

    The beginning of an id is enough where one finding of the report has it; UsageError
    where several do.
    """
    ids = sorted({finding.id for finding in findings})
    waivers = [
        replace(w, finding=_whole_id(w.finding, ids)) if w.finding else w
        for w in settings.waivers
    ]
    return replace(settings, waivers=tuple(waivers))


def _whole_id(beginning: str, ids: Sequence[str]) -> str:
    fitting = [each for each in ids if each.startswith(beginning)]
    if len(fitting) > 1:
        raise UsageError(
            f"a waiver is of finding {beginning!r}, which begins"
            f" {', '.join(fitting)}: give more of it"
        )
    return fitting[0] if fitting else beginning


def waived(
    rows: Iterable[Gate],
    findings: Iterable[Finding],
    settings: Settings,
    today: date | None,
) -> list[Gate]:
    """Return rows of which those that somebody allowed are waived."""
    by_id = {finding.id: finding for finding in findings}
    return [
        _waived(row, by_id.get(row.finding_id or ""), settings, today)
        if row.status in ("fail", "warn")
        else row
        for row in rows
    ]


def _waived(
    row: Gate, finding: Finding | None, settings: Settings, today: date | None
) -> Gate:
    triage = finding.triage if finding else None
    if row.gate != "budget" and triage and triage.status in COVERED:
        reason = f"{triage.status}: {triage.reason}"
        return replace(row, status="waived", reason=reason, until=triage.until)
    for waiver in settings.waivers:
        if _fits(waiver, row) and not _has_expired(waiver, today):
            return replace(
                row,
                status="waived",
                reason=waiver.reason,
                owner=waiver.owner,
                until=waiver.until.isoformat(),
            )
    return row


def _fits(waiver: Waiver, row: Gate) -> bool:
    """Return whether a waiver is about what a row fails."""
    if waiver.gate not in ("*", row.gate):
        return False
    if waiver.finding not in (None, row.finding_id):
        return False
    return covers(waiver, row.program or "", row.color, row.space)


def _has_expired(waiver: Waiver, today: date | None) -> bool:
    """Return whether the day has come on which a waiver no longer holds."""
    return today is not None and today >= waiver.until


def waiver_rows(
    rows: Sequence[Gate], settings: Settings, today: date | None
) -> list[WaiverRow]:
    """Return every waiver with what became of it: used, unused or expired."""
    found = []
    for waiver in settings.waivers:
        used = any(r.status == "waived" and _fits(waiver, r) for r in rows)
        status = "expired" if _has_expired(waiver, today) else "unused"
        found.append(
            WaiverRow(
                waiver.program,
                waiver.space,
                waiver.gate,
                waiver.owner,
                waiver.reason,
                waiver.until.isoformat(),
                "used" if used else status,
            )
        )
    return found

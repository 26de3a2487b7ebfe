"""Keeps findings and what people decided about them in the warehouse.

A report reads decisions and, once computed, adds what it saw: two schedulers that
compute the same report add it once. A decision is an event; nothing is overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from hlodb.errors import UsageError
from hlodb.queries.nearest import nearest
from hlodb.queries.result import Result, plain_column
from hlodb.reports.decisions import read_decisions
from hlodb.reports.model import Report
from hlodb.reports.model_findings import Finding, Triage
from hlodb.reports.read import rows
from hlodb.schema.warehouse import transaction

DECISIONS = {
    "accept": "accepted",
    "waive": "waived",
    "invalid": "invalid",
    "fixed": "fixed",
    "acknowledge": "acknowledged",
    "duplicate": "duplicate",
    "reopen": "reopened",
}
"""What `hlodb triage` can decide, and the state that a finding is in from then on."""

_SEEN, _UNDONE, _OUTGROWN = "seen", "undone", "outgrown"


def record(database: Path, report: Report) -> bool:
    """Add what a report saw; False where it was recorded before."""
    with transaction(database) as connection:
        known = connection.execute(
            "SELECT 1 FROM finding_events WHERE report_id = ?", [report.report_id]
        ).fetchone()
        if known or not report.findings:
            return False
        decided = read_decisions(connection)
        for finding in report.findings:
            connection.execute(_INSERT_FINDING, _finding_row(finding, report))
            if finding.triage is not None and finding.id not in decided:
                _follow(connection, finding.id, finding.triage)
            _add_event(
                connection,
                finding.id,
                event=_sighting(finding, decided.get(finding.id)),
                report_id=report.report_id,
                candidate_run=finding.candidate_run,
                candidate_bytes=finding.candidate_bytes,
            )
    return True


def _sighting(finding: Finding, decision: Triage | None) -> str:
    """Say what a report saw: `outgrown` where a decision was about less."""
    if finding.state == _UNDONE:
        return _UNDONE
    if decision is None or decision.status == "reopened" or finding.triage is not None:
        return _SEEN
    now, then = finding.candidate_bytes, decision.candidate_bytes
    return _OUTGROWN if now and then and now > then else _SEEN


def _follow(
    connection: duckdb.DuckDBPyConnection, finding: str, triage: Triage
) -> None:
    """Keep a decision that was made about an earlier id of the finding."""
    _add_event(
        connection,
        finding,
        event=triage.status,
        reason=triage.reason,
        until=triage.until,
        actor=triage.actor,
        candidate_bytes=triage.candidate_bytes,
    )


_INSERT_FINDING = """
INSERT INTO findings BY POSITION
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""

_INSERT_EVENT = """
INSERT INTO finding_events
SELECT
  $finding_id, coalesce(max(e.event_number), 0) + 1, $event, $reason, $until, $actor,
  $happened_at, $report_id, $candidate_run, $candidate_bytes
FROM finding_events AS e
WHERE e.finding_id = $finding_id
"""

_LAST_SEEN = """
SELECT arg_max(e.candidate_bytes, e.event_number)
FROM finding_events AS e
WHERE e.finding_id = ? AND e.report_id IS NOT NULL
"""


def _finding_row(f: Finding, report: Report) -> list[object]:
    return [
        f.id,
        f.program,
        f.rank,
        f.color,
        f.space,
        f.metric,
        f.first_run,
        f.base_run,
        f.change,
        f.base_bytes,
        f.candidate_bytes,
        f.cause.key if f.cause else None,
        f.cause.title if f.cause else None,
        report.report_id,
    ]


def _add_event(
    connection: duckdb.DuckDBPyConnection,
    finding: str,
    *,
    event: str,
    reason: str | None = None,
    until: str | None = None,
    actor: str | None = None,
    report_id: str | None = None,
    candidate_run: str | None = None,
    candidate_bytes: int | None = None,
) -> None:
    connection.execute(
        _INSERT_EVENT,
        {
            "finding_id": finding,
            "event": event,
            "reason": reason,
            "until": until,
            "actor": actor,
            "happened_at": datetime.now(UTC).replace(tzinfo=None),
            "report_id": report_id,
            "candidate_run": candidate_run,
            "candidate_bytes": candidate_bytes,
        },
    )


def decide(
    database: Path,
    finding: str,
    decision: str,
    *,
    reason: str,
    until: date | None,
    actor: str | None,
) -> str:
    """Record a decision about a finding and give its full id.

    `finding` may be the beginning of an id. Raises UsageError where no finding, or more
    than one, has it.
    """
    with transaction(database) as connection:
        found = _find(connection, finding)
        _add_event(
            connection,
            found,
            event=DECISIONS[decision],
            reason=reason,
            until=until.isoformat() if until else None,
            actor=actor,
            candidate_bytes=_last_seen(connection, found),
        )
    return found


def _last_seen(connection: duckdb.DuckDBPyConnection, finding: str) -> int | None:
    """Give the bytes that the last report saw of a finding: what is decided about."""
    row = connection.execute(_LAST_SEEN, [finding]).fetchone()
    size: int | None = row[0] if row else None
    return size


def _find(connection: duckdb.DuckDBPyConnection, beginning: str) -> str:
    ids: Sequence[str] = [
        row[0]
        for row in connection.execute("SELECT finding_id FROM findings").fetchall()
    ]
    fitting = [each for each in ids if each.startswith(beginning)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(
            f"{beginning!r} begins {len(fitting)} findings: give more of it"
        )
    hint = nearest(beginning, ids) or "; `hlodb triage` lists them"
    raise UsageError(f"there is no finding {beginning!r}{hint}")


_LISTED = {
    "finding_id": "VARCHAR",
    "status": "VARCHAR",
    "change": "VARCHAR",
    "program": "VARCHAR",
    "space_name": "VARCHAR",
    "delta_bytes": "BIGINT",
    "first_run": "VARCHAR",
    "seen_count": "BIGINT",
    "cause_title": "VARCHAR",
    "until": "VARCHAR",
    "actor": "VARCHAR",
    "reason": "VARCHAR",
}


def listing(connection: duckdb.DuckDBPyConnection) -> Result:
    """Give every finding with its last decision, the undecided and largest first."""
    columns = tuple(plain_column(name, kind) for name, kind in _LISTED.items())
    return Result(columns, rows(connection, "findings"))

"""Keep findings, and decisions about them, in the warehouse.

A report reads decisions and, once computed, adds what it saw: two schedulers that
compute the same report add it once. A decision is an event; nothing is overwritten.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from hlodb.errors import UsageError
from hlodb.lake.findings import recording
from hlodb.queries.result import Result, plain_column
from hlodb.reports.judge.findings import ALERTING, DONATION_LOST, Finding
from hlodb.reports.judge.report import Report
from hlodb.reports.read.decisions import Triage, read_decisions
from hlodb.reports.read.facts import rows
from hlodb.reports.read.programs import ProgramRow
from hlodb.schema.connection import Connection
from hlodb.text import nearest

_Row = Mapping[str, object]

SEEN, UNDONE, OUTGROWN, NOTED = "seen", "undone", "outgrown", "noted"


def sighting(finding: Finding, decision: Triage | None, is_failed: bool) -> str:
    """Return the event of a report: `outgrown` if decided about less, `noted` what
    needs no decision; `is_failed` says whether it fails a gate."""
    if finding.state == UNDONE:
        return UNDONE
    seen = SEEN if is_failed or _needs_decision(finding) else NOTED
    if decision is None or decision.status == "reopened" or finding.triage is not None:
        return seen
    now, then = finding.candidate_bytes, decision.candidate_bytes
    return OUTGROWN if now and then and now > then else seen


def _needs_decision(finding: Finding) -> bool:
    """Return whether a finding fails a gate, or did so and is still there.

    What is the same is a finding only where a donation was lost.
    """
    is_bad = finding.change in (*ALERTING, "failed", "same")
    return finding.stands or (is_bad and finding.scope == "candidate")


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


def record(database: Path, report: Report) -> bool:
    """Add what a report saw; False where it was recorded before."""
    with recording(database) as connection:
        known = connection.execute(
            "SELECT 1 FROM finding_events WHERE report_id = ?", [report.report_id]
        ).fetchone()
        back = {} if known else returned(connection, report)
        if known or not (report.findings or back):
            return False
        decided = read_decisions(connection)
        failed = {g.finding_id for g in report.gates if g.status == "fail"}
        findings = [_finding_row(finding, report) for finding in report.findings]
        _insert(connection, "findings", findings, "ON CONFLICT DO NOTHING")
        events: list[_Row] = []
        for finding in report.findings:
            if finding.triage is not None and finding.id not in decided:
                events.append(_followed(finding.id, finding.triage))
            events.append(
                {
                    "finding_id": finding.id,
                    "event": sighting(
                        finding, decided.get(finding.id), finding.id in failed
                    ),
                    "report_id": report.report_id,
                    "candidate_run": finding.candidate_run,
                    "candidate_bytes": finding.candidate_bytes,
                }
            )
        for finding_id, row in back.items():
            events.append(
                {
                    "finding_id": finding_id,
                    "event": UNDONE,
                    "report_id": report.report_id,
                    "candidate_run": report.comparison.candidate.name,
                    "candidate_bytes": row.candidate_bytes,
                }
            )
        _add_events(connection, events)
    return True


_INSERT = """
INSERT INTO {table} BY NAME
SELECT unnest(from_json($rows, $structure), recursive := true)
"""

_LAST_NUMBERS = """
SELECT e.finding_id, max(e.event_number)
FROM finding_events AS e
GROUP BY ALL
"""


def _insert(
    connection: Connection, table: str, rows: Sequence[_Row], otherwise: str = ""
) -> None:
    """Insert rows of a table in one statement.

    One parameter holds all rows as JSON: DuckDB takes 0.2 ms for each parameter. The
    table casts texts to its types.
    """
    if rows:
        structure = [{column: "VARCHAR" for row in rows for column in row}]
        connection.execute(
            _INSERT.format(table=table) + otherwise,
            {"rows": json.dumps(rows), "structure": json.dumps(structure)},
        )


def _add_events(connection: Connection, events: Iterable[_Row]) -> None:
    """Add events, each numbered after the last one of its finding."""
    last = Counter[object](dict(connection.execute(_LAST_NUMBERS).fetchall()))
    happened_at = datetime.now(UTC).replace(tzinfo=None).isoformat()
    rows = []
    for event in events:
        last[event["finding_id"]] += 1
        number = last[event["finding_id"]]
        rows.append({**event, "event_number": number, "happened_at": happened_at})
    _insert(connection, "finding_events", rows)


def _followed(finding_id: str, triage: Triage) -> _Row:
    """Return a decision that was made about an earlier id of the finding."""
    return {
        "finding_id": finding_id,
        "event": triage.status,
        "reason": triage.reason,
        "until": triage.until,
        "actor": triage.actor,
        "candidate_bytes": triage.candidate_bytes,
    }


_LAST_SEEN = """
SELECT arg_max(e.candidate_bytes, e.event_number)
FROM finding_events AS e
WHERE e.finding_id = ? AND e.report_id IS NOT NULL
"""


def _finding_row(f: Finding, report: Report) -> _Row:
    return {
        "finding_id": f.id,
        "program": f.program,
        "rank": f.rank,
        "color": f.color,
        "space_name": f.space,
        "metric": f.metric,
        "first_run": f.first_run,
        "base_run": f.base_run,
        "change": DONATION_LOST if f.change == "same" else f.change,
        "base_bytes": f.base_bytes,
        "candidate_bytes": f.candidate_bytes,
        "cause_key": f.cause.key if f.cause else None,
        "cause_title": f.cause.title if f.cause else None,
        "report_id": report.report_id,
    }


def decide(
    database: Path,
    finding: str,
    decision: str,
    *,
    reason: str,
    until: date | None,
    actor: str | None,
    today: date | None = None,
) -> str:
    """Record a decision about a finding and give its full id.

    `finding` may be the beginning of an id. Raises UsageError where no finding, or more
    than one, has it, and where `until` is not after `today`.
    """
    with recording(database) as connection:
        _require_later(until, _day(connection, today))
        found = _find(connection, finding)
        event: _Row = {
            "finding_id": found,
            "event": DECISIONS[decision],
            "reason": reason,
            "until": until.isoformat() if until else None,
            "actor": actor,
            "candidate_bytes": _last_seen(connection, found),
        }
        _add_events(connection, [event])
    return found


def _day(connection: Connection, today: date | None) -> date | None:
    """Return the day that waivers are compared with: that of the latest run, as reports
    hold them against the candidate's own."""
    if today is not None:
        return today
    ((latest,),) = rows(connection, "latest_day")
    day: date | None = latest
    return day


def _require_later(until: date | None, day: date | None) -> None:
    if until is not None and day is not None and until <= day:
        raise UsageError(
            f"a waiver until {until} holds for no day: the latest run is of {day};"
            " name a later one"
        )


def _last_seen(connection: Connection, finding: str) -> int | None:
    """Return the bytes that the last report saw of a finding: what is decided about."""
    row = connection.execute(_LAST_SEEN, [finding]).fetchone()
    size: int | None = row[0] if row else None
    return size


def _find(connection: Connection, beginning: str) -> str:
    ids: Sequence[str] = [
        row[0]
        for row in connection.execute("SELECT finding_id FROM findings").fetchall()
    ]
    fitting = [each for each in ids if each.startswith(beginning)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(
            f"{beginning!r} begins {', '.join(sorted(fitting))}: give more of it"
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


def listing(connection: Connection, today: date | None = None) -> Result:
    """Return every finding with its last decision, the undecided and largest first."""
    columns = tuple(plain_column(name, kind) for name, kind in _LISTED.items())
    day = _day(connection, today)
    return Result(columns, rows(connection, "findings", today=day))

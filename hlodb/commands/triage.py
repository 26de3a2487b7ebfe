"""`hlodb triage`: findings, and decisions about them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from hlodb.commands.options import (
    UTF8,
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.errors import UsageError
from hlodb.lake.opening import require_warehouse
from hlodb.reports.triage import DECISIONS, decide, listing
from hlodb.terminal.narration import narrate

_NEEDS_REASON = ("accept", "waive", "invalid", "duplicate")


@click.command("triage")
@click.argument("finding", required=False, metavar="[ID]")
@click.argument(
    "decision",
    required=False,
    type=click.Choice(list(DECISIONS)),
    metavar=f"[{'|'.join(DECISIONS)}]",
)
@click.option(
    "--reason",
    type=UTF8,
    metavar="TEXT",
    help="Reason; required by accept, waive, invalid and duplicate.",
)
@click.option(
    "--until",
    metavar="YYYY-MM-DD",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Day on which a waiver expires.",
)
@click.option(
    "--today",
    metavar="YYYY-MM-DD",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Day on which waivers must hold  [default: day of the latest run]",
)
@click.option(
    "--by",
    "actor",
    type=UTF8,
    metavar="WHO",
    envvar="USER",
    help="Author of the decision  [default: $USER]",
)
@db_option
@format_option
@output_option
def command(
    finding: str | None,
    decision: str | None,
    reason: str | None,
    until: datetime | None,
    today: datetime | None,
    actor: str | None,
    db: Path,
    form: str,
    output: Path | None,
) -> None:
    """List the findings of reports, or record a decision about one.

    A finding is a difference that a report recorded; ID is its id, or the beginning of
    it. accept: the new normal. waive: allowed until a day. invalid: a false alarm.
    fixed: a fix is in. acknowledge: somebody investigates. duplicate: the same as
    another finding. reopen: undo the decision. Decisions apply from the next report on.

    \b
    hlodb triage
    hlodb triage 06d73e61 waive --until 2027-01-31 --reason "wider batch, JIRA-17"
    hlodb triage 06d73e61 accept --reason "the new kernel needs it"
    """
    now = today.date() if today else None
    if finding is None:
        with open_for_reading(db) as connection:
            result = listing(connection, now)
        write_result(result, form, output)
        if not result.rows:
            narrate("no findings recorded; `hlodb report` records them")
        return
    if decision is None:
        raise UsageError(f"pass a decision about {finding}: {', '.join(DECISIONS)}")
    if decision in _NEEDS_REASON and not reason:
        raise UsageError(f"{decision} needs --reason")
    if (decision == "waive") != (until is not None):
        raise UsageError("--until is required by waive, and allowed for it only")
    require_warehouse(db)
    day = until.date() if until else None
    found = decide(
        db,
        finding,
        decision,
        reason=reason or "",
        until=day,
        actor=actor,
        today=now,
    )
    narrate(f"finding {found} is {DECISIONS[decision]}")

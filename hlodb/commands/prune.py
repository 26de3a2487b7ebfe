"""`hlodb prune`: details of old runs deleted, their metrics kept."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from hlodb.commands.completion import complete_series
from hlodb.commands.options import db_option
from hlodb.errors import UsageError
from hlodb.ingest.load.delete import Retention, prune_runs, runs_to_prune
from hlodb.lake import is_lake
from hlodb.lake.marks import prune_lake
from hlodb.lake.opening import reading, require_warehouse
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import transaction
from hlodb.terminal.narration import narrate
from hlodb.text import not_held


@click.command("prune")
@click.option(
    "--keep",
    type=click.IntRange(0),
    metavar="N",
    help="Keep the N latest runs of each series whole.",
)
@click.option(
    "--keep-days",
    type=click.IntRange(0, 100_000),
    metavar="DAYS",
    help="Keep runs whole that are no older than this, counted from the latest run.",
)
@click.option(
    "--series",
    metavar="NAME",
    shell_complete=complete_series,
    help="Only the runs of this series.",
)
@click.option(
    "--drop-timelines", is_flag=True, help="Delete memory_timeline of old runs, too."
)
@click.option("--dry-run", is_flag=True, help="Only list the runs.")
@db_option
def command(
    keep: int | None,
    keep_days: int | None,
    series: str | None,
    drop_timelines: bool,
    dry_run: bool,
    db: Path,
) -> None:
    """Delete the details of old runs, keep their metrics.

    Kept: runs, modules, files, rejects, flags, memory_profile, memory_timeline.
    Deleted: instructions, allocations, values, live ranges, source lines, unless a
    kept run has the same module. Pass --keep, --keep-days or both: a run is kept whole
    if one of them says so. Ingest a pruned run again to restore it.

    \b
    hlodb prune --keep 30
    hlodb prune --keep 7 --keep-days 14 --series nightly
    """
    if keep is None and keep_days is None:
        raise UsageError("pass --keep N, --keep-days DAYS, or both")
    require_warehouse(db)
    age = None if keep_days is None else timedelta(days=keep_days)
    retention = Retention(keep, age, series)
    if is_lake(db):
        with reading(db) as connection:
            _require_series(connection, series)
        runs = prune_lake(db, retention, drop_timelines=drop_timelines, dry_run=dry_run)
    else:
        with transaction(db) as connection:
            _require_series(connection, series)
            runs = runs_to_prune(connection, retention)
            if not dry_run:
                prune_runs(connection, list(runs), drop_timelines=drop_timelines)
    what = "would be pruned" if dry_run else "is pruned"
    for name in runs.values():
        narrate(f"run {name} {what}")
    if not runs:
        narrate("no run is old enough to be pruned")


def _require_series(connection: Connection, series: str | None) -> None:
    """Raise for a series that no run has: a job would prune nothing for ever."""
    rows = connection.execute("SELECT DISTINCT series FROM runs").fetchall()
    known = {name for (name,) in rows}
    if series is not None and series not in known:
        raise UsageError(not_held("series", series, known))

"""`hlodb rm`: delete runs."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.completion import complete_runs
from hlodb.commands.options import db_option
from hlodb.errors import UsageError
from hlodb.ingest.load.delete import forget_run
from hlodb.schema.waiting import require_file
from hlodb.schema.warehouse import transaction
from hlodb.terminal.narration import narrate
from hlodb.text import not_held


@click.command("rm")
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN…",
    shell_complete=complete_runs,
)
@db_option
def command(runs: tuple[str, ...], db: Path) -> None:
    """Delete runs and the data only they use.

    \b
    hlodb rm 2026-11-20
    """
    require_file(db)
    with transaction(db) as connection:
        rows = connection.execute("SELECT name, run_id FROM runs").fetchall()
        ids = dict(rows)
        for run in runs:
            if run not in ids:
                raise UsageError(not_held("run", run, ids))
        for run in runs:
            forget_run(connection, ids[run])
    # Reported when it is committed.
    for run in runs:
        narrate(f"run {run} is deleted")

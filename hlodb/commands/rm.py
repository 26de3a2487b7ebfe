"""`hlodb rm`: delete runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from hlodb.commands.completion import complete_runs
from hlodb.commands.options import db_option
from hlodb.errors import UsageError
from hlodb.ingest.load.delete import forget_run
from hlodb.lake import is_lake
from hlodb.lake.marks import delete_runs
from hlodb.lake.opening import reading, require_warehouse
from hlodb.schema.connection import Connection
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

    In a lake they are hidden; `hlodb compact` frees their space.

    \b
    hlodb rm 2026-11-20
    """
    require_warehouse(db)
    if is_lake(db):
        with reading(db) as connection:
            ids = _run_ids(connection, runs)
        delete_runs(db, ids)
    else:
        with transaction(db) as connection:
            for run_id in _run_ids(connection, runs):
                forget_run(connection, run_id)
    # Reported when it is committed.
    for run in runs:
        narrate(f"run {run} is deleted")


def _run_ids(connection: Connection, runs: Iterable[str]) -> list[int]:
    """Return the numbers of runs; raise UsageError for a name that no run has."""
    ids = dict(connection.execute("SELECT name, run_id FROM runs").fetchall())
    for run in runs:
        if run not in ids:
            raise UsageError(not_held("run", run, ids))
    return [ids[run] for run in runs]

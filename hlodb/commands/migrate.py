"""`hlodb migrate`: a warehouse of an older hlodb brought up to date."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.options import file_option
from hlodb.schema.migration import migrate
from hlodb.terminal.narration import narrate


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Try it on a copy, and change nothing.")
@file_option
def command(dry_run: bool, db: Path) -> None:
    """Update the warehouse to the schema of this hlodb.

    The update runs on a copy, which replaces the file only if all went well. The old
    file is kept beside it.

    \b
    hlodb migrate --dry-run
    hlodb migrate --db nightly.duckdb
    """
    done = migrate(db, dry_run=dry_run)
    if done.from_version == done.to_version:
        text = f"{db} has schema version {done.to_version} already"
    elif done.backup is None:
        text = f"{db} can go from schema version {done.from_version}"
        text += f" to {done.to_version}; nothing is changed yet"
    else:
        text = f"{db} now has schema version {done.to_version}, formerly"
        text += f" {done.from_version}; the old file is {done.backup}"
    narrate(text)

"""`hlodb backup`: a copy of the warehouse."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.options import file_option
from hlodb.schema.backup import back_up
from hlodb.terminal.narration import narrate


@click.command("backup")
@click.argument(
    "destination", metavar="COPY", type=click.Path(path_type=Path, dir_okay=False)
)
@click.option("--force", is_flag=True, help="Replace an older copy.")
@file_option
def command(destination: Path, force: bool, db: Path) -> None:
    """Copy the warehouse consistently to another file.

    Readers continue, writers wait. To restore, move the copy into place and delete
    FILE.wal, if there is one.

    \b
    hlodb backup /backups/hlodb-2026-11-20.duckdb
    hlodb backup latest.duckdb --force --db nightly.duckdb
    """
    size = back_up(db, destination, replace=force)
    narrate(f"{destination} has {size:,} bytes")

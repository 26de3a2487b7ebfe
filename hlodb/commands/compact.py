"""`hlodb compact`: the warehouse written anew, smaller."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.options import db_option
from hlodb.schema.compact import compact
from hlodb.terminal.narration import narrate


@click.command("compact")
@db_option
def command(db: Path) -> None:
    """Rewrite the warehouse without unused space.

    Deleted runs leave free blocks in the file, and many small runs leave blocks half
    filled. The new file replaces the old one when it is complete; the disk must have
    room for both.

    \b
    hlodb compact
    hlodb prune --keep 30 && hlodb compact
    """
    size = compact(db)
    narrate(f"{db} had {size.before_bytes:,} bytes, now has {size.after_bytes:,}")

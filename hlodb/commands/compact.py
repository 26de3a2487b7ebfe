"""`hlodb compact`: the warehouse written anew, smaller."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.narration import narrate
from hlodb.commands.options import db_option
from hlodb.schema.compact import compact


@click.command("compact")
@db_option
def command(db: Path) -> None:
    """Write the warehouse anew, without what is unused in it.

    Deleting runs leaves free blocks in the file, and many small nights leave blocks
    half filled. The new file takes the place of the old one when it is whole; there
    must be room for both.

    \b
    hlodb compact
    hlodb prune --keep 30 && hlodb compact
    """
    size = compact(db)
    narrate(f"{db} had {size.before_bytes:,} bytes, now has {size.after_bytes:,}")

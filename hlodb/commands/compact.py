"""`hlodb compact`: the warehouse written anew, smaller."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.options import db_option
from hlodb.lake import is_lake
from hlodb.lake.packing import compact_lake
from hlodb.schema.compact import compact
from hlodb.terminal.narration import narrate


@click.command("compact")
@db_option
def command(db: Path) -> None:
    """Rewrite the warehouse without unused space.

    Deleted runs leave free blocks in the file, and many small runs leave blocks half
    filled. The new file replaces the old one when it is complete; the disk must have
    room for both. In a lake, the packages of all runs become one; files that it
    replaces are removed by a compaction an hour later, since somebody may read them.

    \b
    hlodb compact
    hlodb prune --keep 30 && hlodb compact
    """
    if is_lake(db):
        merged = compact_lake(db)
        narrate(f"the lake {'has' if merged else 'had'} all runs in one package")
        return
    size = compact(db)
    narrate(f"{db} had {size.before_bytes:,} bytes, now has {size.after_bytes:,}")

"""`hlodb lake`: a warehouse as a folder of Parquet files."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.lake.layout import create_lake, lake_at
from hlodb.terminal.narration import narrate

_LAKE = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("lake")
def command() -> None:
    """Keep a warehouse as a folder of Parquet files, a lake.

    Any number of processes may ingest into a lake at once, without waiting for one
    another. Commands take the folder as --db.

    \b
    hlodb lake create runs.lake
    hlodb ingest /tmp/xla_dump --run nightly-7 --db runs.lake
    hlodb report --db runs.lake
    """


@command.command("create")
@click.argument("lake", type=_LAKE)
def create(lake: Path) -> None:
    """Make an empty lake."""
    from hlodb.lake.catalogue import refresh

    create_lake(lake)
    refresh(lake_at(lake))


@command.command("pack")
@click.argument("file", type=_FILE)
@click.argument("lake", type=_LAKE)
def pack_file(file: Path, lake: Path) -> None:
    """Write the warehouse FILE as a new lake, with the same rows."""
    from hlodb.lake.packing import pack

    pack(file, lake)
    narrate(f"{lake} holds the rows of {file}")


@command.command("unpack")
@click.argument("lake", type=_LAKE)
@click.argument("file", type=_FILE)
def unpack_lake(lake: Path, file: Path) -> None:
    """Write LAKE as a new warehouse FILE, with the same rows."""
    from hlodb.lake.packing import unpack

    unpack(lake, file)
    narrate(f"{file} holds the rows of {lake}")

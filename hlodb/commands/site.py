"""`hlodb site`: a static site of the warehouse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from hlodb.commands.options import db_option, limit_option, open_for_reading
from hlodb.garbage import no_collection
from hlodb.reports.config.reading import read_settings
from hlodb.reports.site import INDEX, make_site
from hlodb.terminal.narration import narrate
from hlodb.text import counted

_SMALL_BYTES = 64 << 20
"""Of a warehouse whose queries take longer to plan than to answer."""


@click.command("site")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--title",
    metavar="TEXT",
    default="Memory of compiled programs",
    show_default=True,
    help="Title of the first page.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Gates, budgets, devices and owners  [default: hlodb.toml]",
)
@limit_option
@db_option
def command(
    folder: Path, title: str, config: Path | None, limit: int | None, db: Path
) -> None:
    """Write a static site of the warehouse.

    DIR gets a first page with every series, its history, its open findings and the
    gates that its latest run fails, a page
    of each run with what changed since the run before, a page of each program, and
    one of all findings. They need no server and no script. Written again, only pages
    of what is new or has changed are made, and those of deleted runs go. DIR must be
    empty or hold such a site.

    \b
    hlodb site public
    hlodb site public --title "Nightly memory" --limit 15.75GiB
    """
    settings = replace(read_settings(config), limit_bytes=limit)
    with open_for_reading(db, _SMALL_BYTES) as connection, no_collection():
        made = make_site(connection, folder, settings, title)
    same = made.pages - made.written
    deleted = f", {made.deleted:,} deleted" if made.deleted else ""
    narrate(
        f"{counted(made.runs, 'run')}, {counted(made.programs, 'program')}:"
        f" {counted(made.written, 'page')} written, {same:,} unchanged{deleted};"
        f" open {folder / INDEX}"
    )

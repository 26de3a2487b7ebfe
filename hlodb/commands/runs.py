"""`hlodb runs`: the runs in the warehouse."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.completion import complete_series
from hlodb.commands.options import (
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.queries.run import run_query


@click.command("runs")
@click.option(
    "--series",
    metavar="NAME",
    shell_complete=complete_series,
    help="Only the runs of this series.",
)
@db_option
@format_option
@output_option
def command(series: str | None, db: Path, form: str, output: Path | None) -> None:
    """List the runs in the warehouse, the latest first.

    started_at is the time of the dump. Runs with the same time are ordered by name.
    Runs without a time count as the earliest.

    \b
    hlodb runs
    hlodb runs --series nightly --format json
    """
    with open_for_reading(db) as connection:
        result = run_query(connection, "run_list", {"series": series})
    write_result(result, form, output)

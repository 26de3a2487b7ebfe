"""`hlodb modules`: the modules of a run."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.commands.completion import complete_programs, complete_runs
from hlodb.commands.options import (
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.queries.run import run_query


@click.command("modules")
@click.option(
    "--run",
    metavar="NAME",
    shell_complete=complete_runs,
    help="Run to list  [default: latest]",
)
@click.option(
    "--program",
    metavar="NAME",
    shell_complete=complete_programs,
    help="Only this program.",
)
@click.option("--stage", metavar="STAGE", help="Only this compilation stage.")
@db_option
@format_option
@output_option
def command(
    run: str | None,
    program: str | None,
    stage: str | None,
    db: Path,
    form: str,
    output: Path | None,
) -> None:
    """List the modules of a run.

    \b
    hlodb modules
    hlodb modules --run nightly-7 --stage after_optimizations
    hlodb modules --program jit_train_step --format csv
    """
    values = {"run": run, "program": program, "stage": stage}
    with open_for_reading(db) as connection:
        result = run_query(connection, "module_list", values)
    write_result(result, form, output)

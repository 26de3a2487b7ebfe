"""`hlodb diff`: what changed between two runs, and why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from hlodb.commands.completion import complete_sides
from hlodb.commands.options import (
    db_option,
    limit_option,
    open_for_reading,
    output_option,
)
from hlodb.commands.report_text import color_option, write_report
from hlodb.errors import UsageError
from hlodb.printed_commands import named_db
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import read_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.facts import Run, find_run, read_runs
from hlodb.reports.render.forms import FORMATS, shown_by

_OF_GATES = ("junit", "github", "csv-gates")
_FORMATS = [form for form in FORMATS if form not in _OF_GATES]


@click.command("diff")
@click.argument("base", metavar="A", shell_complete=complete_sides)
@click.argument("candidate", metavar="B", shell_complete=complete_sides)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@output_option
@click.option(
    "--top",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Programs to list, and buffers of each in JSON; text always lists 5 buffers.",
)
@limit_option
@color_option
@db_option
def command(
    base: str,
    candidate: str,
    form: str,
    output: Path | None,
    top: int,
    limit: int | None,
    color: str,
    db: Path,
) -> int:
    """Show what changed from A to B, and why; the parts add up to the difference.

    A, the base, and B, the candidate, are runs, or RUN:PROGRAM. Every difference is
    listed, however small, and no gate is applied: `hlodb report` applies them. Programs
    of two platforms are listed, but not compared. Exit codes: 0 done, 3 part of a run
    could not be read or contradicts itself, 4 nothing is comparable.

    \b
    hlodb diff nightly-6 nightly-7
    hlodb diff nightly-6:jit_train_step nightly-7:jit_train_step
    hlodb diff v5e:jit_step v5p:jit_step --format markdown
    """
    # Everything counts in a diff. Unsound data leaves it unknown, as it does a report.
    settings = Settings(
        floor_bytes=0,
        floor_ratio=0.0,
        top=top,
        devices=read_settings(None).devices,
        limit_bytes=limit,
    )
    with open_for_reading(db) as connection:
        runs = read_runs(connection)
        base_run, base_program = _parse_side(base, runs)
        run, program = _parse_side(candidate, runs)
        request = Request(
            candidate=run,
            baseline=f"run:{base_run}",
            kind="diff",
            program=program,
            base_program=base_program,
            shown=shown_by([form]),
            db=named_db(db),
        )
        report = build_report(connection, request, settings)
    write_report(report, form, output, color)
    return report.exit_code


def _parse_side(text: str, runs: Iterable[Run]) -> tuple[str, str | None]:
    """Return run and program; a run may have a colon in its name."""
    names = {run.name for run in runs}
    if text in names:
        return text, None
    run, colon, program = text.rpartition(":")
    if colon and run in names:
        if not program:
            raise UsageError(f"{text!r} names no program after the colon")
        return run, program
    find_run(runs, run or text)
    raise UsageError(f"there is no run {text!r}")

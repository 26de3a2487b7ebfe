"""`hlodb diff`: what changed between two runs, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import click

from hlodb.commands.completion import complete_sides
from hlodb.commands.options import (
    db_option,
    dumps_as_warehouse,
    limit_option,
    open_for_reading,
    output_option,
)
from hlodb.commands.report_text import (
    color_option,
    new_page,
    open_option,
    show_page,
    write_report,
)
from hlodb.errors import UsageError
from hlodb.ingest.sources.discover import discover
from hlodb.printed_commands import named_db, positional, shell_line, url_of
from hlodb.reports.build import build_diff
from hlodb.reports.config.reading import read_settings
from hlodb.reports.read.facts import read_runs
from hlodb.reports.render.forms import FORMATS, shown_by
from hlodb.terminal.narration import narrate
from hlodb.text import counted

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
@open_option
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
    is_opened: bool,
    output: Path | None,
    top: int,
    limit: int | None,
    color: str,
    db: Path,
) -> int:
    """Show what changed from A to B, and why; the parts add up to the difference.

    A, the base, and B, the candidate, are runs of the warehouse, or RUN:PROGRAM, or
    both are dumps, of which nothing is kept. Every difference is listed, however small,
    and no gate is applied: `hlodb report` applies them. Programs of two platforms are
    listed, but not compared. Exit codes: 0 done, 3 part of a run could not be read or
    contradicts itself, 4 nothing is comparable.

    \b
    hlodb diff nightly-6 nightly-7
    hlodb diff /tmp/dump_before /tmp/dump_after
    hlodb diff nightly-6 nightly-7 --open
    hlodb diff nightly-6:jit_train_step nightly-7:jit_train_step
    hlodb diff v5e:jit_step v5p:jit_step --format markdown
    """
    if is_opened:
        form, output = "html", output or new_page("diff")
    settings = replace(read_settings(None), limit_bytes=limit)
    kept = nullcontext((db, base, candidate))
    are_runs = _are_runs(db, base, candidate)
    with (
        kept if are_runs else _dumps(base, candidate) as (file, before, after),
        open_for_reading(file) as connection,
    ):
        report = build_diff(
            connection,
            before,
            after,
            settings,
            top=top,
            shown=shown_by([form]),
            db=named_db(db),
        )
    if not are_runs:
        ingest = shell_line(["hlodb", "ingest", *positional(base, candidate)])
        note = f"Nothing is kept. For the commands here, keep both first: `{ingest}`."
        narrate(note)
        report = replace(report, notes=[note, *report.notes])
    write_report(report, form, output, color)
    if is_opened and output is not None:
        show_page(output)
    return report.exit_code


def _are_runs(db: Path, *sides: str) -> bool:
    """Return whether both sides have to be looked for in the warehouse.

    Two paths are dumps, unless the warehouse has runs of these names. Raises UsageError
    where one is a path, and nothing could be the other.
    """
    has_warehouse = url_of(db) is not None or db.exists()
    missing = [side for side in sides if not Path(side).exists()]
    if len(missing) == 1 and not has_warehouse:
        raise UsageError(
            f"there is no file or directory {missing[0]}, and no warehouse at {db} that"
            " could have a run of that name"
        )
    if missing:
        return True
    if not has_warehouse:
        return False
    with open_for_reading(db) as connection:
        return {*sides} <= {run.name for run in read_runs(connection)}


@contextmanager
def _dumps(*paths: str) -> Iterator[tuple[Path, str, str]]:
    """Yield a warehouse of two dumps, and its names of both."""
    sources = discover(paths)
    if len(sources) != len(paths):
        runs = ", ".join(source.name for source in sources)
        together = f"{counted(len(sources), 'run')}: {runs}"
        raise UsageError(
            f"A and B have to be one run each; together they hold {together}"
        )
    with dumps_as_warehouse(sources) as (file, (base, candidate)):
        yield file, base, candidate

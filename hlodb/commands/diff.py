"""`hlodb diff`: what changed between two runs, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from hlodb.commands.completion import complete_sides
from hlodb.commands.options import (
    db_option,
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
from hlodb.ingest.pipeline.ingest import passing_warehouse
from hlodb.ingest.sources.discover import discover
from hlodb.printed_commands import named_db, shell_line, url_of
from hlodb.reports.build import build_diff
from hlodb.reports.config.reading import read_settings
from hlodb.reports.render.forms import FORMATS, shown_by
from hlodb.terminal.narration import narrate

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
    listed, but not compared. Exit codes: 0 done, 3 part of a run
    could not be read or contradicts itself, 4 nothing is comparable.

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
    with (
        _compared(db, base, candidate) as (file, before, after),
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
    write_report(report, form, output, color)
    if is_opened and output is not None:
        show_page(output)
    return report.exit_code


@contextmanager
def _compared(db: Path, base: str, candidate: str) -> Iterator[tuple[Path, str, str]]:
    """Yield the warehouse to read, and its names of A and B.

    Two paths are dumps where they hold a slash, or where there is no warehouse yet.
    """
    sides = (base, candidate)
    is_dumps = "/" in base + candidate or not (url_of(db) or db.exists())
    if not is_dumps or not all(Path(side).exists() for side in sides):
        yield db, base, candidate
        return
    sources = discover(sides)
    if len(sources) != len(sides):
        runs = ", ".join(source.name for source in sources)
        raise UsageError(f"A and B have to be one run each, but hold {runs}")
    with passing_warehouse(sources) as (file, summaries):
        for note in (note for summary in summaries for note in summary.notes):
            narrate(note)
        narrate(
            "nothing is kept: to look closer, keep both by"
            f" `{shell_line(['hlodb', 'ingest', *sides])}`"
        )
        before, after = (summary.name for summary in summaries)
        yield file, before, after

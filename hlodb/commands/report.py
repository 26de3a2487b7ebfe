"""`hlodb report`: is anything worse, why, and is it allowed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from hlodb.commands.completion import complete_runs, complete_series
from hlodb.commands.options import (
    db_option,
    limit_option,
    open_for_reading,
    output_of,
    output_option,
    output_stream,
)
from hlodb.commands.report_text import (
    color_option,
    new_page,
    open_option,
    show_page,
    write_report,
)
from hlodb.errors import NothingToCompare, UsageError, WarehouseError
from hlodb.garbage import no_collection
from hlodb.ingest.pipeline.staging_folder import is_anything_staged, staging_folder
from hlodb.printed_commands import named_db
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import FILE_NAME, read_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.budgets import proposed_budgets
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.verdict import FAIL_ON
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import FORMATS, shown_by
from hlodb.reports.triage import record
from hlodb.terminal.narration import narrate


def _named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty name: a variable that was never set, not a wish for the rest."""
    if value == "":
        raise click.BadParameter("it is empty; leave the option out for the default")
    return value


@click.command("report")
@click.option(
    "--run",
    "candidate",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Run to report on  [default: latest]",
)
@click.option(
    "--baseline",
    metavar="RULE|RUN",
    callback=_named,
    shell_complete=complete_runs,
    help="The base: auto (as above); previous (the latest comparable run before);"
    " window (for each program the least memory of the last runs); or a run."
    "  [default: hlodb.toml, or auto]",
)
@click.option(
    "--series",
    metavar="S",
    callback=_named,
    shell_complete=complete_series,
    help="Only runs of this series.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Gates, budgets and waivers  [default: hlodb.toml]",
)
@limit_option
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS]),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@open_option
@output_option
@click.option(
    "--write",
    "more",
    metavar="FORMAT=FILE",
    multiple=True,
    help="Also write another format; may be repeated.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="regression",
    show_default=True,
    help="Failures that set the exit code: regression is any gate, budget only budgets,"
    " quality only unsound data.",
)
@click.option("--warn-only", is_flag=True, help="Like --fail-on none.")
@click.option(
    "--allow-empty", is_flag=True, help="Exit with 0 if there is nothing to compare."
)
@click.option(
    "--today",
    metavar="YYYY-MM-DD",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Day on which waivers must hold  [default: day of the run]",
)
@click.option(
    "--stamp", metavar="TEXT", help="Text to include, such as a build number."
)
@click.option(
    "--propose-budgets",
    is_flag=True,
    help="Print budgets to add to hlodb.toml, instead of a report.",
)
@click.option(
    "--no-record", is_flag=True, help="Do not record findings in the warehouse."
)
@color_option
@db_option
def command(
    candidate: str | None,
    baseline: str | None,
    series: str | None,
    config: Path | None,
    limit: int | None,
    form: str,
    is_opened: bool,
    output: Path | None,
    more: tuple[str, ...],
    fail_on: str,
    warn_only: bool,
    allow_empty: bool,
    today: datetime | None,
    stamp: str | None,
    propose_budgets: bool,
    no_record: bool,
    color: str,
    db: Path,
) -> int:
    """Compare a run with its base, and apply the gates.

    The base is the first of these among the earlier runs that are comparable and sound:
    the run at the commit that the candidate's label `fork_point` names; if the
    candidate's label `branch` is not main, the latest run of main; the latest run
    labelled `accepted=true`; the latest run. Runs are comparable if platform, device
    and series are the same; the first run of a series is with those of any.

    Gates are limits. Unless hlodb.toml says otherwise, a program fails that grows by at
    least 1 MiB and also by at least 0.5 %, is missing, or no longer reuses 1 MiB of
    donated arguments.

    Exit codes: 0 no gate failed, 1 a gate failed, 2 wrong usage or a mistake in
    hlodb.toml, 3 a file could not be read or figures contradict each other, 4 nothing
    was compared, as no earlier run is comparable (0 for the first run of a series, or
    with --allow-empty), 5 the warehouse is locked or of another version.

    \b
    hlodb report
    hlodb report --open
    hlodb report --run pr-17 --baseline nightly-7 --format comment
    hlodb report --series nightly --write junit=report.xml --write sarif=report.sarif
    hlodb report --series nightly --propose-budgets >> hlodb.toml
    """
    if is_opened:
        form, output = "html", output or new_page("report")
    settings = replace(read_settings(config), limit_bytes=limit)
    wanted = [*(_sink(text) for text in more), (form, output)]
    request = Request(
        candidate=candidate,
        baseline=baseline,
        series=series,
        today=today.date() if today else None,
        stamp=stamp,
        fail_on="none" if warn_only else fail_on,
        allow_empty=allow_empty,
        shown=shown_by(sink for sink, _ in wanted),
        db=named_db(db),
    )
    if is_anything_staged(db):
        narrate(
            f"runs staged in {staging_folder(db)} are not in this report; `hlodb"
            " ingest` without a PATH absorbs them"
        )
    may_be_empty = allow_empty or request.fail_on == "none"
    report = _build(db, request, settings, may_be_empty)
    if report is None:
        return 0
    if propose_budgets:
        _require_other(output, config)
        _write(proposed_budgets(report, settings).encode(), output)
        return 0
    for sink, path in wanted:
        write_report(report, sink, path, color)
    if is_opened and output is not None:
        show_page(output)
    if not no_record:
        _record(db, report)
    return report.exit_code


def _sink(text: str) -> tuple[str, Path | None]:
    form, equals, path = text.partition("=")
    if not equals or not path or form not in FORMATS:
        raise UsageError(
            f"--write takes FORMAT=FILE, not {text!r}; formats are {', '.join(FORMATS)}"
        )
    return form, output_of(path)


def _build(
    db: Path, request: Request, settings: Settings, may_be_empty: bool
) -> Report | None:
    """Return the report; None, and say why, where there may be nothing to compare."""
    try:
        # With ten thousand programs, collecting garbage takes a third of the time.
        with open_for_reading(db) as connection, no_collection():
            return build_report(connection, request, settings)
    except NothingToCompare as error:
        if not may_be_empty:
            raise
        narrate(str(error))
        return None


def _require_other(output: Path | None, config: Path | None) -> None:
    """Raise UsageError where the budgets to add would replace all settings."""
    settings = config or Path(FILE_NAME)
    if output is None or not (output.exists() and settings.exists()):
        return
    if output.samefile(settings):
        raise UsageError(
            f"-o {output} would replace all of its settings: leave out -o, and add"
            f" the budgets with >> {output}"
        )


def _write(written: bytes, output: Path | None) -> None:
    with output_stream(output) as stream:
        stream.write(written)


def _record(db: Path, report: Report) -> None:
    """Keep the findings; a locked warehouse costs their history, not the report."""
    try:
        record(db, report)
    except WarehouseError as error:
        narrate(f"findings are not recorded: {error}")

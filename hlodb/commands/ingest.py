"""`hlodb ingest`: dumps in."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

import click

from hlodb.commands.completion import complete_series
from hlodb.commands.options import (
    UTF8,
    Moment,
    db_option,
    format_option,
    write_result,
)
from hlodb.errors import DataQualityError, UsageError, WarehouseLocked
from hlodb.ingest.load.run_records import Passes, Progress, RunRequest, RunSummary
from hlodb.ingest.pipeline.cores import MOST_JOBS
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.pipeline.staging_folder import staging_folder
from hlodb.ingest.sources.discover import HOW_TO_DUMP, RunSource, discover
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, HIGHEST, Limits
from hlodb.lake import is_lake
from hlodb.printed_commands import positional
from hlodb.queries.new_warehouse import provide_warehouse
from hlodb.queries.renewal import renew_macros
from hlodb.queries.result import Result, plain_column
from hlodb.terminal.narration import narrate
from hlodb.text import counted, json_text, nearest, plain_bytes

_JSON_KEYS = (
    "run_id",
    "name",
    "files",
    "bytes",
    "modules",
    "instructions",
    "allocations",
    "values",
    "live_ranges",
    "rejects",
    "seconds",
)
_SHOWN = {
    "name": "run",
    "files": "file_count",
    "bytes": "input_bytes",
    "modules": "module_count",
    "new_modules": "new_module_count",
    "instructions": "instruction_count",
    "allocations": "allocation_count",
    "values": "value_count",
    "rejects": "reject_count",
    "seconds": "ingest_seconds",
}

_LIMITS = asdict(DEFAULT_LIMITS)
_AMOUNT = re.compile(r"([0-9]{1,18})(?:([KMGT])(?:iB)?)?", re.IGNORECASE)
_PAUSE_SECONDS = 1
"""How long --watch leaves a locked warehouse alone."""

_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@click.command("ingest")
@click.argument("paths", nargs=-1, metavar="PATH…")
@click.option(
    "--run",
    "name",
    type=UTF8,
    metavar="NAME",
    help="Name of the run: one dump, and the logs of its job if PATH names any.",
)
@click.option(
    "--series",
    type=UTF8,
    metavar="S",
    shell_complete=complete_series,
    help="Series of runs to compare with one another, such as nightly.",
)
@click.option("--commit", type=UTF8, metavar="SHA", help="Commit that was compiled.")
@click.option(
    "--label",
    "labels",
    multiple=True,
    type=UTF8,
    metavar="K=V",
    help="Label of the run, such as framework_version=0.10.2; may be repeated.",
)
@click.option(
    "--started-at",
    metavar="TIME",
    type=Moment(),
    help="Time of the dump; UTC unless it names a zone  [default: of the newest file]",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    help=f"Worker processes  [default: one per core, at most {MOST_JOBS}]",
)
@click.option(
    "--retry-rejects",
    is_flag=True,
    help="Read rejected files again; without PATH, from where they were.",
)
@click.option(
    "--passes",
    type=click.Choice(["full", "metrics", "none"]),
    default="full",
    show_default=True,
    help="How much of per-pass dumps to keep: all, metrics without instructions, or"
    " nothing. Ingest a run again with full to complete it.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Change a limit that protects against hostile input: {', '.join(_LIMITS)};"
    " K, M and G are powers of 1024.",
)
@click.option(
    "--watch",
    "watched",
    is_flag=True,
    help="Ingest every run in the folder PATH when it is still, until Ctrl-C.",
)
@click.option(
    "--still",
    metavar="SECONDS",
    type=click.FloatRange(0, 86_400),
    default=10,
    show_default=True,
    help="With --watch: time without a change after which a dump is complete.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 if anything is rejected.")
@db_option
@format_option
def command(
    paths: tuple[str, ...],
    name: str | None,
    series: str | None,
    commit: str | None,
    labels: tuple[str, ...],
    started_at: datetime | None,
    jobs: int | None,
    retry_rejects: bool,
    passes: Passes,
    limits: tuple[str, ...],
    watched: bool,
    still: float,
    strict: bool,
    db: Path,
    form: str,
) -> None:
    """Read dumps into the warehouse.

    PATH is the output of --xla_dump_to: a directory, an archive of one (tar, zip, also
    compressed), single files, a glob or a URL. Each directory or archive becomes a run;
    single files become one run together.

    \b
    hlodb ingest /tmp/xla_dump --run 2026-11-20 --series nightly --commit abc123
    hlodb ingest dumps/*.tar.xz --series releases
    hlodb ingest module_0001.jit_f.cpu_after_optimizations*.txt --format json
    hlodb ingest --retry-rejects                 after an upgrade of hlodb
    hlodb ingest --watch /dumps --series nightly  each folder in it, when it is still
    hlodb ingest huge.tar.zst --limit file_bytes=4G --lock-timeout 600

    If other processes lock the warehouse for longer than the time-out, the dump is
    staged beside it (exit code 5). The next ingest, with or without PATH, absorbs it.
    Exit code 3: something was rejected, and no module was loaded. Exit code 2: PATH is
    no dump.
    """
    if watched:
        folder = _watched_folder(paths, name, retry_rejects)
    elif not (paths or retry_rejects or staging_folder(db).is_dir()):
        raise UsageError("pass a PATH: no dump is staged beside the warehouse")
    request = RunRequest(
        name=name,
        series=series,
        commit=commit,
        labels=parse_labels(labels),
        started_at=started_at,
        passes=passes,
        retry_rejects=retry_rejects,
    )
    asked = _Asked(db, request, jobs, parse_limits(limits), form, strict)
    if watched:
        _watch(folder, still, asked)
    else:
        _ingest(paths, asked)


class _Asked(NamedTuple):
    """What holds for every run that a command ingests."""

    db: Path
    request: RunRequest
    jobs: int | None
    limits: Limits
    form: str
    strict: bool


def _ingest(paths: Sequence[str], asked: _Asked) -> None:
    db, request, jobs, limited, form, strict = asked
    began = perf_counter()
    name = request.name
    sources = discover(paths, run_name=name, limits=limited) if paths else []
    with _progress(sources) as progress:
        if is_lake(db):
            # Loaded when there is a lake: most warehouses are files.
            from hlodb.lake.ingestion import ingest_into_lake

            summaries = ingest_into_lake(
                sources,
                db,
                request=request,
                jobs=jobs,
                limits=limited,
                progress=progress,
            )
        else:
            provide_warehouse(db)
            summaries = ingest_sources(
                sources,
                db,
                request=request,
                jobs=jobs,
                limits=limited,
                progress=progress,
                prepare=renew_macros,
            )
    _write(summaries, form, is_numbered=not is_lake(db))
    _narrate(summaries, perf_counter() - began)
    _require_modules(summaries, strict)


def _watched_folder(
    paths: Sequence[str], name: str | None, retry_rejects: bool
) -> Path:
    """Return the only PATH of --watch; raise UsageError for anything else."""
    if len(paths) != 1 or not Path(paths[0]).is_dir():
        raise UsageError("--watch takes one PATH, a folder that is there")
    if name is not None or retry_rejects:
        raise UsageError("--watch names runs after their folders, and reads new files:"
                         " leave out --run and --retry-rejects")  # fmt: skip
    return Path(paths[0])


def _watch(folder: Path, seconds: float, asked: _Asked) -> None:
    """Ingest every run below a folder once it is still, until interrupted."""
    # Loaded when asked for: most dumps are whole when they are named.
    from hlodb.ingest.sources.watching import settled_runs

    narrate(f"watching {folder}; Ctrl-C ends it, what is ingested stays")
    for paths in settled_runs(folder, seconds):
        while True:
            try:
                _ingest(paths, asked)
            except WarehouseLocked as error:
                narrate(f"{error}; --watch tries that again")
                # Without a path, what is staged is ingested.
                paths = [] if error.is_staged else paths
                sleep(_PAUSE_SECONDS)
                continue
            except (UsageError, DataQualityError) as error:
                narrate(f"{error}; watching goes on")
            break
        sys.stdout.flush()


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """Return labels given as KEY=VALUE; raise UsageError for others."""
    pairs = [label.partition("=") for label in labels]
    for key, equals, value in pairs:
        if not key or not equals:
            raise UsageError(f"--label takes KEY=VALUE, not {key + equals + value!r}")
    return {key: value for key, _, value in pairs}


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the limits that NAME=VALUE texts change.

    Raises UsageError for unknown names and what is no amount.
    """
    changed: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--limit takes NAME=VALUE, not {text!r}")
        if name not in _LIMITS:
            hint = nearest(name, _LIMITS)
            raise UsageError(
                f"there is no limit {name!r}, only {', '.join(_LIMITS)}{hint}"
            )
        amount = _AMOUNT.fullmatch(value)
        if amount is None:
            raise UsageError(
                f"--limit {name} takes a number such as 512M, not {value!r}"
            )
        changed[name] = int(amount[1]) * _FACTORS[(amount[2] or "").upper()]
        if changed[name] > HIGHEST.get(name, changed[name]):
            raise UsageError(f"--limit {name} can be {HIGHEST[name]} at most")
    return replace(DEFAULT_LIMITS, **changed)


def _write(summaries: list[RunSummary], form: str, *, is_numbered: bool) -> None:
    if form == "json":
        runs = [{key: _plain(s, key) for key in _JSON_KEYS} for s in summaries]
        if not is_numbered:  # A lake numbers its runs when it is read.
            runs = [{**run, "run_id": None} for run in runs]
        click.echo(json_text({"runs": runs}, indent=1))
        return
    columns = tuple(
        plain_column(shown, "VARCHAR" if key == "name" else "BIGINT")
        for key, shown in _SHOWN.items()
    )
    rows = [tuple(_plain(s, key) for key in _SHOWN) for s in summaries]
    write_result(Result(columns, rows), form, None)


def _plain(summary: RunSummary, key: str) -> Any:
    value = getattr(summary, key)
    return round(value, 3) if isinstance(value, float) else value


def _narrate(summaries: list[RunSummary], seconds: float) -> None:
    for summary in summaries:
        for sentence in _sentences(summary):
            narrate(sentence)
    size = sum(summary.bytes for summary in summaries)
    files = counted(sum(summary.files for summary in summaries), "file")
    rate = plain_bytes(round(size / seconds) if seconds else None)
    narrate(f"{files}, {plain_bytes(size)} in {seconds:.1f} s ({rate}/s)")


def _sentences(run: RunSummary) -> Iterator[str]:
    """Yield the messages about a run, a line each."""
    yield from run.notes
    if run.rejects:
        loaded = "everything else was loaded" if run.modules else "no module was loaded"
        asked = shlex.quote(f"run={run.name}")
        yield (
            f"run {run.name}: {counted(run.rejects, 'place')} could not be read,"
            f" {loaded}; `hlodb query rejects_summary -p {asked}` lists them"
        )
    elif not run.has_dump:
        deleting = shlex.join(["hlodb", "rm", *positional(run.name)])
        yield f"run {run.name} holds no XLA dump; `{deleting}` deletes it"
    elif not run.modules:
        yield f"run {run.name} holds no module"
    if run.files and run.files == run.unchanged_files:
        yield f"run {run.name} is unchanged, already ingested"


def _require_modules(runs: Sequence[RunSummary], strict: bool) -> None:
    """Raise where nothing could be loaded, and if `strict` where anything could not.

    DataQualityError tells of rejects; UsageError that there is no dump in any run.
    A dump without modules, such as flags only, is none of these.
    """
    rejects = sum(run.rejects for run in runs)
    is_empty = not any(run.modules for run in runs)
    if rejects and (strict or is_empty):
        lost = ", and no module was loaded" if is_empty else ""
        raise DataQualityError(
            f"{counted(rejects, 'place')} could not be read{lost}:"
            " see `hlodb query rejects_summary`"
        )
    if runs and is_empty and not any(run.has_dump for run in runs):
        raise UsageError(f"no XLA dump in the named paths. {HOW_TO_DUMP}")


def _progress(
    sources: Sequence[RunSource],
) -> AbstractContextManager[Progress | None]:
    """Draw what has been read, and of how much; None where there is no terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    # The library that draws it takes longer to load than a small dump to be read.
    bar = import_module("hlodb.terminal.progress_bar")
    shown: AbstractContextManager[Progress | None] = bar.progress_bar(sources)
    return shown

"""`hlodb explain`: what fills the memory of one dump or log, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from hlodb.commands.completion import complete_runs
from hlodb.commands.options import (
    db_option,
    dumps_as_warehouse,
    limit_option,
    open_for_reading,
    output_option,
    output_stream,
)
from hlodb.commands.report_text import (
    color_option,
    new_page,
    open_option,
    show_page,
    wants_color,
)
from hlodb.errors import DataQualityError, UsageError
from hlodb.garbage import no_collection
from hlodb.ingest.recognise.file_kinds import READ_KINDS
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.archives import is_archive_name
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.printed_commands import named_db
from hlodb.reports.config.reading import read_settings
from hlodb.reports.read.overview import TIMELINE_POINTS, Overview, read_overview
from hlodb.reports.read.soundness import unsound_words
from hlodb.reports.render.overviews import FORMATS, Shown, rendered
from hlodb.schema.connection import Connection
from hlodb.terminal.narration import narrate

if TYPE_CHECKING:
    from hlodb.reports.read.drawn.overview_drawings import Drawings

_STANDARD_INPUT = "-"

_PIPED = "standard input"
"""The run of a log that comes through a pipe."""

_SMALL_BYTES = 64 << 20
"""Of a warehouse that one thread reads."""


@click.command("explain")
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="A run of the warehouse, instead of a PATH; the latest if neither is given.",
)
@click.option("--program", metavar="P", help="Only this program.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Format of the answer.",
)
@open_option
@output_option
@click.option(
    "--top",
    type=click.IntRange(1, 1_000),
    default=5,
    show_default=True,
    help="Number of rows in each table.",
)
@click.option(
    "--programs",
    type=click.IntRange(1, 1_000),
    default=3,
    show_default=True,
    help="Number of programs to describe, the largest first.",
)
@click.option(
    "--measure",
    "is_measured",
    is_flag=True,
    help="Compile the remedies that are an edit of the program, instead of estimating.",
)
@click.option(
    "--with",
    "compiler",
    metavar="PYTHON|jaxlib==X",
    help="Compiler of --measure: a Python that has JAX, or a release to install"
    "  [default: this Python]",
)
@limit_option
@color_option
@db_option
def command(
    paths: tuple[str, ...],
    run: str | None,
    program: str | None,
    form: str,
    is_opened: bool,
    output: Path | None,
    top: int,
    programs: int,
    is_measured: bool,
    compiler: str | None,
    limit: int | None,
    color: str,
    db: Path,
) -> int:
    """Explain what fills the memory of one dump, and what to do about it.

    PATH is a dump directory, an archive, single files or the log of a job that ran out
    of memory; name its dump as a second PATH if there is one. - is a log on the
    standard input. Nothing is kept: `hlodb ingest` keeps dumps. Without PATH the latest
    run of the warehouse is explained. Exit code 3: something could not be read or
    understood, the dump is not of the program that failed, or there is neither a
    program nor a report of running out of memory.

    \b
    hlodb explain /tmp/xla_dump
    hlodb explain job.log /tmp/xla_dump
    kubectl logs trainer-0 | hlodb explain -
    hlodb explain /tmp/xla_dump --open
    hlodb explain --run nightly-7 --program jit_train_step --top 20
    """
    if paths and run is not None:
        raise UsageError("pass PATH or --run, not both")
    if is_measured and not paths:
        raise UsageError("--measure compiles a dump again: pass its PATH")
    if compiler and not is_measured:
        raise UsageError("--with names the compiler of --measure: pass both")
    if is_opened:
        form, output = "html", output or new_page("explain")
    limits = replace(read_settings(None), limit_bytes=limit).limits()
    points = 0 if form == "html" else TIMELINE_POINTS
    with (
        _warehouse(paths, db) as (file, names),
        open_for_reading(file, _SMALL_BYTES) as connection,
        no_collection(),
    ):
        found = [
            read_overview(
                connection,
                name,
                program,
                points,
                top=top,
                paths=paths,
                db=named_db(db),
                limits=limits,
            )
            for name in names or [run]
        ]
        if paths[1:] and len(found) == 1:
            found = [replace(found[0], is_joined=True)]
        maps = _maps(connection, found, programs) if form == "html" else []
        is_checked = form == "compact"
        unsound = [
            unsound_words(connection, [each.run]) if is_checked else []
            for each in found
        ]
    if is_measured:
        found = _measured(paths, found, compiler)
    is_coloured = wants_color(output, color)
    shown = Shown(programs, top, is_coloured, maps, unsound=unsound)
    with output_stream(output) as stream:
        stream.write(rendered(found, form, shown).encode())
    if is_opened and output is not None:
        show_page(output)
    if empty := [each.run.name for each in found if each.is_empty]:
        raise DataQualityError(
            f"{', '.join(empty)} holds neither a program with a buffer assignment nor a"
            " report of running out of memory"
        )
    is_answered = all(
        each.is_whole and each.is_understood and not each.lacks_dump for each in found
    )
    return 0 if is_answered else 3


def _measured(
    paths: Sequence[str], overviews: Sequence[Overview], compiler: str | None
) -> list[Overview]:
    """Return explanations whose remedies were compiled where they are an edit."""
    # Loaded when asked for: it starts compilers.
    from hlodb.replay.interpreters import find_interpreters
    from hlodb.replay.recover import recover
    from hlodb.replay.remedies import edit_of, measure

    sources = {source.name: source for source in _sources(paths)}
    measured = []
    for overview in overviews:
        remedies = overview.answers["remedies"]
        source = sources.get(overview.run.name)
        if source is not None and any(map(edit_of, remedies)):
            recovered, _ = recover(source)
            is_tpu = any(one.topology is not None for one in recovered)
            [interpreter] = find_interpreters(
                [compiler] if compiler else [], with_tpu=is_tpu
            )
            remedies, notes = measure(
                source, recovered, remedies, interpreter, progress=narrate
            )
            for note in notes:
                narrate(note)
        else:
            narrate(
                f"{overview.run.name}: --measure compiled nothing: {_why(remedies)}"
            )
        answers = {**overview.answers, "remedies": remedies}
        measured.append(replace(overview, answers=answers))
    return measured


def _why(remedies: Sequence[object]) -> str:
    """Return why no remedy was compiled, and what to do."""
    if not remedies:
        return "no remedy is known"
    return (
        "its remedies change the source. Edit it, dump again, and compare: hlodb diff"
        " OLD NEW"
    )


@contextmanager
def _warehouse(
    paths: Sequence[str], db: Path
) -> Iterator[tuple[Path, list[str | None]]]:
    """Yield the warehouse to read, and the runs that PATH has brought into it."""
    if not paths:
        yield db, []
        return
    with TemporaryDirectory(prefix="hlodb-explain-") as folder:
        named = [_saved(Path(folder)) if p == _STANDARD_INPUT else p for p in paths]
        with dumps_as_warehouse(_sources(named)) as (file, names):
            yield file, [*names]


def _maps(
    connection: Connection, overviews: Sequence[Overview], programs: int
) -> list[Drawings]:
    """Return where the values of programs lie, which only pages draw."""
    from hlodb.reports.read.drawn.overview_drawings import read_drawings

    return [read_drawings(connection, each, programs) for each in overviews]


def _sources(paths: Sequence[str]) -> list[RunSource]:
    """Return the runs in `paths`; DataQualityError where there is no dump in them."""
    try:
        found = discover(paths, run_name=_name_of_log(paths))
        if len(found) == 2 and any(Path(path).is_file() for path in paths):
            return _together(paths, found)
        return found
    except UsageError as error:
        missing = [path for path in paths if not Path(path).exists()]
        if not missing and paths[1:] and (telling := _telling(paths)):
            return _sources(telling)
        if not missing:
            raise DataQualityError(
                f"{error} No line in it tells of running out of memory in words that"
                " hlodb knows, either"
            ) from error
        if "/" in missing[0]:
            raise
        hint = f"--run {missing[0]} is a run of the warehouse"
        raise UsageError(f"{error} {hint}, if it has one of that name") from error


def _telling(paths: Sequence[str]) -> list[str]:
    """Return the paths that hold a dump or tell of a shortage, and name the others."""
    found = []
    for path in paths:
        try:
            discover([path])
        except UsageError:
            narrate(
                f"{path} is left out: no line in it tells of running out of memory in"
                " words that hlodb knows, and it is no file of a dump"
            )
        else:
            found.append(path)
    return found


def _name_of_log(paths: Sequence[str]) -> str | None:
    """Return the name of the only file where that is no dump's; else None."""
    if len(paths) != 1 or not (file := Path(paths[0])).is_file():
        return None
    is_piped = file.parent.name == _PIPED
    is_dump = is_archive_name(file.name) or recognise(file.name).kind in READ_KINDS
    return None if is_piped or is_dump else file.name


def _together(paths: Sequence[str], found: list[RunSource]) -> list[RunSource]:
    """Return a dump and the log beside it as one run, so that one explains the other.

    Two dumps stay two runs.
    """
    try:
        return discover(paths, run_name=found[0].name)
    except UsageError:
        return found


def _saved(folder: Path) -> str:
    """Return the path of a file with the standard input, in a folder of that name."""
    path = folder / _PIPED / "input.log"
    path.parent.mkdir()
    path.write_bytes(sys.stdin.buffer.read())
    return str(path)

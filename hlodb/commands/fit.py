"""`hlodb fit`: the largest batch, sequence or width that fits."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from hlodb.commands.options import (
    db_option,
    format_option,
    limit_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.errors import NothingToCompare, UsageError
from hlodb.ingest.load.run_records import RunSummary
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.printed_commands import positional
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query
from hlodb.reports.config.reading import read_settings
from hlodb.reports.read.capacity import Limit, limit_words, space_number
from hlodb.terminal.narration import narrate
from hlodb.text import counted

MAIN_SPACE = 0


@click.command("fit")
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@limit_option
@click.option("--program", metavar="P", help="Only this program.")
@click.option("--series", metavar="S", help="Only the runs of this series.")
@click.option(
    "--space",
    metavar="NAME|NUMBER",
    default=str(MAIN_SPACE),
    help="The memory space, such as VMEM  [default: 0, the main memory]",
)
@db_option
@format_option
@output_option
def command(
    paths: tuple[str, ...],
    limit: int | None,
    program: str | None,
    series: str | None,
    space: str,
    db: Path,
    form: str,
    output: Path | None,
) -> None:
    """Find the largest batch, sequence or width that fits.

    PATH are dumps of one program, compiled at two sizes or more; nothing is kept.
    Without PATH the runs of the warehouse are used. Each buffer grows as its
    dimensions do between the two greatest sizes; others show whether that holds.
    largest_size is what fits by these laws, lower_size what fits even if they are a
    little wrong, max_size the largest size that was compiled; growing_part is the part
    of the memory that grows most up to largest_size, by growing_bytes. Compile
    lower_size once before you rely on it. Exit code 4: no program was compiled at two
    sizes that differ in one axis only.

    \b
    hlodb fit dump_batch_8 dump_batch_16 dump_batch_32 --limit 16GiB
    hlodb fit all_sizes.tar.xz --limit 16GiB --format json
    hlodb fit --series sizes --program jit_train_step
    """
    settings = replace(read_settings(None), limit_bytes=limit)
    asked = {**settings.limits(), "program": program, "series": series}
    if not paths:
        result, left_out = _asked(db, asked, space)
    else:
        if series is not None:
            raise UsageError("pass PATH or --series, not both")
        with TemporaryDirectory(prefix="hlodb-fit-") as folder:
            file = Path(folder) / "fit.duckdb"
            for path in paths:
                for summary in ingest([path], file):
                    _narrate(summary, path)
            result, left_out = _asked(file, asked, space)
    for line in left_out:
        narrate(line)
    if not result.rows:
        raise NothingToCompare(
            "no program was compiled at two sizes that differ in one axis only."
            " Compile it at another size, with everything else as it is"
        )
    rows = result.dicts()
    if all(row["usable_bytes"] is None for row in rows):
        narrate("the memory of the device is unknown: pass --limit")
    elif not all(row["is_checked"] for row in rows):
        narrate("two sizes do not show whether the laws hold: compile a third one")
    for words in sorted({_limit_words(row) for row in rows if row["usable_bytes"]}):
        narrate(f"the limit is {words}")
    for line in dict.fromkeys(line for row in rows for line in _reservations(row)):
        narrate(line)
    write_result(result, form, output)


def _reservations(row: dict[str, Any]) -> Iterator[str]:
    """Yield what to know before relying on a row."""
    if row["caveat"]:
        yield f"{row['program']}: {row['caveat']}"
    where = f"{row['program']}: {row['axis_name']}"
    if row["fitting_beyond"]:
        yield (
            f"{where} = {row['fitting_beyond']:,} was compiled and fits, though a"
            " smaller size does not: memory does not only grow with the size here, so"
            " compile the sizes that you can use"
        )
    elif row["largest_size"] == 0:
        yield f"{where}: no size fits by the laws of the sizes that were compiled"
    if row["is_extrapolated"]:
        is_twice = row["largest_size"] > 2 * row["max_size"]
        words = "is more than twice" if is_twice else "needs more than twice as much as"
        safe_size = row["lower_size"] or row["largest_size"]
        yield (
            f"{where} = {row['largest_size']:,} {words} {row['max_size']:,}, the"
            f" largest compiled: compile {safe_size:,} before you rely on it"
        )


def _narrate(summary: RunSummary, path: str) -> None:
    """Narrate what could not be read: a size may be missing for it."""
    for note in summary.notes:
        narrate(note)
    if summary.rejects:
        reading = shlex.join(["hlodb", "explain", *positional(path)])
        narrate(
            f"{path}: {counted(summary.rejects, 'place')} could not be read;"
            f" `{reading}` lists them"
        )


def _limit_words(row: dict[str, Any]) -> str:
    nominal, device = row["nominal_bytes"], row["device"]
    return limit_words(Limit(row["usable_bytes"], row["limit_from"], nominal, device))


_PARTITIONS = (
    "SELECT program, max(num_partitions) FROM modules"
    " GROUP BY program HAVING max(num_partitions) > 1"
)


def _asked(file: Path, asked: dict[str, Value], space: str) -> tuple[Result, list[str]]:
    """Return the largest sizes, and lines about them and what was left out."""
    with open_for_reading(file) as connection:
        asked = {**asked, "color": space_number(connection, space)}
        found = run_query(connection, "largest_fit", asked)
        which = {name: asked[name] for name in ("program", "series", "color")}
        left_out = run_query(connection, "unfitted_sizes", which).dicts()
        partitions = dict(connection.execute(_PARTITIONS).fetchall())
    runs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in left_out:
        runs[row["program"], row["reason"]].append(row["run"])
    lines = [
        f"{program}: {counted(len(names), 'compilation')} left out (run {names[0]!r}"
        f"{' and others' if len(set(names)) > 1 else ''}): {reason}"
        for (program, reason), names in runs.items()
    ]
    lines += [
        f"{program}: sizes are those that each of its {partitions[program]:,}"
        " partitions has"
        for program in dict.fromkeys(row["program"] for row in found.dicts())
        if program in partitions
    ]
    return found, lines

"""`hlodb export`: a program for other viewers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hlodb.commands.completion import complete_programs, complete_runs
from hlodb.commands.options import (
    db_option,
    open_for_reading,
    output_option,
    output_stream,
    refuse_terminal,
    write_result,
)
from hlodb.errors import DataQualityError, UsageError
from hlodb.paths import read_text
from hlodb.queries.result import Result, plain_column
from hlodb.queries.run import Value, run_query
from hlodb.schema.connection import Connection
from hlodb.terminal.narration import narrate
from hlodb.text import counted, human_bytes

if TYPE_CHECKING:
    from hlodb.exports.packing import Arena

FORMS = ("perfetto", "speedscope", "folded", "pprof", "minimalloc")


@click.command("export")
@click.argument("program", shell_complete=complete_programs)
@click.option(
    "--to",
    "form",
    type=click.Choice(FORMS),
    required=True,
    help="Viewer or solver to export to.",
)
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Run of the program  [default: latest]",
)
@click.option(
    "--color",
    metavar="N",
    type=int,
    help="Memory space of the arena for minimalloc  [default: largest arena]",
)
@click.option(
    "--answer",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare MiniMalloc's answer with XLA's packing, instead of exporting.",
)
@db_option
@output_option
def command(
    program: str,
    form: str,
    run: str | None,
    color: int | None,
    answer: Path | None,
    db: Path,
    output: Path | None,
) -> None:
    """Write a program for another viewer, or for a solver.

    \b
    perfetto    live bytes and every value over the schedule, for ui.perfetto.dev
    speedscope  what the peak holds by framework path, for speedscope.app
    folded      the same as lines, for flamegraph.pl
    pprof       the same as a profile, for pprof
    minimalloc  the largest arena as blocks to pack, for MiniMalloc

    \b
    hlodb export jit_train_step --to perfetto -o step.json
    hlodb export jit_train_step --to speedscope -o peak.speedscope.json
    hlodb export jit_train_step --to folded | flamegraph.pl > peak.svg
    hlodb export jit_train_step --to pprof -o peak.pb.gz
    hlodb export jit_train_step --to minimalloc -o arena.csv
    hlodb export jit_train_step --to minimalloc --answer packed.csv
    """
    if form != "minimalloc" and (answer or color is not None):
        raise UsageError("--answer and --color are for --to minimalloc")
    if form == "pprof":
        refuse_terminal(form, output)
    asked: dict[str, Value] = {"run": run, "program": program}
    with open_for_reading(db) as connection:
        if form == "minimalloc":
            arena, packings = _arena(connection, asked, color)
        else:
            written = _viewed(form, connection, asked)
    if form == "minimalloc":
        if answer is not None:
            write_result(_compared(arena, packings, answer), "table", output)
            return
        from hlodb.exports.packing import problem

        written = problem(arena).encode()
        narrate(*_how_to_solve(arena, output))
    with output_stream(output) as stream:
        stream.write(written)


def _viewed(form: str, connection: Connection, asked: dict[str, Value]) -> bytes:
    """Return the file of a viewer; raise DataQualityError where it would be empty."""
    if form == "perfetto":
        from hlodb.exports.trace import trace

        timeline = run_query(connection, "live_timeline", asked).dicts()
        _require_rows(timeline, asked)
        every = {**asked, "all_kinds": True}
        values = run_query(connection, "longest_live_ranges", every).dicts()
        return json.dumps(trace(timeline, values)).encode()
    contents = run_query(connection, "peak_contents", asked).dicts()
    _require_rows(contents, asked)
    if form == "pprof":
        from hlodb.exports.pprof import pprof

        return pprof(contents)
    from hlodb.exports.stacks import folded, speedscope

    if form == "folded":
        return folded(contents).encode()
    return json.dumps(speedscope(contents)).encode()


def _require_rows(rows: Sequence[object], asked: Mapping[str, Value]) -> None:
    if not rows:
        raise DataQualityError(f"the dump of {asked['program']} holds no live ranges")


def _arena(
    connection: Connection, asked: dict[str, Value], color: int | None
) -> tuple[Arena, list[dict[str, Any]]]:
    """Return the arena to pack, with its rows of `repack_whatif`."""
    from hlodb.exports.packing import largest_arena

    spaces = {**asked, "color": color}
    selected = run_query(connection, "selected_memory", spaces).dicts()
    places = {(row["module_id"], row["color"]): row for row in selected}
    placed = run_query(connection, "placed_values", asked).dicts()
    arena = largest_arena(
        [row for row in placed if (row["module_id"], row["color"]) in places]
    )
    if arena is None:
        where = "" if color is None else f" in memory space {color}"
        raise DataQualityError(
            f"the dump of {asked['program']} holds no live ranges of temporary"
            f" values{where}"
        )
    module = places[arena.module_id, arena.color]
    keys = {
        **{key: module[key] for key in ("module_number", "rank", "color")},
        "allocation_id": arena.allocation_id,
    }
    packings = run_query(connection, "repack_whatif", spaces).dicts()
    return arena, [r for r in packings if all(r[k] == v for k, v in keys.items())]


def _how_to_solve(arena: Arena, output: Path | None) -> list[str]:
    is_there = shutil.which("minimalloc") is not None
    file = output or "arena.csv"
    return [
        f"{counted(len(arena.blocks), 'block')}, which XLA packs in"
        f" {human_bytes(arena.size_bytes)}. MiniMalloc packs them again"
        + (":" if is_there else "; it is not on PATH here, build it from"),
        *([] if is_there else ["  https://github.com/google/minimalloc"]),
        f"  minimalloc --minimize_capacity --capacity={arena.size_bytes} --timeout=60s"
        f" --input={file} --output=packed.csv",
        "and the same command with --answer packed.csv compares.",
    ]


def _compared(
    arena: Arena, packings: Sequence[Mapping[str, Any]], answer: Path
) -> Result:
    """Return a row for each packing of an arena, the largest first."""
    from hlodb.exports.packing import answer_bytes

    rows = [("XLA", arena.size_bytes)]
    if packings:
        best = packings[0]
        order = f"hlodb: largest {best['largest_first']} first, {best['fit']}"
        rows.append((order, best["packed_bytes"]))
    else:
        narrate("more than 1,000 blocks: neither packed by hlodb, nor a lower bound")
    try:
        text = read_text(answer)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {answer}: {error}") from error
    rows.append((answer.name, answer_bytes(arena, text, str(answer))))
    if packings:
        rows.append(("lower bound", packings[0]["floor_bytes"]))
    columns = (
        plain_column("packing", "VARCHAR"),
        plain_column("packed_bytes", "BIGINT"),
        plain_column("saved_bytes", "BIGINT"),
    )
    xla = arena.size_bytes
    return Result(columns, [(name, size, xla - size) for name, size in rows])

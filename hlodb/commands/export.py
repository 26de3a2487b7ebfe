"""`hlodb export`: a program for other viewers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hlodb.commands.completion import complete_programs, complete_runs
from hlodb.commands.options import (
    db_option,
    open_for_reading,
    output_option,
    output_stream,
    refuse_terminal,
)
from hlodb.errors import DataQualityError
from hlodb.queries.run import Value, run_query


@click.command("export")
@click.argument("program", shell_complete=complete_programs)
@click.option(
    "--to",
    "form",
    type=click.Choice(["perfetto", "speedscope", "folded", "pprof"]),
    required=True,
    help="Viewer to export to.",
)
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Run of the program  [default: latest]",
)
@db_option
@output_option
def command(
    program: str, form: str, run: str | None, db: Path, output: Path | None
) -> None:
    """Write a program for another viewer.

    \b
    perfetto    live bytes and every value over the schedule, for ui.perfetto.dev
    speedscope  what the peak holds by framework path, for speedscope.app
    folded      the same as lines, for flamegraph.pl
    pprof       the same as a profile, for pprof

    \b
    hlodb export jit_train_step --to perfetto -o step.json
    hlodb export jit_train_step --to speedscope -o peak.speedscope.json
    hlodb export jit_train_step --to folded | flamegraph.pl > peak.svg
    hlodb export jit_train_step --to pprof -o peak.pb.gz
    """
    if form == "pprof":
        refuse_terminal(form, output)
    asked: dict[str, Value] = {"run": run, "program": program}
    with open_for_reading(db) as connection:
        if form == "perfetto":
            from hlodb.exports.trace import trace

            timeline = run_query(connection, "live_timeline", asked).dicts()
            every = {**asked, "all_kinds": True}
            values = run_query(connection, "longest_live_ranges", every).dicts()
            rows, written = timeline, json.dumps(trace(timeline, values)).encode()
        else:
            rows = run_query(connection, "peak_contents", asked).dicts()
            written = _stacks(form, rows)
    if not rows:
        raise DataQualityError(f"the dump of {program} holds no live ranges")
    with output_stream(output) as stream:
        stream.write(written)


def _stacks(form: str, contents: Sequence[Mapping[str, Any]]) -> bytes:
    if form == "pprof":
        from hlodb.exports.pprof import pprof

        return pprof(contents)
    from hlodb.exports.stacks import folded, speedscope

    if form == "folded":
        return folded(contents).encode()
    return json.dumps(speedscope(contents)).encode()

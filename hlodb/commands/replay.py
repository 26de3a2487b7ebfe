"""`hlodb replay`: the programs of a dump, compiled again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from hlodb.commands.options import format_option, output_option, write_result
from hlodb.errors import NothingToCompare, UsageError
from hlodb.ingest.modules.identity import program_name
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.paths import fault_of
from hlodb.queries.result import Row
from hlodb.replay.compare import STATUS, summed_up
from hlodb.replay.compile import ELEMENT_TYPES, Bounds, Edit
from hlodb.replay.interpreters import find_interpreters
from hlodb.replay.recover import dumped_after_passes, recover
from hlodb.replay.replays import Recovered, planned, replay_run
from hlodb.terminal.narration import narrate
from hlodb.terminal.progress_bar import counting_bar
from hlodb.text import parse_size

_FLAG = re.compile(r"(xla_\w+)=(.*)", re.DOTALL)


_NUMBERS = re.compile(r"\d{1,6}(,\d{1,6})*")


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(int, value.split(","))))


def _donated(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[int, ...] | Literal["auto"] | None:
    if value is None or value == "auto":
        return "auto" if value else None
    if not _NUMBERS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is neither auto nor numbers as 0,3")
    return _numbers(value)


def _listed(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[int, ...]:
    if value is not None and not _NUMBERS.fullmatch(value):
        raise click.BadParameter(f"{value!r} are no numbers as 0,3")
    return _numbers(value) if value else ()


def _narrowed(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str | tuple[int, ...], str], ...]:
    found: list[tuple[str | tuple[int, ...], str]] = []
    for value in values:
        what, _separator, name = value.partition("=")
        if name not in ELEMENT_TYPES or not (
            what in ELEMENT_TYPES or _NUMBERS.fullmatch(what)
        ):
            types = ", ".join(ELEMENT_TYPES)
            raise click.BadParameter(
                f"{value!r} is neither TYPE=TYPE nor N,…=TYPE; types are {types}"
            )
        found.append((what if what in ELEMENT_TYPES else _numbers(what), name))
    return tuple(found)


def _module(_: click.Context, __: click.Parameter, value: Path | None) -> bytes | None:
    if value is None:
        return None
    if fault := fault_of(value):
        raise click.BadParameter(f"{value}: {fault}")
    return value.read_bytes()


def _flags(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    found = [_FLAG.fullmatch(value.removeprefix("--")) for value in values]
    for value, flag in zip(values, found, strict=True):
        if flag is None:
            raise click.BadParameter(f"{value!r} is no flag such as xla_NAME=VALUE")
    return {flag[1]: flag[2] for flag in found if flag}


def _topology(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[a-z0-9]+:\d+(x\d+){1,2}", value):
        raise click.BadParameter(f"{value!r} is no slice such as v6e:2x2")
    return value


def _size(_: click.Context, __: click.Parameter, value: str) -> int:
    try:
        return parse_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("replay")
@click.argument("paths", nargs=-1, required=True, metavar="DUMP…")
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the new dumps, one folder for each run and replay.",
)
@click.option("--program", metavar="P", help="Only this program.")
@click.option(
    "--with",
    "names",
    multiple=True,
    metavar="PYTHON|jaxlib==X",
    help="Compiler: a Python that has JAX, or a release to install for replay alone;"
    " further ones are compared with the first  [default: this Python]",
)
@click.option(
    "--donate",
    metavar="auto|N,…",
    callback=_donated,
    help="Donate parameters, by number, or all that an output can take.",
)
@click.option(
    "--narrow",
    multiple=True,
    metavar="TYPE=TYPE|N,…=TYPE",
    callback=_narrowed,
    help="Give all arrays of an element type, or parameters by number, another one,"
    " such as f32=bf16 or 0,3=bf16; it changes what is computed.",
)
@click.option(
    "--shard",
    metavar="N,…",
    callback=_listed,
    help="Divide these parameters over all partitions, by number.",
)
@click.option(
    "--drop",
    metavar="N,…",
    callback=_listed,
    help="Leave these results out, by number, and what only they need.",
)
@click.option(
    "--mlir",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_module,
    help="Compile this StableHLO in place of the program that --program names.",
)
@click.option(
    "--flag",
    "flags",
    multiple=True,
    metavar="xla_NAME=VALUE",
    callback=_flags,
    help="Compile with this flag; may be repeated.",
)
@click.option(
    "--device",
    "topology",
    metavar="SLICE",
    callback=_topology,
    help="Compile for these TPUs, such as v6e:2x2; needs libtpu, and no TPU.",
)
@click.option(
    "--passes",
    "with_passes",
    is_flag=True,
    help="Dump the program after every pass that changes it.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    default=1,
    show_default=True,
    help="Number of compilations at once.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=600,
    show_default=True,
    help="Seconds that one compilation may take.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    default="16GiB",
    show_default=True,
    callback=_size,
    help="Memory that one compilation may take.",
)
@format_option
@output_option
def command(
    paths: tuple[str, ...],
    out: Path,
    program: str | None,
    names: tuple[str, ...],
    donate: tuple[int, ...] | Literal["auto"] | None,
    narrow: tuple[tuple[str | tuple[int, ...], str], ...],
    shard: tuple[int, ...],
    drop: tuple[int, ...],
    mlir: bytes | None,
    flags: dict[str, str],
    topology: str | None,
    with_passes: bool,
    jobs: int,
    timeout: float,
    memory: int,
    form: str,
    output: Path | None,
) -> int:
    """Compile the programs of a dump again, without source and device.

    A dump holds what XLA was given. Each program is compiled as it is, in a process of
    its own, and the bytes of every memory space are compared with the dump: exact or
    inexact. Then it is compiled with other releases (further --with) or with an edit
    (--donate, --narrow, --shard, --drop, --mlir, --flag, --device), and compared with
    its unchanged replay. Programs are compiled, never run. DIR/RUN.unchanged,
    DIR/RUN.jaxlib-X and DIR/RUN.edited are dumps as any other. Exit code 3: a program
    could not be compiled. Exit code 4: the dumps hold no program that can be.

    \b
    hlodb replay /tmp/xla_dump --out replayed
    hlodb replay /tmp/xla_dump --out next --with jaxlib==0.10.2 --with jaxlib==0.11.2
    hlodb replay /tmp/xla_dump --out donated --program jit_step --donate auto
    hlodb replay v5e_dump --out v6e --with ~/tpu/bin/python --device v6e:2x2
    """
    edit = Edit(mlir, narrow, shard, drop, donate, flags, topology)
    runs = [_recovered(source, program, with_passes) for source in discover(paths)]
    if not any(run.programs for run in runs):
        raise NothingToCompare(_nothing(runs, program))
    if mlir is not None and sum(len(run.programs) for run in runs) != 1:
        raise UsageError(_not_one(runs))
    needs_tpu = topology is not None or any(
        one.topology is not None for run in runs for one in run.programs
    )
    interpreters = find_interpreters(names, with_tpu=needs_tpu)
    plans = [planned(run.source.name, out, interpreters, edit) for run in runs]
    total = sum(len(r.programs) * len(p) for r, p in zip(runs, plans, strict=True))
    bounds = Bounds(timeout, memory)
    rows: list[Row] = []
    with counting_bar("compiled", total) as progress:
        for run, plan in zip(runs, plans, strict=True):
            result = replay_run(run, plan, jobs=jobs, bounds=bounds, progress=progress)
            rows += result.rows
    narrate(f"{summed_up(rows)}; the dumps are in {out}")
    write_result(replace(result, rows=rows), form, output)
    return 3 if any(row[STATUS] == "failed" for row in rows) else 0


def _recovered(source: RunSource, program: str | None, with_passes: bool) -> Recovered:
    programs, lost = recover(source)
    if with_passes:
        programs = [dumped_after_passes(one) for one in programs]
    if program is not None:
        programs = [one for one in programs if program_name(one.key.name) == program]
        lost = [one for one in lost if program_name(one.key.name) == program]
    return Recovered(source, programs, lost)


def _not_one(runs: Sequence[Recovered]) -> str:
    """Return why --mlir cannot tell which program to replace."""
    names = [program_name(one.key.name) for run in runs for one in run.programs]
    return (
        f"--mlir replaces one program, and there are {len(names)}: pass --program, such"
        f" as {names[0]}, and a dump that holds it once"
    )


def _nothing(runs: Sequence[Recovered], program: str | None) -> str:
    """Return why there is nothing to compile."""
    lost = [one for run in runs for one in run.lost]
    if lost:
        return f"{lost[0].key.name} cannot be compiled again: {lost[0].reason}"
    if program is not None:
        return f"no program {program!r} of the dump can be compiled again"
    return (
        "the dump holds no program before its compilation (module.mlir or"
        " before_optimizations)"
    )

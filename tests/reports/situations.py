"""Every situation that a report has to say something sensible about, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from hlodb.garbage import no_collection
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.reports.worlds import Buffer, Program, World, make

MIB = 1 << 20

WORK = Buffer("work", 4 * MIB, "f32[1024,1024]", "jit(step)/jit(main)/dot")
EXTRA = Buffer("extra", 2 * MIB, "f32[512,1024]", "jit(step)/jit(main)/softmax/exp")
STEP = Program("jit_step", (WORK,))
GROWN = Program("jit_step", (WORK, EXTRA))
EVAL = Program("jit_eval", (replace(WORK, size=3 * MIB), EXTRA), source="eval")
LEANER = Program("jit_eval", (replace(WORK, size=3 * MIB),), source="eval")
WAIVER = """
[[waiver]]
program = "jit_step"
owner = "memory-team"
reason = "the new softmax needs it"
until = {until}
"""


LARGE = "ten_thousand_programs"
"""Takes long to make."""


class Situation(NamedTuple):
    """Runs, settings, and what is asked of them."""

    worlds: tuple[World, ...]
    settings: str = ""
    request: Request = Request()


def night(number: int, *programs: Program, **more: object) -> World:
    return replace(World(f"night-{number}", programs), **more)  # type: ignore[arg-type]


def _resized(size: int, name: str = "jit_step") -> Program:
    return Program(name, (replace(WORK, size=size),), text=f"{name} {size}")


def _hostile() -> tuple[Program, Program]:
    name = "jit|`a`\n<script>alert('ü')</script>\x1b[2J\u202e"
    path = "jit(f)/|`x`\n<b>&amp;$1@all/dot"
    small = Program(name, (replace(WORK, path=path),))
    return small, replace(small, buffers=(*small.buffers, replace(EXTRA, path=path)))


def _compiled(*sizes: int) -> tuple[Program, ...]:
    """One source compiled several times in one run."""
    return tuple(_resized(size) for size in sizes)


def _thousands(size: int) -> tuple[Program, ...]:
    return tuple(_resized(size + n, f"jit_{n:05}") for n in range(10_000))


SITUATIONS = {
    "no_change": Situation((night(1, STEP, EVAL), night(2, STEP, EVAL))),
    "one_regression": Situation((night(1, STEP, EVAL), night(2, GROWN, EVAL))),
    "improvement_only": Situation((night(1, STEP, EVAL), night(2, STEP, LEANER))),
    "mixed": Situation(
        (
            night(1, STEP, EVAL),
            night(
                2,
                Program(
                    "jit_step",
                    (replace(WORK, size=3 * MIB), replace(EXTRA, offset=7 * MIB)),
                ),
                LEANER,
            ),
        )
    ),
    "all_waived": Situation(
        (night(1, STEP), night(2, GROWN)), WAIVER.format(until="2027-02-01")
    ),
    "waiver_expired": Situation(
        (night(1, STEP), night(2, GROWN)), WAIVER.format(until="2027-01-02")
    ),
    "no_baseline": Situation((night(1, STEP),)),
    "changed_inputs": Situation(
        (
            night(1, replace(STEP, source=None)),
            night(2, replace(GROWN, source=None, shapes="(f32[16]{0})->f32[8]{0}")),
        )
    ),
    "other_device": Situation(
        (
            night(1, STEP, platform="tpu", device="TPU v5e"),
            night(2, GROWN, platform="tpu", device="TPU v5p"),
        ),
        request=Request(baseline="night-1"),
    ),
    "missing_program": Situation((night(1, STEP, EVAL), night(2, STEP))),
    "new_program": Situation((night(1, STEP), night(2, STEP, EVAL))),
    "recovered_program": Situation(
        (night(1, STEP, EVAL), night(2, STEP), night(3, STEP, LEANER))
    ),
    "back_and_worse": Situation(
        (night(1, STEP, LEANER), night(2, STEP), night(3, STEP, EVAL))
    ),
    "fixed": Situation((night(1, STEP), night(2, GROWN), night(3, STEP))),
    "still_there": Situation((night(1, STEP), night(2, GROWN), night(3, GROWN))),
    "still_missing": Situation(
        (night(1, STEP, EVAL), night(2, STEP), night(3, STEP), night(4, STEP))
    ),
    "renamed_program": Situation(
        (
            night(1, replace(STEP, name="jit__lambda_")),
            night(2, replace(GROWN, name="jit_step")),
        )
    ),
    "rejects": Situation(
        (night(1, STEP), night(2, STEP, rejects=("bad_size", "bad_size", "cut_off")))
    ),
    "unsound_night": Situation(
        (
            night(1, STEP),
            night(2, replace(_resized(MIB), printed=4 * MIB)),
            night(3, STEP),
        )
    ),
    "consistency_failure": Situation(
        (night(1, STEP), night(2, replace(STEP, printed=1)))
    ),
    "noise_inside": Situation(
        (night(1, *_compiled(40 * MIB, 42 * MIB)), night(2, *_compiled(41 * MIB)))
    ),
    "noise_outside": Situation(
        (night(1, *_compiled(40 * MIB, 42 * MIB)), night(2, *_compiled(45 * MIB)))
    ),
    "zero_modules": Situation((night(1, STEP), night(2))),
    "budget_failed": Situation(
        (night(1, STEP), night(2, STEP)),
        '[[budget]]\nprogram = "jit_*"\nspace = "host"\nbytes = "1 MiB"\n',
    ),
    "budget_waived": Situation(
        (night(1, STEP), night(2, STEP)),
        '[[budget]]\nprogram = "jit_*"\nbytes = "1 MiB"\n'
        + WAIVER.format(until="2027-02-01"),
    ),
    "two_spaces": Situation(
        (
            night(1, STEP, platform="tpu", device="TPU v5e"),
            night(
                2,
                replace(
                    STEP,
                    buffers=(
                        replace(WORK, size=2 * MIB, type="f32[512,1024]"),
                        replace(EXTRA, color=1),
                    ),
                ),
                platform="tpu",
                device="TPU v5e",
            ),
        ),
        "[gates]\nmanaged_ratio = 0\n"
        '[[device]]\ndevice = "TPU v5*"\nspace = "hbm"\nbytes = "16 GiB"\n',
    ),
    "hostile_names": Situation(
        (night(1, _hostile()[0]), night(2, _hostile()[1])),
    ),
    "huge_bytes": Situation(
        (night(1, _resized((1 << 53) + 1)), night(2, _resized((1 << 53) + 3 + MIB))),
        "[floors]\nratio = 0\n",
    ),
    "ties": Situation(
        (
            night(1, *(_resized(4 * MIB, f"jit_{c}") for c in "cab")),
            night(2, *(_resized(8 * MIB, f"jit_{c}") for c in "bca")),
        )
    ),
    LARGE: Situation((night(1, *_thousands(4 * MIB)), night(2, *_thousands(8 * MIB)))),
}

FURTHER = {
    "all_waived",
    "back_and_worse",
    "budget_failed",
    "budget_waived",
    "changed_inputs",
    "consistency_failure",
    "fixed",
    "new_program",
    "noise_outside",
    "recovered_program",
    "still_missing",
    "still_there",
    "ties",
    "unsound_night",
    "waiver_expired",
    LARGE,
}
"""Further cases of what others show: `make test-slow` reports on them."""

EACH = [
    pytest.param(name, marks=pytest.mark.slow) if name in FURTHER else name
    for name in SITUATIONS
    if name != LARGE
]
"""Values of a parameter of tests that hold in every situation."""


def report_on(name: str, folder: Path) -> Report:
    """Make the warehouse of a situation and give the report on it."""
    situation = SITUATIONS[name]
    path = make(folder / f"{name}.duckdb", *situation.worlds)
    settings = parse_settings(situation.settings)
    with connect(path) as connection, no_collection():
        return build_report(connection, situation.request, settings)

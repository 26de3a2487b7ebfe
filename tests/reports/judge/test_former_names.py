"""A renamed program keeps budget and owner of its former name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.reports.document.test_brief import lines
from tests.reports.read.test_nights import sized
from tests.reports.situations import night
from tests.reports.worlds import Program, make

SETTINGS = """
[owners]
"jit_step" = "training"

[[budget]]
program = "jit_step"
space = "host"
bytes = 4194304
"""
STEP = sized(4)
RENAMED = replace(sized(5), name="jit_update", source=STEP.source)


def report_on(path: Path, *programs: Program) -> Report:
    nights = [night(number, program) for number, program in enumerate(programs, 1)]
    with connect(make(path, *nights)) as connection:
        return build_report(connection, Request(), parse_settings(SETTINGS))


@pytest.mark.parametrize("later", [0, 1])
def test_a_renamed_program_keeps_budget_and_owner(tmp_path: Path, later: int) -> None:
    """Also in the nights after, when the base has the new name, too."""
    programs = [STEP, RENAMED, *[RENAMED] * later]
    report = report_on(tmp_path / "hlodb.duckdb", *programs)
    (gate,) = [g for g in report.gates if g.gate == "budget"]
    assert (gate.program, gate.value, gate.status, gate.owner, gate.reason) == (
        "jit_update",
        5242880,
        "fail",
        "training",
        "budget of jit_step, its former name",
    )
    assert {f.owner for f in report.findings} == {"training"}
    assert not any("matches no program" in note for note in report.notes)


def test_an_unused_budget_is_said_in_short(tmp_path: Path) -> None:
    other = sized(4, "jit_eval")
    report = report_on(tmp_path / "hlodb.duckdb", other, other)
    assert report.headline == "✅ no regression; 1 same"
    unused = "The budget of jit_step matches no program of this run."
    assert lines(brief(report)) == [unused]

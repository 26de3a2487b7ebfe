"""Nights on which a program's buffer assignment was not dumped, or not kept."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Commands, Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.sentences import gate_sentence
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.soundness import QualityRow
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS

CNN = "jit_cnn"
ASSIGNMENT = "jit_cnn.*buffer-assignment"
Night = tuple[str, str]
"""A release, and what of its dump is lost."""


def report_of(folder: Path, nights: Sequence[Night], kind: str = "report") -> Report:
    """Ingest two programs of each night, in their order, and report on the last."""
    folder.mkdir()
    for number, (release, lost) in enumerate(nights, 1):
        dump = folder / f"night-{number}"
        with tarfile.open(DUMPS / "cpu" / f"jaxlib-{release}.tar.xz") as archive:
            named = [m for m in archive if re.search("jit_cnn|jit_mlp_step", m.name)]
            kept = [m for m in named if not (lost and re.search(lost, m.name))]
            archive.extractall(dump, kept)
        run = RunRequest(name=f"night-{number}", series="nightly")
        ingest([str(dump)], folder / "hlodb.duckdb", request=run, jobs=1)
    with connect(folder / "hlodb.duckdb") as connection:
        return build_report(
            connection, Request(baseline="previous", kind=kind), Settings()
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "cnn"),
    [
        ("0.4.35", ("night-1", "recovered", 0.0)),
        ("0.5.3", ("night-1", "worse", 0.4089)),
    ],
)
def test_a_lost_assignment_is_as_a_lost_program(
    tmp_path: Path, release: str, cnn: tuple[object, ...]
) -> None:
    """What was seen before it is the base, whether the program is worse or back."""
    gone, unassigned = (
        report_of(tmp_path / name, [("0.4.35", ""), ("0.4.35", lost), (release, "")])
        for name, lost in (("program", CNN), ("assignment", ASSIGNMENT))
    )
    assert unassigned.findings == gone.findings
    assert unassigned.programs == gone.programs
    assert unassigned.gates == gone.gates
    (found,) = (f for f in unassigned.findings if f.program == CNN)
    assert (found.base_run, found.change, found.delta_ratio) == cnn


@pytest.mark.slow
def test_what_modules_lack_is_noted(tmp_path: Path) -> None:
    """Also of the base; sources only where the run has others."""
    lost = f"{ASSIGNMENT}|mlp_step.*before_optimizations"
    nights = [("0.4.35", ASSIGNMENT), ("0.4.35", lost), ("0.4.35", "before_opt")]
    cnn = "module_0007.jit_cnn.cpu_after_optimizations.txt"
    mlp = "module_0001.jit_mlp_step.cpu_after_optimizations.txt"
    noted = [
        QualityRow("night-1", "noted", "no_buffer_assignment", 1, cnn, False),
        QualityRow("night-2", "noted", "no_before_optimizations", 1, mlp, False),
        QualityRow("night-2", "noted", "no_buffer_assignment", 1, cnn, False),
    ]
    assert report_of(tmp_path / "two", nights[:2]).quality == noted
    assert report_of(tmp_path / "three", nights).quality == noted[1:]


@pytest.mark.slow
def test_what_is_said_of_a_lost_assignment(tmp_path: Path) -> None:
    """The program is there: nothing says that it is not, nor asks for its memory."""
    report = report_of(tmp_path / "nights", [("0.4.35", ""), ("0.4.35", ASSIGNMENT)])
    why = 'run "night-1" has the program\'s buffer assignment, "night-2" has not'
    command = "hlodb query incomplete_modules -p run=night-2 -p program=jit_cnn"
    (finding,) = report.findings
    assert report.headline == (
        "❌ 1 gate failed: jit_cnn CPU memory has no buffer assignment;"
        " 1 missing; 1 same"
    )
    assert (finding.rule, finding.tags) == ("no_buffer_assignment", [])
    assert brief(report) == [
        Paragraph(f"Why: {why}."),
        Paragraph("Owner unknown: add one under [owners] in hlodb.toml."),
        Commands((command,)),
    ]
    assert [gate_sentence(g, finding, set()) for g in report.gates if g.program] == [
        f"jit_cnn has no buffer assignment: {why}"
    ]


@pytest.mark.slow
def test_a_diff_does_not_call_what_has_no_assignment_absent(tmp_path: Path) -> None:
    nights = [("0.4.35", ASSIGNMENT), ("0.4.35", "")]
    report = report_of(tmp_path / "nights", nights, kind="diff")
    (found,) = report.findings
    assert (found.change, found.rule) == ("new", "no_buffer_assignment")
    assert found.commands == [
        "hlodb query largest_allocations -p run=night-2 -p program=jit_cnn"
    ]

"""Donations that are lost while the inputs of a program change.

tests/data/newcomers/donations.tar.xz has a training step whose moments get half the
width: see make_donations.py beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested("donations", tmp_path_factory.mktemp("donations"))


def report_on(path: Path, candidate: str) -> Report:
    with connect(path) as connection:
        request = Request(candidate, "base", shown=frozenset())
        return build_report(connection, request, Settings())


def test_other_inputs_hide_no_lost_donation(steps: Path) -> None:
    """Weights of 4 MiB and moments of 2 MiB could still be donated."""
    report = report_on(steps, "narrow")
    assert (report.verdict, report.exit_code) == ("fail", 1)
    assert report.headline == (
        "❌ 1 gate failed: jit_step CPU memory: 6.00 MiB of outputs no longer take over"
        " the memory of arguments (limit 1.00 MiB); memory grew by 1.75 MiB; 1 with"
        " other inputs"
    )
    first, advice, *_ = [b.text for b in brief(report) if isinstance(b, Paragraph)]
    assert first.startswith("Why")
    assert "no longer donated" in first
    assert advice.startswith("To undo: Donate them again: ")


@pytest.mark.parametrize("candidate", ["narrow_donated", "widened"])
def test_what_no_argument_can_hold_is_no_lost_donation(
    steps: Path, candidate: str
) -> None:
    report = report_on(steps, candidate)
    gates = {g.gate: (g.status, g.value) for g in report.gates}
    assert gates["donation_loss"] == ("pass", 0)


def test_a_lost_donation_needs_a_decision(
    steps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["report", "--db", str(steps), "--run", "narrow", "--baseline", "base"]
    assert main(asked) == 1
    capsys.readouterr()
    assert main(["triage", "--db", str(steps), "--format", "json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["status"], finding["change"]) == ("open", "changed")
    decide = ["accept", "--db", str(steps), "--reason", "read again afterwards"]
    assert main(["triage", finding["finding_id"], *decide]) == 0
    assert main(asked) == 0

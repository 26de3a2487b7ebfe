"""The compact form: short, whole rows, exact figures, and what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hlodb.reports.judge.report import Report
from hlodb.reports.render.compact import MOST_CHARACTERS, compared, fitting
from hlodb.reports.render.forms import renderer
from tests.gold_reports import IN_EVERY_FORM
from tests.reports.situations import SITUATIONS

Reported = Callable[[str], Report]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in IN_EVERY_FORM else pytest.mark.slow)
        for name in SITUATIONS
    ],
)
def test_every_situation_is_short(reported: Reported, name: str) -> None:
    report = reported(name)
    text = renderer("compact")(report)
    assert len(text) <= MOST_CHARACTERS + 1
    found = json.loads(text)
    assert found["verdict"] == report.verdict
    assert found["counts"] == report.counts
    shown = {(f["program"], f["space_name"]) for f in found["findings"]}
    assert len(shown) <= len(report.findings)
    gating = any(row.is_gating for row in report.quality)
    assert found["status"] == ("unknown" if gating else "sound")


def test_figures_are_those_of_the_report(reported: Reported) -> None:
    report = reported("one_regression")
    found = compared(report)
    [finding, *_] = report.findings
    [shown, *_] = found["findings"]
    for name in ("program", "base_bytes", "candidate_bytes", "delta_bytes", "change"):
        assert shown[name] == getattr(finding, name)
    parts = [[p.part, p.kind, p.delta_bytes] for p in finding.parts]
    assert shown["parts"]["rows"] == parts
    assert sum(part.delta_bytes for part in finding.parts) == finding.delta_bytes
    assert found["left_out"] == []


def test_what_has_no_room_is_counted() -> None:
    rows = [{"name": "x" * 50} for _ in range(100)]

    def make(room: Any) -> dict[str, Any]:
        shown = rows[: room.rows]
        return {"rows": shown, "left_out": len(rows) - len(shown)}

    found = fitting(make, 200)
    assert found == {"rows": rows[:2], "left_out": 98}

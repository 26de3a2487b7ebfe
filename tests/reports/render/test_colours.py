"""What colours say: memory that grew is never green."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hlodb.reports.document.blocks import sparkline
from hlodb.reports.judge.report import Report
from hlodb.reports.render.text import render_coloured

RED, GREEN, PLAIN = "\x1b[1m\x1b[31m", "\x1b[1m\x1b[32m", "\x1b[1m"


@pytest.mark.parametrize(
    ("name", "kind", "begins"),
    [
        ("one_regression", "report", f"{RED}❌"),
        ("no_change", "report", f"{GREEN}✅"),
        ("one_regression", "diff", RED),
        ("mixed", "diff", RED),
        ("improvement_only", "diff", PLAIN),
    ],
)
def test_headlines(
    reported: Callable[[str], Report], name: str, kind: str, begins: str
) -> None:
    """A diff passes no gate: its headline is red or plain."""
    report = reported(name)
    verdict = report.verdict if kind == "report" else "pass"
    text = render_coloured(replace(report, kind=kind, verdict=verdict))
    assert text.startswith(begins)
    assert (GREEN in text) == (begins.startswith(GREEN))


def test_what_hardly_moves_is_flat() -> None:
    gib = 1 << 30
    assert sparkline([gib, gib + 26, gib]) == "▁▁▁"
    assert sparkline([gib, gib + (gib >> 6), gib]) == "▁█▁"
    assert sparkline([0, 0]) == "▁▁"

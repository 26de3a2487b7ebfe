"""The card of a finding: what its program needs now, and what did not change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.reports.situations import MIB, STEP, WORK, night
from tests.reports.worlds import make


@pytest.mark.slow
def test_a_live_peak_that_stays_is_no_difference(tmp_path: Path) -> None:
    moved = replace(STEP, buffers=(replace(WORK, offset=2 * MIB),), text="moved")
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, moved))
    with connect(path) as connection:
        text = renderer("text")(build_report(connection, Request(), Settings()))
    said = "4.00 MiB → 6.00 MiB reserved, live peak unchanged; since run"
    assert f'{said} "night-2"' in text

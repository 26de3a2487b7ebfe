"""Curves are what the warehouse holds of schedules, cut without losing the peak."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.drawn import MOST_DRAWN
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.drawn.curves import POINTS, Schedule
from hlodb.schema.warehouse import connect
from tests.reports.situations import EXTRA, STEP, WORK, night
from tests.reports.worlds import make

EVERYTHING = Settings(floor_bytes=0, floor_ratio=0.0)


@pytest.mark.slow
def test_curves_of_real_dumps_keep_peak_and_schedule(
    diffs: list[Report], demo_warehouse: Path
) -> None:
    """Compared with a query on the same schedules, step by step."""
    checked = 0
    with connect(demo_warehouse, read_only=True) as connection:
        for report in diffs:
            assert 0 < len(report.curves) <= MOST_DRAWN
            findings = {f.id: f for f in report.findings}
            for curve in report.curves:
                f, steps = findings[curve.finding_id], curve.steps
                base, name = f.base_run or "", f.base_program or f.program
                known = schedules(connection, base, name, f.color, steps)
                assert curve.base in known
                known = schedules(
                    connection, f.candidate_run, f.program, f.color, steps
                )
                assert curve.candidate in known
                checked += 1
    assert checked > 10


def schedules(
    connection: duckdb.DuckDBPyConnection,
    run: str,
    program: str,
    color: int,
    steps: int,
) -> list[Schedule]:
    """Return schedules of all modules of a name, from their levels at each step."""
    asked: dict[str, Value] = {"run": run, "program": program, "color": color}
    answer = run_query(connection, "live_timeline", asked, load_catalogue())
    modules: dict[int, list[int]] = defaultdict(list)
    for row in answer.dicts():
        modules[row["module_number"]] += [row["live_bytes"]] * (
            row["to_step"] - row["from_step"] + 1
        )
    found = []
    for every in modules.values():
        points = [max(every[i : i + steps]) for i in range(0, len(every), steps)]
        assert len(points) <= POINTS
        found.append(Schedule(points, max(every), every.index(max(every))))
    return found


@pytest.mark.slow
def test_a_pruned_run_has_no_curve(tmp_path: Path) -> None:
    grown = replace(STEP, buffers=(WORK, EXTRA))
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, grown))
    with connect(path, read_only=False) as connection:
        connection.execute("DELETE FROM memory_timeline")
        report = build_report(connection, Request(), Settings())
    assert [f.change for f in report.findings] == ["worse"]
    assert report.curves == []

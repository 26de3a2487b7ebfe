"""Nine XLA releases as one series: every step of the printed totals, and its cause."""

from __future__ import annotations

import shutil
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect

RENAMED = {
    "jit__unnamed_wrapped_function": "jit_gpt_step",
    "jit_convert_element_type": "jit_stage",
}
STEP = 0.01


@pytest.fixture(scope="module")
def series(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("series") / "series.duckdb"
    shutil.copy(demo_warehouse, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE runs SET series = 'releases' WHERE platform = 'cpu'")
    return path


@pytest.fixture(scope="module")
def report(series: Path) -> Report:
    with connect(series) as connection:
        return build_report(connection, Request(series="releases"), Settings())


def printed_steps(path: Path) -> set[tuple[str, str, int]]:
    """(program, run, difference) of XLA's own totals, read without any of our code."""
    totals: dict[str, list[tuple[str, int]]] = defaultdict(list)
    with connect(path) as connection:
        for program, run, total in connection.execute(
            "SELECT m.program, r.name, m.printed_total_bytes"
            " FROM modules AS m JOIN runs AS r USING (run_id)"
            " WHERE m.has_assignment AND r.series = 'releases' ORDER BY r.run_id"
        ).fetchall():
            totals[RENAMED.get(program, program)].append((run, total))
    return {
        (program, run, total - before)
        for program, points in totals.items()
        for (_, before), (run, total) in pairwise(points)
        if abs(total - before) >= STEP * before
    }


@pytest.mark.slow
def test_every_step_of_the_printed_totals_is_found_and_no_other(
    series: Path, report: Report
) -> None:
    found = {
        (RENAMED.get(f.program, f.program), f.candidate_run, f.delta_bytes or 0)
        for f in report.findings
    }
    expected = printed_steps(series)
    assert len(expected) == 21
    assert found == expected


@pytest.mark.slow
def test_what_the_task_knows_of_the_releases(report: Report) -> None:
    ups = defaultdict(set)
    for f in report.findings:
        sign = "up" if (f.delta_bytes or 0) > 0 else "down"
        ups[f.program, sign].add(f.candidate_run.removeprefix("jaxlib-"))
    assert ups["jit_cnn", "up"] == {"0.5.3"}
    assert ups["jit_gpt_unrolled", "up"] == {"0.4.30", "0.6.2", "0.10.2"}
    assert ups["jit_gpt_unrolled", "down"] == {"0.4.35", "0.5.3"}


@pytest.mark.slow
def test_every_step_has_a_named_cause_and_closes(report: Report) -> None:
    for f in report.findings:
        assert f.cause is not None
        assert f.cause.title
        assert f.residual_bytes == 0
        assert sum(part.delta_bytes for part in f.parts) == f.delta_bytes
        assert f.divergence is not None


@pytest.mark.slow
def test_the_greatest_step_is_explained(report: Report) -> None:
    (cnn,) = [f for f in report.findings if f.program == "jit_cnn"]
    assert cnn.cause is not None
    assert cnn.cause.title == (
        "11 buffers of iota, broadcast now live at the peak"
        " (+9.50 MiB, others -2.07 MiB, net +7.43 MiB)"
    )
    assert cnn.cause.key == "scheduler/lifetime/iota"


@pytest.mark.slow
def test_programs_are_followed_under_other_names(report: Report) -> None:
    trends = {t.program: [p.run for p in t.points] for t in report.trends}
    assert {name: len(runs) for name, runs in trends.items()} == {
        "jit__lambda": 9,
        "jit__threefry_seed": 9,
        "jit_cg": 9,
        "jit_cnn": 9,
        "jit_gpt_scan_remat": 9,
        "jit_gpt_step": 9,
        "jit_gpt_unrolled": 9,
        "jit_misc": 9,
        "jit_mlp_step": 9,
        "jit_ring": 9,
        "jit_stage": 8,
    }


@pytest.mark.slow
def test_the_candidate_is_held_against_the_run_before(report: Report) -> None:
    worse = [f.program for f in report.findings if f.scope == "candidate"]
    assert report.comparison.base is not None
    assert report.comparison.base.name == "jaxlib-0.9.2"
    assert (worse, report.exit_code) == (["jit_gpt_unrolled"], 1)


BUDGET = '[[budget]]\nprogram = "jit_cnn"\nspace = "host"\nbytes = "20 MiB"\n'
WAIVER = """
[[waiver]]
program = "jit_*"
owner = "somebody"
reason = "known"
until = 2030-01-01
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ("[gates]\nregression = false\n", 0),
        ("[gates]\nregression = false\n" + BUDGET, 1),
        ("[gates]\nregression = false\n" + BUDGET + WAIVER, 0),
        (BUDGET + WAIVER, 0),
        ("[floors]\nbytes = 0\nratio = 0.01\n", 1),
    ],
)
def test_budgets_and_waivers_decide_the_exit_code(
    series: Path, settings: str, code: int
) -> None:
    with connect(series) as connection:
        request = Request(series="releases")
        found = build_report(connection, request, parse_settings(settings))
    assert found.exit_code == code


@pytest.mark.slow
def test_the_window_takes_the_best_of_each_program(series: Path) -> None:
    with connect(series) as connection:
        request = Request(series="releases", baseline="window")
        found = build_report(
            connection, request, parse_settings("[report]\nwindow=8\n")
        )
    bases = {f.program: f.base_run for f in found.findings if f.scope == "candidate"}
    assert bases == {
        "jit__lambda": "jaxlib-0.4.30",
        "jit_cnn": "jaxlib-0.4.13",
        "jit_gpt_unrolled": "jaxlib-0.5.3",
    }


@pytest.mark.slow
def test_the_same_warehouse_gives_the_same_report(series: Path, report: Report) -> None:
    with connect(series) as connection:
        again = build_report(connection, Request(series="releases"), Settings())
    assert again == report

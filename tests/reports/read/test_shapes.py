"""What a report says of programs whose shapes change from night to night."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.reports.read.test_nights import sized
from tests.reports.situations import night
from tests.reports.worlds import Program, World, make

WINDOW_OF_TWO = "[report]\nwindow = 2\n"

NOT_COMPARABLE = (
    'compared with run "night-{}", because run "night-{}" is not comparable'
)


def wide(mebibytes: int) -> Program:
    """Return the program of `sized` with other shapes."""
    shapes = "(f32[16]{0})->f32[16]{0}"
    return sized(mebibytes, shapes=shapes, source="wide", text=f"wide {mebibytes}")


def nights(*programs: Program) -> list[World]:
    return [night(number, program) for number, program in enumerate(programs, 1)]


def report_on(path: Path, *programs: Program, settings: str = "") -> Report:
    """Return the report on the last of some nights, each of one program."""
    path.unlink(missing_ok=True)
    with connect(make(path, *nights(*programs))) as connection:
        return build_report(connection, Request(), parse_settings(settings))


def told(report: Report) -> list[tuple[str, str, str | None, bool]]:
    return [(f.scope, f.change, f.first_run, f.stands) for f in report.findings]


@pytest.mark.slow
def test_a_night_with_other_shapes_hides_no_rise(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    around = [sized(4), wide(5), sized(8)]
    report = report_on(path, *around)
    (finding,) = report.findings
    assert (finding.change, finding.base_run, report.exit_code) == (
        "worse",
        "night-1",
        1,
    )
    which = NOT_COMPARABLE.format(1, 2)
    assert finding.tags == [which]
    assert report.notes[1:] == [f"jit_step: {which}."]
    assert report.comparison.comparable == 1
    (trend,) = report.trends
    assert [p.mark for p in trend.points] == ["", "x", "▲"]
    after = report_on(path, *around, sized(8))
    assert told(after) == [("history", "worse", "night-3", True)]
    assert after.findings[0].id == finding.id


@pytest.mark.slow
def test_what_is_as_before_other_shapes_is_the_same(tmp_path: Path) -> None:
    """The notes say which run it was compared with, as no finding does."""
    report = report_on(tmp_path / "hlodb.duckdb", sized(4), wide(5), sized(4))
    assert [(p.change, p.rule) for p in report.programs] == [
        ("same", "identical_artefact")
    ]
    which = NOT_COMPARABLE.format(1, 2)
    assert (report.findings, report.notes[1:]) == ([], [f"jit_step: {which}."])


@pytest.mark.slow
def test_a_window_of_other_shapes_hides_no_rise(tmp_path: Path) -> None:
    around = [sized(4), wide(6), wide(6), sized(5)]
    settings = WINDOW_OF_TWO + "baseline = 'window'\n"
    (finding,) = report_on(
        tmp_path / "hlodb.duckdb", *around, settings=settings
    ).findings
    assert (finding.change, finding.base_run, finding.tags) == (
        "worse",
        "night-1",
        [NOT_COMPARABLE.format(1, 3)],
    )


@pytest.mark.slow
def test_a_rise_is_open_until_memory_is_back_whatever_the_shapes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hlodb.duckdb"
    risen = [sized(4), sized(8), wide(16)]
    rise = ("history", "worse", "night-2")
    assert told(report_on(path, *risen)) == [
        ("candidate", "changed", "night-3", False),
        (*rise, True),
    ]
    # It needed 4 MiB before the rise, and 8 MiB since.
    low = [(*rise, left > 6) for left in (6, 7)]
    assert [told(report_on(path, *risen[:2], wide(n)))[1] for n in (6, 7)] == low
    assert told(report_on(path, *risen, sized(8))) == [(*rise, True)]
    fixed = report_on(path, *risen[:2], wide(1), sized(4))
    assert told(fixed) == [
        ("candidate", "fixed", "night-4", False),
        (*rise, False),
    ]
    assert [f.state for f in fixed.findings] == ["fixed", "undone"]


@pytest.mark.slow
def test_a_rise_begins_where_its_shapes_have_it(tmp_path: Path) -> None:
    """What other shapes hold is on no side of it."""
    path = tmp_path / "hlodb.duckdb"
    programs = [sized(4), sized(4), wide(9), sized(8), wide(1), sized(9)]
    commits = [
        replace(each, commit=f"c{number}")
        for number, each in enumerate(nights(*programs), 1)
    ]
    with connect(make(path, *commits)) as connection:
        request = Request(baseline="night-1")
        finding, *_ = build_report(connection, request, Settings()).findings
    assert (finding.first_run, finding.commands[-1]) == (
        "night-4",
        "git rev-list --bisect 'c6^@' '^c1'",
    )


@pytest.mark.parametrize(
    ("compilers", "command"),
    [
        ("aa", "git rev-list --bisect 'c2^@' '^c1'"),
        ("ab", "hlodb query environment_diff -p base=night-1 -p candidate=night-2"),
    ],
)
def test_no_commit_is_searched_for_what_a_release_did(
    tmp_path: Path, compilers: str, command: str
) -> None:
    """XLA was given the same program on both nights."""
    worlds = [
        replace(each, commit=f"c{number}", compiler=compiler)
        for number, (each, compiler) in enumerate(
            zip(nights(sized(4), sized(9)), compilers, strict=True), 1
        )
    ]
    with connect(make(tmp_path / "hlodb.duckdb", *worlds)) as connection:
        finding, *_ = build_report(connection, Request(), Settings()).findings
    assert finding.commands[-1] == command


@pytest.mark.slow
def test_the_shapes_of_now_begin_where_others_end(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    programs = [wide(9), sized(4), wide(1), wide(9), wide(9)]
    with connect(make(path, *nights(*programs))) as connection:
        request = Request("night-5", "night-2", kind="diff")
        (finding,) = build_report(connection, request, Settings()).findings
    assert (finding.change, finding.first_run) == ("changed", "night-3")


@pytest.mark.slow
def test_what_undoes_no_rise_is_not_fixed(tmp_path: Path) -> None:
    """Nor what undoes one below the floors, or one that was undone before."""
    path = tmp_path / "hlodb.duckdb"
    for programs in (
        [sized(200), wide(300), sized(201), sized(150)],
        [sized(8), wide(4), wide(8), sized(8), sized(6)],
        [sized(4), sized(8), sized(4), sized(2)],
    ):
        found = report_on(path, *programs, settings="[floors]\nratio = 0.01").findings
        changes = [f.change for f in found if f.scope == "candidate"]
        assert changes == ["improved"]
    twice = report_on(path, *map(sized, (2, 4, 8, 4, 2))).findings
    assert [f.change for f in twice if f.scope == "candidate"] == ["fixed"]

"""Since which run a difference stands, and between which commits to search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.reports.build import build_diff, build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.text import render
from hlodb.schema.warehouse import connect
from tests.reports.read.test_nights import sized
from tests.reports.situations import night
from tests.reports.worlds import World, make

NIGHTS = [
    replace(night(number, sized(size)), commit=f"c{number}")
    for number, size in enumerate((4, 4, 8, 8), 1)
]
TRIES = [
    replace(night(5, sized(8)), series="try-5", commit="c5"),
    replace(night(6, sized(9)), series="try-6", commit="c6"),
]


def report_on(path: Path, *worlds: World, **request: str) -> Report:
    with connect(make(path, *worlds)) as connection:
        return build_report(connection, Request(**request), Settings())  # type: ignore[arg-type]


def searched(report: Report) -> list[tuple[str | None, str]]:
    """Return the first run and the last command of the candidate's findings."""
    mine = [f for f in report.findings if f.scope == "candidate"]
    return [(f.first_run, f.commands[-1]) for f in mine]


@pytest.mark.parametrize(
    ("base", "candidate", "first_run", "commits"),
    [
        ("night-1", "night-4", "night-3", "'c4^@' '^c1'"),
        # Runs of other series are not between the two that were named.
        ("night-1", "night-6", "night-6", "'c6^@' '^c1'"),
        ("night-5", "night-1", "night-1", "'c1^@' '^c5'"),
    ],
)
def test_a_diff_searches_between_the_runs_it_names(
    tmp_path: Path, base: str, candidate: str, first_run: str, commits: str
) -> None:
    path = make(tmp_path / "hlodb.duckdb", *NIGHTS, *TRIES)
    with connect(path) as connection:
        report = build_diff(connection, base, candidate, Settings(), top=20)
    assert searched(report) == [(first_run, f"git rev-list --bisect {commits}")]


def test_a_report_searches_since_the_base_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "hlodb.duckdb"
    named = report_on(path, *NIGHTS, baseline="night-1")
    assert searched(named) == [("night-3", "git rev-list --bisect 'c4^@' '^c1'")]
    path.unlink()
    chosen = report_on(path, *NIGHTS[:3])
    assert searched(chosen) == [("night-3", "git rev-list --bisect 'c3^@' '^c2'")]


@pytest.mark.parametrize(("series", "since"), [(None, None), ("nightly", "night-3")])
def test_runs_without_a_series_are_no_nights_beside_a_named_base(
    tmp_path: Path, series: str | None, since: str | None
) -> None:
    """Each may be an edit of its own that needs as much."""
    runs = [replace(each, series=series) for each in NIGHTS]
    report = report_on(tmp_path / "hlodb.duckdb", *runs, baseline="night-1")
    (finding,) = (f for f in report.findings if f.scope == "candidate")
    assert (finding.change, finding.since_run) == ("worse", since)


def test_the_first_run_of_a_series_has_no_history(tmp_path: Path) -> None:
    """It is compared with a run of another, whose rises are not its own."""
    report = report_on(tmp_path / "hlodb.duckdb", *NIGHTS, *TRIES)
    assert searched(report) == [("night-6", "git rev-list --bisect 'c6^@' '^c5'")]
    assert [f.scope for f in report.findings] == ["candidate"]
    assert report.comparison.series_runs == ["night-6"]
    text = " ".join(render(report).split())
    assert (
        'Series "try-6": its history has 1 comparable run, the candidate included.'
        in text
    )


def test_the_brief_says_what_to_do_with_the_commit(tmp_path: Path) -> None:
    report = report_on(tmp_path / "hlodb.duckdb", *NIGHTS[:3])
    texts = [text for block in brief(report) for text in block]
    at = texts.index("Build and dump the commit that this prints, if one lies between:")
    assert texts[at + 1] == ("git rev-list --bisect 'c3^@' '^c2'",)

"""Every situation against gold/, which `make gold` renews."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hlodb.reports.judge.report import Report
from hlodb.reports.render.forms import renderer
from hlodb.reports.render.markdown import COMMENT_BYTES, SUMMARY_BYTES
from hlodb.reports.render.sarif import MOST_RESULTS
from hlodb.reports.render.slack import MOST_ROWS, SECTION_CHARACTERS
from tests.gold_reports import EXTENSIONS, FOLDER, gold_files, kept
from tests.reports.pages import MOST_BYTES
from tests.reports.situations import EACH, FURTHER, LARGE

Reported = Callable[[str], Report]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=pytest.mark.slow if name in FURTHER else ())
        for name, form in gold_files().values()
    ],
)
def test_situation(reported: Reported, name: str, form: str) -> None:
    path = FOLDER / name / f"{form}.{EXTENSIONS[form]}"
    assert path.read_bytes().decode() == kept(reported(name), form)


def test_nothing_else_is_kept() -> None:
    assert {p for p in FOLDER.rglob("*") if p.is_file()} == gold_files().keys()


EXIT_CODES = {
    "no_change": 0,
    "one_regression": 1,
    "improvement_only": 0,
    "mixed": 1,
    "all_waived": 0,
    "waiver_expired": 1,
    "no_baseline": 0,
    "changed_inputs": 0,
    "other_device": 4,
    "missing_program": 1,
    "new_program": 0,
    "recovered_program": 0,
    "back_and_worse": 1,
    "fixed": 0,
    "still_there": 0,
    "still_missing": 0,
    "renamed_program": 1,
    "rejects": 3,
    "unsound_night": 0,
    "consistency_failure": 3,
    "noise_inside": 0,
    "noise_outside": 1,
    "zero_modules": 1,
    "budget_failed": 1,
    "budget_waived": 0,
    "two_spaces": 1,
    "hostile_names": 1,
    "huge_bytes": 1,
    "ties": 1,
}


@pytest.mark.parametrize("name", EACH)
def test_exit_codes(reported: Reported, name: str) -> None:
    assert reported(name).exit_code == EXIT_CODES[name]


def test_bytes_beyond_what_a_double_holds_stay_exact(reported: Reported) -> None:
    (finding,) = reported("huge_bytes").findings
    assert (finding.base_bytes, finding.candidate_bytes) == (
        2**53 + 1,
        2**53 + 3 + 2**20,
    )
    assert f'"base_bytes": {2**53 + 1},' in renderer("json")(reported("huge_bytes"))


@pytest.mark.slow
def test_a_large_report_keeps_the_limits_of_where_it_goes(reported: Reported) -> None:
    """Here, where all else is that needs it: it takes long to make."""
    report = reported(LARGE)
    assert report.exit_code == 1
    assert len(renderer("summary")(report).encode()) <= SUMMARY_BYTES
    assert len(renderer("comment")(report).encode()) <= COMMENT_BYTES < 65_536
    log = json.loads(renderer("sarif")(report))
    assert len(log["runs"][0]["results"]) == MOST_RESULTS
    told = json.loads(renderer("slack")(report))["blocks"][2]["text"]["text"]
    assert len(told) <= SECTION_CHARACTERS
    assert len(told.split("\n")) == MOST_ROWS + 1
    annotations = renderer("github")(report).splitlines()
    assert sum(line.startswith("::error") for line in annotations) == 11
    assert len(renderer("html")(report).encode()) <= MOST_BYTES

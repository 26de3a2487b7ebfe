"""Every situation in every form against gold/, which `make gold` renews."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hlodb.reports.model import Report
from hlodb.reports.render import FORMATS, renderer
from tests.gold_reports import FOLDER, kept
from tests.reports.situations import SITUATIONS

Reported = Callable[[str], Report]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(reported: Reported, name: str, form: str) -> None:
    path = FOLDER / name / f"{form}.txt"
    assert path.read_bytes().decode() == kept(reported(name), form)


def test_nothing_else_is_kept() -> None:
    found = {p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.txt")}
    assert found == {f"{name}/{form}.txt" for name in SITUATIONS for form in FORMATS}


EXIT_CODES = {
    "no_change": 0,
    "one_regression": 1,
    "improvement_only": 0,
    "mixed": 1,
    "all_waived": 0,
    "waiver_expired": 1,
    "no_baseline": 4,
    "not_comparable": 4,
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
    "zero_modules": 4,
    "budget_failed": 1,
    "budget_waived": 0,
    "two_spaces": 1,
    "hostile_names": 1,
    "huge_bytes": 1,
    "ties": 1,
    "ten_thousand_programs": 1,
}


def test_exit_codes(reported: Reported) -> None:
    assert {name: reported(name).exit_code for name in SITUATIONS} == EXIT_CODES


def test_bytes_beyond_what_a_double_holds_stay_exact(reported: Reported) -> None:
    (finding,) = reported("huge_bytes").findings
    assert (finding.base_bytes, finding.candidate_bytes) == (
        2**53 + 1,
        2**53 + 3 + 2**20,
    )
    assert f'"base_bytes": {2**53 + 1},' in renderer("json")(reported("huge_bytes"))

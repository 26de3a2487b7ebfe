"""The page has the figures of all long runs; no run did harm; no figure is stale."""

from __future__ import annotations

import re

import pytest

from docs.measured import PAGE, read_figures, with_table
from tests.conftest import REPOSITORY
from tests.fuzz import record as fuzzing
from tests.fuzz.targets import TARGETS
from tests.reliability import measured_code
from tests.reliability import record as torture
from tests.reliability.torture import PARTS

HOUR_SECONDS = 3600


def test_the_page_has_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for run in (torture, fuzzing):
        assert with_table(page, run.NAME, run.table()) == page


def test_torture_did_no_harm() -> None:
    figures = read_figures(torture.NAME)
    assert figures.keys() == PARTS.keys()
    assert {name: row["faulty"] for name, row in figures.items()} == dict.fromkeys(
        PARTS, 0
    )
    killed = sum(row["tried"] for name, row in figures.items() if "kills" in name)
    assert killed >= 200
    assert (figures["writers"]["tried"], figures["staged"]["tried"]) == (200, 200)


@pytest.mark.slow
def test_the_figures_are_of_the_code_that_locks() -> None:
    """Before a release `make torture` runs again: `make test` has the short forms.

    Until then the page names the files that changed since, as another test compares.
    """
    figures = read_figures(torture.NAME)
    changed = {
        name: measured_code.newer(measured_code.locking(), row["code"])
        for name, row in figures.items()
    }
    assert changed == {name: [] for name in PARTS}


def test_a_release_has_figures_of_all_code_that_writes() -> None:
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    [version, *_] = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert version == "Unreleased" or torture.newer_code() == []


def test_what_counts_is_code() -> None:
    text = (
        '''"""A module."""\n\nimport os\n\n# Why.\ndef f():\n    """Do."""\n    g()\n'''
    )
    assert measured_code.code_of(text) == "def f():\n    g()"
    assert len(measured_code.locking()) > 5
    assert len(measured_code.writing()) > 2


def test_every_target_was_fuzzed_both_ways_for_an_hour_in_all() -> None:
    figures = read_figures(fuzzing.NAME)
    assert figures.keys() == TARGETS.keys()
    assert {(*forms,) for forms in figures.values()} == {("mutated", "led")}
    forms = [form for target in figures.values() for form in target.values()]
    assert sum(form["seconds"] for form in forms) >= HOUR_SECONDS
    assert sum(form["findings"] for form in forms) == 0

"""The page says what the long runs came to, all of them, and they came to no harm."""

from __future__ import annotations

from docs.measured import PAGE, read_figures, with_table
from tests.fuzz import record as fuzzing
from tests.fuzz.targets import TARGETS
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


def test_every_target_was_fuzzed_both_ways_for_an_hour_in_all() -> None:
    figures = read_figures(fuzzing.NAME)
    assert figures.keys() == TARGETS.keys()
    assert {(*forms,) for forms in figures.values()} == {("mutated", "led")}
    forms = [form for target in figures.values() for form in target.values()]
    assert sum(form["seconds"] for form in forms) >= HOUR_SECONDS
    assert sum(form["findings"] for form in forms) == 0

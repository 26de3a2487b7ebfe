"""What is advised, against the first edits that an expert makes."""

from __future__ import annotations

import pytest

from bench.advice import (
    CLOSE,
    DATA,
    NEAR,
    PAGE,
    SCREEN,
    Outcome,
    outcome,
    table,
    truths,
)

HELD = [one for one in truths() if (DATA / f"{one.program}.base.tar.xz").exists()]
MISSED = {
    "e3nn_forces", "flowjax_training", "gymnax_pixels", "jaxlie_bundle",
    "lineax_band", "mctx_search", "rlax_targets", "routed_experts",
    "stream_window", "tfp_variational", "unrolled_pairs",
}  # fmt: skip
"""Programs whose edit no rule suggests yet, or not first."""


@pytest.fixture(scope="module")
def found() -> list[Outcome]:
    return [made for one in HELD if (made := outcome(one, DATA))]


@pytest.mark.slow
def test_the_edit_of_an_expert_comes_first(found: list[Outcome]) -> None:
    places = {o.truth.program: o.place for o in found if not o.truth.is_tuned}
    assert len(places) == 99
    assert {name for name, place in places.items() if place != 1} == MISSED
    assert places["unrolled_pairs"] == 2 <= SCREEN
    assert {name for name, place in places.items() if not place} == (
        MISSED - {"unrolled_pairs"}
    )


@pytest.mark.slow
def test_nothing_is_advised_where_nothing_pays_or_that_cannot_be_done(
    found: list[Outcome],
) -> None:
    tuned = [o for o in found if o.truth.is_tuned]
    assert len(tuned) == 34
    assert [o.truth.program for o in tuned if not o.is_quiet] == []
    shown = [o for o in found if o.impossible and not o.is_quiet]
    assert [o.truth.program for o in shown] == []


@pytest.mark.slow
def test_most_promises_hold(found: list[Outcome]) -> None:
    promised = [o for o in found if o.promised and o.measured]
    assert len(promised) == 89
    assert sum(o.is_within(CLOSE) for o in promised) == 78
    assert all(o.is_within(NEAR) for o in promised)


@pytest.mark.slow
def test_the_page_has_these_figures(found: list[Outcome]) -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    rows = table(found).splitlines()[2 : 2 + len(found)]
    assert [row for row in rows if row not in page] == []

"""The page on remedies shows what replay measured, and counts it right."""

from __future__ import annotations

import pytest

from bench.replayed import NAME, PAGE, holds, is_kept, table
from docs.measured import with_table


def test_the_page_shows_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page, NAME, table()) == page


@pytest.mark.parametrize(
    ("promised", "measured", "expected"),
    [
        ([100, 0], [75, 0], (True, True)),
        ([100, 100], [74, 80], (True, True)),
        ([100, 100], [10, 10], (False, True)),
        ([100, 100], [-5, 1], (False, True)),
        ([100, 100], [0, -5], (False, False)),
    ],
)
def test_a_remedy_holds_where_it_saves_most_of_what_it_promises(
    promised: list[int], measured: list[int], expected: tuple[bool, bool]
) -> None:
    row = {"promised": promised, "measured": measured}
    assert (holds(row), is_kept(row)) == expected

"""The page on replay shows the figures that `make replay` left."""

from __future__ import annotations

from docs.measured import with_table
from tests.replay.measure import PAGE, tables


def test_the_page_shows_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    renewed = page
    for name, table in tables().items():
        renewed = with_table(renewed, name, table)
    assert renewed == page

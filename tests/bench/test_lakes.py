"""The reference has the figures of lakes that are kept."""

from __future__ import annotations

import json

from bench.lakes import NAME, PAGE, RESULTS, table
from docs.measured import with_table


def test_the_page_has_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page, NAME, table(json.loads(RESULTS.read_text()))) == page

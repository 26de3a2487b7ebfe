"""Puts the figures of `python -m bench` into bench/performance.md.

python -m bench.page
"""

from __future__ import annotations

import json
from pathlib import Path

from bench.tables import tables
from docs.measured import renew_page

RESULTS = Path(__file__).parent / "results" / "ingest.json"
PAGE = Path(__file__).parent / "performance.md"
NAME = "ingest"


def table() -> str:
    """Return the tables of the figures that are kept."""
    return tables(json.loads(RESULTS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    renew_page(PAGE, NAME, table())

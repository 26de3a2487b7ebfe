"""Figures that long runs leave behind, and the pages that show them.

A run writes docs/figures/NAME.json. A page holds the table made of it between
`<!-- NAME -->` and `<!-- /NAME -->`; a test compares the two.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parent
FOLDER = _DOCS / "figures"
PAGE = _DOCS / "reliability.md"
"""Shows what torture and fuzzing came to."""


def read_figures(name: str) -> dict[str, Any]:
    """Return the figures of that name; none, if nothing was measured yet."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return {}
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return figures


def write_figures(name: str, figures: dict[str, Any]) -> None:
    """Write figures where `read_figures` finds them."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def with_table(page: str, name: str, table: str) -> str:
    """Return a page with the table of that name renewed."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    between = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
    renewed, count = between.subn(lambda _: f"{table}\n", page)
    if count != 1:
        raise ValueError(f"the page has {count} places for the table {name}")
    return renewed


def renew_page(path: Path, name: str, table: str) -> None:
    """Renew the table of that name in the page at `path`."""
    page = path.read_text(encoding="utf-8")
    path.write_text(with_table(page, name, table), encoding="utf-8")

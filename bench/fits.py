"""Compares the sizes that `hlodb fit` answers with those that really fit.

tests/data/fits/programs.py has the programs, written with the sizes to compile before
hlodb fitted any; NAME.json the limit and the largest size, as compiled, and what
`hlodb.largest_size` found by compiling, see make_dumps.py. `python -m bench.fits`
renews the table in docs/reference/fits.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.measured import renew_page
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from hlodb.text import plain_bytes, signed_percent

DATA = Path(__file__).parent.parent / "tests" / "data" / "fits"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "fits.md"
NAME = "fits"
CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class Fit:
    """The sizes that a series answers within a limit, and the largest that fits.

    `searched` is what `hlodb.largest_size` found, after it compiled `search_count`
    sizes beside those of `compiled`.
    """

    series: str
    compiled: Sequence[int]
    limit_bytes: int
    true_size: int
    lower_size: int | None
    largest_size: int | None
    upper_size: int | None
    searched: int
    search_count: int

    @property
    def error_ratio(self) -> float:
        """Return how far largest_size is from the true one."""
        return (self.largest_size or 0) / self.true_size - 1

    @property
    def search_ratio(self) -> float:
        """Return how far the size found by compiling is from the true one."""
        return self.searched / self.true_size - 1

    @property
    def is_safe(self) -> bool:
        """Whether lower_size compiles within the limit."""
        return self.lower_size is not None and self.lower_size <= self.true_size


def fits(folder: Path) -> list[Fit]:
    """Return the answers for all series of a folder."""
    return [fitted(file) for file in sorted(folder.glob("*.json"))]


def fitted(truth: Path) -> Fit:
    """Return the answer for one series."""
    known = json.loads(truth.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "w.duckdb"
        ingest([str(truth.with_suffix(".tar.xz"))], file, jobs=1)
        with connect(file) as connection:
            asked = {"limit_bytes": known["limit"], "color": 0}
            row, *_ = run_query(connection, "largest_fit", asked).dicts()
    needs = sorted(map(int, known["needs"]))
    searched = known["searched"]
    return Fit(
        truth.stem,
        [size for size in needs if size <= row["max_size"]],
        known["limit"],
        known["largest"],
        row["lower_size"],
        row["largest_size"],
        row["upper_size"],
        searched["fits"],
        searched["compiled"],
    )


def table(found: Sequence[Fit]) -> str:
    """Return answers and true sizes as Markdown, and how many hold."""
    rows = [
        "| series | compiled | limit | fits | lower_size | largest_size | upper_size"
        " | off | searched | off | more compiled |"
    ]
    rows.append("|---|---|" + "--:|" * 9)
    rows += [
        f"| {one.series} | {', '.join(f'{size:,}' for size in one.compiled)}"
        f" | {plain_bytes(one.limit_bytes)} | {one.true_size:,} | {one.lower_size}"
        f" | {one.largest_size} | {one.upper_size} | {signed_percent(one.error_ratio)}"
        f" | {one.searched} | {signed_percent(one.search_ratio)} | {one.search_count} |"
        for one in found
    ]
    close = sum(abs(one.error_ratio) <= CLOSE for one in found)
    near = sum(abs(one.search_ratio) <= CLOSE for one in found)
    safe = sum(one.is_safe for one in found)
    rows.append("")
    rows.append(
        f"{close} of {len(found)} are within {100 * CLOSE:.0f} %, of those searched"
        f" {near}; {safe} of {len(found)} lower sizes fit."
    )
    return "\n".join(rows)


def main() -> None:
    """Print the table and put it into the page."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else DATA
    text = table(fits(folder))
    print(text)
    if not sys.argv[1:]:
        renew_page(PAGE, NAME, text)


if __name__ == "__main__":
    main()

"""Lines that computed what loops store, and results without a line of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA


def lines(folder: Path, program: str) -> list[tuple[Any, float]]:
    """Return the lines that hold more than a tenth of the peak, with their share."""
    file = folder / "w.duckdb"
    ingest([str(DATA / "advice" / f"{program}.base.tar.xz")], file, jobs=1)
    with connect(file) as connection:
        rows = run_query(connection, "peak_by_source_line", {"color": 0}).dicts()
    return [
        (row["source_line"], round(row["peak_ratio"], 2))
        for row in rows
        if row["peak_ratio"] >= 0.1
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "expected"),
    [
        # A history that the program returns: the new place of all bodies.
        ("galaxy", [(673, 1.0)]),
        # Two matrices of each iteration, by the line of each.
        ("transport", [(593, 0.5), (592, 0.49)]),
    ],
)
def test_what_a_loop_stores_has_the_line_that_computed_it(
    tmp_path: Path, program: str, expected: list[tuple[int, float]]
) -> None:
    assert lines(tmp_path, program) == expected

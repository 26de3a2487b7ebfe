"""Many runs read at once have the rows that each has when it is read alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hlodb.lake.opening import reading
from hlodb.reports.read.drawn.overview_drawings import read_drawings, read_drawings_of
from hlodb.reports.read.facts import read_runs
from hlodb.reports.read.overview import Row, read_overview
from hlodb.reports.read.overviews import asked_of, read_overviews

TOP = 5
# Of lines that hold equally much, which one stands for a remedy depends on the plan.
TIED = ("source_file", "source_line")


def without_ties(query: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    left_out = TIED if query == "remedies" else ()
    return [{k: v for k, v in row.items() if k not in left_out} for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["demo", "full"])
def test_rows_of_many_runs_are_those_of_each(
    which: str, request: pytest.FixtureRequest
) -> None:
    warehouse: Path = request.getfixturevalue(f"{which}_warehouse")
    with reading(warehouse) as connection:
        runs = read_runs(connection)[-4:]
        with asked_of(connection, runs) as answered:
            found = read_overviews(connection, runs, answered, top=TOP, limits={})
            drawn = read_drawings_of(connection, list(found.values()), 3, answered)
        for run, drawings in zip(runs, drawn, strict=True):
            alone = read_overview(connection, run.name, None, 0, top=TOP)
            together = found[run.run_id]
            assert together.answers.keys() == alone.answers.keys()
            for query, rows in alone.answers.items():
                ours = without_ties(query, together.answers[query])
                assert ours == without_ties(query, rows), query
            assert drawings.maps == read_drawings(connection, alone, 3).maps
        left = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert not [name for (name,) in left if name.startswith(("answer_of", "sel"))]

"""Notes of a report: what a reader may wonder about."""

from __future__ import annotations

from pathlib import Path

import duckdb

from hlodb.reports.build import build_report
from hlodb.reports.compare.scene import Request
from hlodb.reports.config.settings import Settings
from hlodb.schema.warehouse import connect
from tests.reports.situations import GROWN, STEP, night
from tests.reports.worlds import make

NOTE = (
    "night-1 and night-2 have the same start time (2027-01-01 00:00:00): the one that"
    " was ingested last counts as the later."
)


def test_the_order_of_runs_of_one_time(tmp_path: Path) -> None:
    """Of a base that somebody named there is none to wonder about."""
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, GROWN))
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE runs SET started_at = TIMESTAMP '2027-01-01'")
    with connect(path) as connection:
        found, named = (
            build_report(connection, Request("night-2", base), Settings())
            for base in (None, "night-1")
        )
    assert found.comparison.base is not None
    assert (found.comparison.base.name, NOTE in found.notes) == ("night-1", True)
    assert NOTE not in named.notes

"""Notes of a report: what a reader may wonder about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.reports.situations import GROWN, STEP, night
from tests.reports.worlds import make

NOTE = (
    'Runs "night-1" and "night-2" have the same start time (2027-01-01 00:00:00):'
    " they are"
    " ordered by name."
)


@pytest.mark.slow
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


@pytest.mark.slow
def test_names_of_earlier_nights(tmp_path: Path) -> None:
    """The base has the program under its name of now: only the history has others."""
    before = replace(STEP, name="jit_old_step")
    nights = night(1, before), night(2, STEP), night(3, GROWN)
    with connect(make(tmp_path / "hlodb.duckdb", *nights)) as connection:
        found = build_report(connection, Request(), Settings())
    called = [note for note in found.notes if "was called" in note]
    assert called == [
        'jit_step was called jit_old_step until run "night-1": a renamed program.'
    ]


def test_runs_that_came_an_hour_or_more_after_later_ones(tmp_path: Path) -> None:
    """Less is not told: the third came 59 minutes after the fourth."""
    nights = [night(number, STEP) for number in range(1, 6)]
    path = make(tmp_path / "hlodb.duckdb", *nights)
    minutes = {"night-1": 181, "night-2": 300, "night-3": 179, "night-4": 120}
    with duckdb.connect(str(path)) as connection:
        for run, minute in {**minutes, "night-5": 121}.items():
            connection.execute(
                "UPDATE runs SET ingested_at = TIMESTAMP '2027-02-01'"
                f" + INTERVAL {minute} MINUTE WHERE name = '{run}'"
            )
    with connect(path) as connection:
        found = build_report(connection, Request(), Settings())
    assert [note for note in found.notes if note.startswith("Ingested")] == [
        'Ingested an hour or more after later runs of the series: "night-1", "night-2".'
        " Comparisons with their neighbours were renewed."
    ]

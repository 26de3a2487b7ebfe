"""Reports on all situations, each computed once in a test run."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.made_once import made_once
from tests.reports.situations import report_on


@pytest.fixture(scope="module", autouse=True)
def as_after_an_ingest(queries_installed: None) -> None:
    """Let reports read warehouses that `hlodb ingest` made."""


@pytest.fixture(scope="session")
def reported(room_of_all: Path) -> Callable[[str], Report]:
    """Return the report on a situation by its name."""

    def of(name: str) -> Report:
        def make(path: Path) -> None:
            path.write_bytes(pickle.dumps(report_on(name, path.parent)))

        path = made_once(room_of_all, f"{name}.report", make)
        report: Report = pickle.loads(path.read_bytes())
        return report

    return cache(of)


@pytest.fixture(scope="session")
def diffs(room_of_all: Path, demo_warehouse: Path) -> list[Report]:
    """Every release against the one before."""

    def make(path: Path) -> None:
        path.write_bytes(pickle.dumps(_compare_releases(demo_warehouse)))

    path = made_once(room_of_all, "diffs.reports", make)
    reports: list[Report] = pickle.loads(path.read_bytes())
    return reports


def _compare_releases(warehouse: Path) -> list[Report]:
    with connect(warehouse) as connection:
        names = connection.execute(
            "SELECT name FROM runs WHERE platform = 'cpu' ORDER BY run_id"
        ).fetchall()
        return [
            build_report(
                connection,
                Request(candidate=b, baseline=f"run:{a}", kind="diff"),
                Settings(floor_bytes=0, floor_ratio=0.0),
            )
            for (a,), (b,) in pairwise(names)
        ]

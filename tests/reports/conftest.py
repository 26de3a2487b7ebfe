"""Reports on all situations, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.model import Report
from hlodb.reports.scene import Request
from hlodb.reports.settings import Settings
from hlodb.schema.warehouse import connect
from tests.reports.situations import report_on


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """Give the report on a situation by its name."""
    folder = tmp_path_factory.mktemp("situations")
    return cache(lambda name: report_on(name, folder))


@pytest.fixture(scope="session")
def diffs(demo_warehouse: Path) -> list[Report]:
    """Every release against the one before."""
    with connect(demo_warehouse) as connection:
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

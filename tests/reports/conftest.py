"""Reports on all situations, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from hlodb.reports.model import Report
from tests.reports.situations import report_on


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """Give the report on a situation by its name."""
    folder = tmp_path_factory.mktemp("situations")
    return cache(lambda name: report_on(name, folder))

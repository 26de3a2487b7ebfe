"""An empty lake, made once: to install the queries takes most of a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.lake.catalogue import refresh
from hlodb.lake.layout import create_lake, lake_at


@pytest.fixture(scope="session")
def empty_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake to copy; the copies take the queries of its catalogue over."""
    path = tmp_path_factory.mktemp("empty") / "lake"
    create_lake(path)
    refresh(lake_at(path))
    return path

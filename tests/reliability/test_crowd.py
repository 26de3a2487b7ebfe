"""A small crowd for some seconds; `make torture` has ten writers for five minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.crowd import crowd_at_bucket, crowd_at_file, crowd_at_lake


@pytest.mark.slow
def test_a_crowd_at_a_file(tmp_path: Path) -> None:
    assert crowd_at_file(tmp_path, seconds=5, writers=2, runs=2).faulty == 0


@pytest.mark.slow
def test_a_crowd_at_a_lake(tmp_path: Path) -> None:
    assert crowd_at_lake(tmp_path, seconds=5, writers=2, runs=2).faulty == 0


@pytest.mark.bucket
def test_a_crowd_at_a_bucket(tmp_path: Path) -> None:
    assert crowd_at_bucket(tmp_path, seconds=10, writers=2, runs=2).faulty == 0

"""The nights that tests of reports, triage and diffs are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.nights import build
from tests.reports.situations import EVAL, GROWN, STEP, night


@pytest.fixture(scope="module", autouse=True)
def as_after_an_ingest(queries_installed: None) -> None:
    """Let commands read warehouses that `hlodb ingest` made."""


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a regression in the second of two nights; the settings file is empty."""
    monkeypatch.chdir(tmp_path)
    return build(tmp_path, night(1, STEP, EVAL), night(2, GROWN, EVAL))

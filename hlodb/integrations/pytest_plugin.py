"""A pytest plugin: the fixture `hlodb_peak` gates a program's memory in a test suite.

    def test_peak(hlodb_peak):
        hlodb_peak("jit_train_step").assert_within("30 GiB")

The warehouse is --hlodb-db FILE, else hlodb_db of the pytest settings, else $HLODB_DB,
else hlodb.duckdb. `hlodb_peak("jit_f", dump=folder)` reads what --xla_dump_to wrote.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hlodb.printed_commands import default_db

if TYPE_CHECKING:
    from hlodb.integrations.peaks import Peaks


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --hlodb-db and the setting hlodb_db."""
    group = parser.getgroup("hlodb")
    text = "The hlodb warehouse that hlodb_peak reads."
    group.addoption("--hlodb-db", metavar="FILE", help=text)
    parser.addini("hlodb_db", text, default="")


@pytest.fixture
def hlodb_peak(request: pytest.FixtureRequest, tmp_path: Path) -> Peaks:
    """Return a program's memory: `hlodb_peak(program, dump=, run=, space=)`."""
    config = request.config
    named = config.getoption("--hlodb-db") or config.getini("hlodb_db")
    database = Path(named or default_db())
    if not database.is_absolute():
        database = config.rootpath / database
    # Loaded when asked for: test suites that never gate memory stay as fast as before.
    peaks: Peaks = import_module("hlodb.integrations.peaks").Peaks(database, tmp_path)
    return peaks

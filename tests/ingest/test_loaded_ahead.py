"""Modules loaded beside other work."""

import importlib
import sys
from pathlib import Path

import pytest

from hlodb.ingest.loaded_ahead import loading_ahead

NAME = "loaded_in_a_test"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of a module that nobody has loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / f"{NAME}.py"
    path.write_text("")
    monkeypatch.setitem(sys.modules, NAME, sys)
    monkeypatch.delitem(sys.modules, NAME)
    return path


@pytest.mark.parametrize("is_needed", [True, False])
@pytest.mark.usefixtures("module")
def test_it_is_loaded_when_the_block_ends(is_needed: bool) -> None:
    with loading_ahead(NAME, is_needed=is_needed):
        pass
    assert (NAME in sys.modules) is is_needed


def test_what_fails_to_load_fails_where_it_is_imported(module: Path) -> None:
    module.write_text("raise ValueError('broken')")
    with loading_ahead(NAME, is_needed=True):
        pass
    with pytest.raises(ValueError, match="broken"):
        importlib.import_module(NAME)


@pytest.mark.usefixtures("module")
def test_errors_of_the_block_come_first() -> None:
    with pytest.raises(KeyError), loading_ahead(NAME, is_needed=True):
        raise KeyError
    assert NAME in sys.modules

"""Modules loaded beside other work."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hlodb.ingest.loaded_ahead import loading_ahead
from tests.conftest import DATA

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


_WATCHED = """
import json, sys, threading
seen = {}
def watch(event, arguments):
    if event in ("os.putenv", "os.unsetenv"):
        seen[event] = threading.current_thread().name
    if event == "import" and arguments[0] in ("numpy", "pyarrow.lib"):
        seen[arguments[0]] = threading.current_thread().name
sys.addaudithook(watch)
from hlodb.cli import main
main(sys.argv[1:])
print(json.dumps(seen))
"""


def test_the_environment_stays_as_it_is_while_duckdb_may_read_it(
    tmp_path: Path,
) -> None:
    """Numpy changes it where it is loaded; a read in another thread may crash."""
    environment = {k: v for k, v in os.environ.items() if "MAIN_FREE" not in k}
    command = (
        *("ingest", DATA / "moved_lines" / "before"),
        *("--db", tmp_path / "w.duckdb", "--format", "jsonl"),
    )
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *command],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen.keys() >= {"numpy", "pyarrow.lib"}
    assert set(seen.values()) == {"MainThread"}

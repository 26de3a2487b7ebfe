"""The parts of the worker that need no JAX."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from hlodb.replay.compile import WORKER
from hlodb.replay.worker import _divided, _further, _typed, _unknown_flag


def test_the_worker_imports_nothing_of_hlodb() -> None:
    """It runs in environments that have JAX alone; data is never run as code."""
    names = set()
    for node in ast.walk(ast.parse(WORKER.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name):
            assert node.id not in ("eval", "exec")
    outside = {"jax", "numpy"}
    assert names - set(sys.stdlib_module_names) == outside
    assert "pickle" not in names


@pytest.mark.parametrize(
    ("value", "typed"),
    [("true", True), ("False", False), ("1", "1"), ("EFFORT_O1", "EFFORT_O1")],
)
def test_booleans_are_passed_as_such(value: str, typed: str | bool) -> None:
    assert _typed(value) == typed


@pytest.mark.parametrize(
    ("message", "flag"),
    [
        ("INVALID_ARGUMENT: No such compile option: 'xla_b'", "xla_b"),
        ("No such compile option: 'xla_bc'", None),
        ("While setting option xla_b, '1' is not a valid bool value.", None),
    ],
)
def test_a_flag_that_the_compiler_lacks_is_found(
    message: str, flag: str | None
) -> None:
    assert _unknown_flag(message, {"xla_a": "1", "xla_b": "1"}) == flag


def test_a_compiler_ends_with_what_started_it(tmp_path: Path) -> None:
    """A command that is killed would leave it running for minutes."""
    mark = tmp_path / "mark"
    worker = (
        "import os, sys, time; from pathlib import Path; from threading import Thread;"
        f"sys.path.insert(0, {str(WORKER.parent)!r}); from worker import _end_with;"
        "Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start();"
        f"time.sleep(20); Path({str(mark)!r}).touch()"
    )
    command = (
        "import os, subprocess, sys; subprocess.Popen([sys.executable, '-c',"
        " sys.argv[1], str(os.getpid())], start_new_session=True, stdout=1)"
    )
    # Its output is open for as long as the worker runs.
    subprocess.run([sys.executable, "-c", command, worker], stdout=PIPE, check=True)
    assert not mark.exists()


AXES = {"data": 2, "model": 4, "one": 1}


@pytest.mark.parametrize(
    ("said", "sizes", "expected"),
    [
        ("{}, {}", [64, 256], "{}, {'data', 'model'}"),
        ("{'model'}, {}", [64, 256], "{'model'}, {'data'}"),
        ("{}, {'model'}", [7, 256], "{}, {'model', 'data'}"),
        ("{}, {?}", [64, 3], "{'data', 'model'}, {}"),
        ("{'data'}, {'model'}", [64, 256], None),
        ("{}, {}", [7, 3], None),
        ("{'model':(1)2}, {}", [64, 256], None),
    ],
)
def test_a_sharding_uses_the_axes_that_it_lacks(
    said: str, sizes: list[int], expected: str | None
) -> None:
    """Each where the largest part is that it divides."""
    assert _further(said, sizes, AXES, "'") == expected


def test_a_sharding_of_shardy_keeps_its_form() -> None:
    said = '#sdy.sharding<@mesh, [{"model"}, {}], replicated={"data"}>'
    expected = '#sdy.sharding<@mesh, [{"model"}, {"data"}]>'
    assert _divided(said, [64, 256], {"mesh": AXES}) == expected
    assert _divided(said, [64, 256], {"other": AXES}) is None

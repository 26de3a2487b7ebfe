"""The parts of the worker that need no JAX."""

from __future__ import annotations

import ast
import sys

import pytest

from hlodb.replay.compile import WORKER
from hlodb.replay.worker import _typed, _unknown_flag


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

"""One input compiled several times, with and without different memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.reports.situations import EVAL, MIB, STEP, WORK, night
from tests.reports.worlds import Program, make


def of_text(text: str, mebibytes: int, source: str = "source") -> Program:
    buffers = (replace(WORK, size=mebibytes * MIB),)
    return Program("jit_step", buffers, text=text, source=source)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Return six runs; compiler and flags of the last three are other ones."""
    worlds = (
        night(1, of_text("a", 4), EVAL, compiler="1"),
        night(2, of_text("b", 6), EVAL, compiler="1"),
        night(3, of_text("a", 4), of_text("c", 9, source="edited"), compiler="1"),
        night(4, of_text("d", 20), compiler="2"),
        night(5, of_text("e", 30), compiler="1", flags={"xla_f": "on"}),
        night(6, STEP, compiler=None),
    )
    path = tmp_path_factory.mktemp("compiled") / "w.duckdb"
    with connect(make(path, *worlds)) as connection:
        yield connection


def test_only_what_is_compiled_alike_is_compared(compiled: Connection) -> None:
    """Of three times 4, 6 and 4 MiB; the edited source was compiled once."""
    step = ("jit_step", 0, 3, 3, 2, 4 * MIB, 6 * MIB, 0.5, "night-2")
    same = ("jit_eval", 0, 2, 2, 1, 5 * MIB, 5 * MIB, 0.0, "night-2")
    rows = run_query(compiled, "nondeterminism").rows
    assert rows == [step, same]
    asked = {"only_variants": True}
    assert run_query(compiled, "nondeterminism", {**asked}).rows == [step]
    assert run_query(compiled, "nondeterminism", {"min_compiles": 3}).rows == [step]


def test_runs_that_are_not_asked_for_do_not_count(compiled: Connection) -> None:
    asked: dict[str, Value] = {"only_runs": ["night-1", "night-3"]}
    [row] = run_query(compiled, "nondeterminism", asked).rows
    assert row == ("jit_step", 0, 2, 2, 1, 4 * MIB, 4 * MIB, 0.0, "night-3")

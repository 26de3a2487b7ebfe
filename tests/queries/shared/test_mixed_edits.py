"""What follows from edits that add and free memory at once, as compiled.

tests/data/newcomers/speech.tar.xz has nights of a speech recogniser of 450 MiB. What is
true of them was compiled: the base with one of the edits of night5 alone, the outputs,
needs 78.00 MiB more, and night5 as a whole 36.00 MiB.
"""

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

MIB = 2**20
LOOP = "model.py:93 experts: new loop of 4 steps in experts"
OUTPUTS = (
    "model.py:112 forward: new output f32[4,8,128,{}] of while",
    "train.py:14 loss_fn: new output f32[8,128,2048] of dot_general",
    "model.py:112 forward: new output f32[4,8,128,384] of while",
)


@pytest.fixture(scope="module")
def nights(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("speech", tmp_path_factory.mktemp("speech"))
    with connect(warehouse) as connection:
        yield connection


def claims(
    connection: duckdb.DuckDBPyConnection, candidate: str
) -> list[tuple[object, ...]]:
    found = run_query(
        connection,
        "claims",
        {"base": "night1", "candidate": candidate, "program": "jit_train_step"},
    )
    return [
        (row["claim"], row["delta_bytes"], row["is_against"], row["standing"])
        for row in found.dicts()
    ]


def test_a_lost_checkpoint_is_one_edit(nights: duckdb.DuckDBPyConnection) -> None:
    """Nor are the loops edits that it ran again."""
    words = "model.py:101 forward.<locals>.layer: remat removed"
    words += " (94 operations were recomputed)"
    assert claims(nights, "night2") == [(words, 501_864_696, False, "proven")]


def test_a_rise_is_of_what_adds_memory(nights: duckdb.DuckDBPyConnection) -> None:
    large, logits, small = OUTPUTS
    assert claims(nights, "night5") == [
        (large.format("4,1024"), 64 * MIB, False, "proven"),
        (logits, 8 * MIB, False, "proven"),
        (small, 6 * MIB, False, "proven"),
        ("more than one of these", 12, False, "proven"),
        (LOOP, -44_039_896, True, "proven"),
    ]


def test_a_fall_does_not_hide_what_it_hid(nights: duckdb.DuckDBPyConnection) -> None:
    large, logits, small = OUTPUTS
    assert claims(nights, "night3") == [
        (LOOP, -44_531_340, False, "proven"),
        (large.format("1024"), 16 * MIB, True, "proven"),
        (logits, 8 * MIB, True, "proven"),
        (small, 6 * MIB, True, "proven"),
        ("more than one of these", 12, True, "proven"),
    ]


def test_more_results_are_no_other_flags(nights: duckdb.DuckDBPyConnection) -> None:
    """A flag that has one value for each result is the same flag with more of them."""
    for night in ("night3", "night5"):
        parameters = {"base": "night1", "candidate": night}
        assert run_query(nights, "environment_diff", parameters).rows == []

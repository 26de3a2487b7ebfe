"""What remedies promised newcomers, against what their own edits came to.

tests/data/newcomers/decoder.tar.xz has a training step of a decoder of 24 layers, not
donated, for a v5e of four chips: `whole`, with `jax.checkpoint` around each layer
(`remat`), that with tokens divided over all chips (`tokens`), `whole` with the fused
attention of Pallas (`fused`), which also keeps the batch divided, and `whole` of half
the positions (`short`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

MIB, GIB = 2**20, 2**30


@pytest.fixture(scope="module")
def decoders(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("decoder", tmp_path_factory.mktemp("decoder"))
    with connect(warehouse) as connection:
        yield connection


def listed(connection: duckdb.DuckDBPyConnection, run: str) -> list[dict[str, Any]]:
    return run_query(connection, "remedies", {"run": run, "top": None}).dicts()


def promises(
    connection: duckdb.DuckDBPyConnection, run: str, rule: str
) -> dict[str, tuple[int, int]]:
    return {
        row["subject"]: (row["saved_reserved_bytes"], row["saved_bytes"])
        for row in listed(connection, run)
        if row["rule_id"] == rule
    }


def sizes(connection: duckdb.DuckDBPyConnection, run: str) -> tuple[int, int]:
    [row] = run_query(connection, "peak_by_space", {"run": run, "color": 0}).dicts()
    return row["reserved_bytes"], row["live_peak_bytes"]


def fall(
    connection: duckdb.DuckDBPyConnection, before: str, after: str
) -> tuple[int, int]:
    was, now = sizes(connection, before), sizes(connection, after)
    return was[0] - now[0], was[1] - now[1]


RULES = {
    "whole": [
        "checkpoint_loop", "chunk_attention", "halve_softmax", "halve_activation",
        "donate", "halve_softmax",
    ],
    "remat": ["chunk_attention", "halve_softmax", "donate", "shard"],
    "tokens": ["chunk_attention", "halve_softmax", "donate", "shard"],
    "fused": ["checkpoint_loop", "halve_activation", "donate", "chunk_loss"],
    "short": [
        "checkpoint_loop", "chunk_attention", "halve_softmax", "halve_activation",
        "chunk_loss",
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("run", RULES)
def test_new_weights_and_parked_values_are_no_results_to_leave_out(
    decoders: duckdb.DuckDBPyConnection, run: str
) -> None:
    """The step returns new moments and weights, and must.

    XLA computes them in the gradients that a scan stacks, and keeps values saved for
    the backward pass in the memory of results that are made later.
    """
    rows = [row for row in listed(decoders, run) if not row["is_last_resort"]]
    assert [row["rule_id"] for row in rows] == RULES[run]


@pytest.mark.slow
def test_dividing_tokens_divides_no_array_of_divided_weights(
    decoders: duckdb.DuckDBPyConnection,
) -> None:
    """Tokens of 64 KiB were divided over all chips: half of them alone is saved."""
    reserved, live = fall(decoders, "remat", "tokens")
    assert reserved < 0
    assert live == 32 << 10
    subjects = promises(decoders, "remat", "shard")
    assert list(subjects) == ["m, params, v (2 parts for 4 partitions)"]


@pytest.mark.slow
def test_scores_that_a_scan_saves_belong_to_chunked_attention(
    decoders: duckdb.DuckDBPyConnection,
) -> None:
    """72 GiB of scores are saved; the fused kernel divides the batch, too."""
    [promised] = promises(decoders, "whole", "chunk_attention").values()
    measured = fall(decoders, "whole", "fused")
    assert all(
        72 * GIB <= said <= true for said, true in zip(promised, measured, strict=True)
    )
    # Nor is bf16[8,1024,1024] an array of scores: 1024 is the width of the model, too.
    [short] = promises(decoders, "short", "chunk_attention").values()
    assert short == (9 * GIB, 9_504 * MIB)
    assert promises(decoders, "fused", "chunk_attention") == {}


@pytest.mark.slow
def test_inputs_of_norms_are_no_softmax(decoders: duckdb.DuckDBPyConnection) -> None:
    """f32[24,16,2048,1024] are inputs of RMSNorm, saved by the scan."""
    for rule, shapes in {
        "halve_activation": ["f32[24,16,2048,1024]"],
        "halve_softmax": ["f32[24,16,8,2048,2048]", "f32[16,8,2048,2048]"],
    }.items():
        found = [subject.split()[-1] for subject in promises(decoders, "whole", rule)]
        assert found == shapes


@pytest.mark.slow
def test_a_checkpointed_layer_saves_what_is_said(
    decoders: duckdb.DuckDBPyConnection,
) -> None:
    [promised] = promises(decoders, "whole", "checkpoint_loop").values()
    measured = fall(decoders, "whole", "remat")
    assert promised == pytest.approx(measured, rel=0.02)

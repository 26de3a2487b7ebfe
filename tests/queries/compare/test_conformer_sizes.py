"""Sizes of a speech encoder that fit a TPU, against those that were compiled.

tests/data/newcomers/conformer.tar.xz has its training step with batches of 16 and 32,
with jax.checkpoint around the layers. libtpu 0.9.2 makes every batch up to 168 fit
TPU v5e, from 122 on by computing arrays again, and refuses 200.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

REFUSED = 200
NEEDED_BY_65 = 9.62 * 2**30


@pytest.mark.slow
def test_each_array_grows_as_the_batch_does(tmp_path: Path) -> None:
    """Arrays of one name that are others in the next size are not paired."""
    with connect(ingested("conformer", tmp_path, "batch_*")) as connection:
        asked: dict[str, Value] = {"program": "jit_train_step", "color": 0}
        row, *_ = run_query(connection, "largest_fit", asked).dicts()
    lower, largest, upper = (
        row[name] for name in ("lower_size", "largest_size", "upper_size")
    )
    assert (row["axis_name"], row["is_checked"]) == ("batch['mels'][0]", False)
    assert lower <= largest < REFUSED - 1 <= upper
    assert row["error_ratio"] < 0.02

    def needed(size: int) -> float:
        return float(
            row["constant_bytes"]
            + row["linear_bytes"] * size
            + row["quadratic_bytes"] * size**2
        )

    # The printed terms give what the laws say.
    assert needed(largest) == pytest.approx(row["usable_bytes"], rel=0.03)
    assert needed(65) == pytest.approx(NEEDED_BY_65, rel=0.05)
    assert row["growing_part"] == "temp"
    assert row["growing_bytes"] < row["usable_bytes"]

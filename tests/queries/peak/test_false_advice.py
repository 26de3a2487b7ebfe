"""What `remedies` does not advise, as it was tried and lowered nothing.

tests/data/newcomers/tpu_advice.tar.xz has two training steps compiled ahead of time for
a v5e by jax 0.10.2. `convolutions`, a U-Net of volumes on four chips, needs 73.69 GiB:
XLA cuts what its convolutions read into pieces of 4 by 8 and 17 or 18. With its last
two dimensions folded it needed 80.78 GiB, and with `jax.checkpoint` around each unit
32.07 GiB. `adafactor`, a T5, needed 5.26 GiB with `optax.clip(1.0)` as without, since
optax.adafactor has a norm for each array and none of all gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.schema.warehouse import connect
from tests.newcomers import asked, ingested

GIB = 2**30


@pytest.fixture(scope="module")
def steps(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("tpu_advice", tmp_path_factory.mktemp("tpu_advice"))
    with connect(warehouse) as connection:
        yield connection


def test_pieces_that_the_compiler_cuts_are_not_folded(
    steps: duckdb.DuckDBPyConnection,
) -> None:
    rows = asked(steps, "remedies", "convolutions", top=None)
    first = rows[0]
    assert first["rule_id"] == "recompute"
    assert first["saved_reserved_bytes"] < (73.69 - 32.07) * GIB
    assert {row["rule_id"] for row in rows if not row["is_last_resort"]} == {
        "recompute"
    }
    held = asked(steps, "peak_contents", "convolutions", top=None)
    assert any(",17,32]" in row["shape"] for row in held), "nothing is cut any more"


def test_half_of_a_batch_that_space_is_moved_into(
    steps: duckdb.DuckDBPyConnection,
) -> None:
    """Four volumes on each chip are 32 pieces, a number that weights have, too."""
    rows = asked(steps, "remedies", "convolutions", top=None)
    (saved,) = (
        row["saved_reserved_bytes"] for row in rows if row["rule_id"] == "halve_batch"
    )
    assert saved == pytest.approx((73.69 - 36.30) * GIB, rel=0.1)


def test_a_norm_of_each_array_holds_no_gradient_of_others(
    steps: duckdb.DuckDBPyConnection,
) -> None:
    rows = asked(steps, "remedies", "adafactor", top=None)
    assert [row["rule_id"] for row in rows] == ["halve_element", "halve_batch"]

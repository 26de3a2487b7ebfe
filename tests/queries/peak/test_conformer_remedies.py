"""Remedies of a speech encoder that saves every layer for the backward pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested


@pytest.mark.slow
def test_a_norm_beside_a_sigmoid_is_no_softmax(tmp_path: Path) -> None:
    """What silu exponentiates has the dimensions of what the norm computes."""
    with connect(ingested("conformer", tmp_path, "saved")) as connection:
        found = run_query(connection, "remedies", {"program": "jit_train_step"})
        halved = {
            row["subject"]: (row["rule_id"], row["source_line"])
            for row in found.dicts()
            if row["rule_id"] in ("halve_activation", "halve_softmax")
        }
    assert halved == {
        "values of f32[12,32,600,768]": ("halve_activation", 66),
        "values of f32[12,32,12,600,600]": ("halve_softmax", 83),
    }

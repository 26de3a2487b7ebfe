"""Arrays that loops of a mixture of experts store, and no longer store.

tests/data/newcomers/experts.tar.xz has nights of its training and its decode step on
four chips of TPU v5e. In night3 the scans over layers and microbatches also return the
dispatch mask of the experts, of which only a mean is used. In night5 the cache of the
decode step goes through its scan as xs and ys, no longer in the carry. Night6 undoes
both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.reports.build import build_diff
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.brief import brief
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

pytestmark = pytest.mark.slow

HBM = 0
DEVICES, BF16 = 4, 2
TRAIN, DECODE = "jit_train_step", "jit_decode_step"

MASK = "bf16[8,12,8,2048,8,640]"
MASK_BYTES = 8 * 12 * 8 * 2048 * 8 * 640 * BF16 // DEVICES

CACHE = "bf16[12,4096,4,128,128]"
CACHES_BYTES = 2 * 12 * 4096 * 4 * 128 * 128 * BF16 // DEVICES
"""Keys and values."""

WRONG_RULES = {"narrower_type", "promotion"}
"""Nobody edited a type."""


@pytest.fixture(scope="module")
def experts(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(ingested("experts", tmp_path_factory.mktemp("experts"))) as connection:
        yield connection


def found(
    connection: duckdb.DuckDBPyConnection, query: str, base: str, candidate: str
) -> list[dict[str, Any]]:
    asked = {"base": base, "candidate": candidate}
    return run_query(connection, query, asked).dicts()


def test_a_mask_that_two_scans_return_is_told_at_the_outer(
    experts: duckdb.DuckDBPyConnection,
) -> None:
    claims = found(experts, "claims", "night2", "night3")
    changes = found(experts, "source_changes", "night2", "night3")
    assert WRONG_RULES.isdisjoint(row["rule_id"] for row in [*claims, *changes])
    assert {row["program"]: row["sources"] for row in changes} == {
        DECODE: "equal",
        TRAIN: "different",
    }
    assert {row["program"] for row in claims} == {TRAIN}
    leading, *others = (row for row in claims if row["color"] == HBM)
    assert leading["place"] == 1
    assert (leading["rule_id"], leading["standing"]) == ("stack_added", "proven")
    assert (leading["source_path"], leading["source_line"]) == ("team/train.py", 39)
    assert leading["claim"] == (
        f"team/train.py:39 accumulate: the loop also stores {MASK}"
    )
    assert leading["advice"].startswith("Return from the body of lax.scan only what is")
    assert leading["delta_bytes"] == pytest.approx(MASK_BYTES, rel=0.01)
    assert not leading["is_against"]
    assert sum(row["delta_bytes"] or 0 for row in others) < 0.01 * MASK_BYTES


def test_arrays_that_are_no_longer_stored_are_causes_of_the_falls(
    experts: duckdb.DuckDBPyConnection,
) -> None:
    changes = found(experts, "source_changes", "night5", "night6")
    claims = found(experts, "claims", "night5", "night6")
    assert WRONG_RULES.isdisjoint(row["rule_id"] for row in [*claims, *changes])
    stacks = {
        row["program"]: (row["rule_id"], row["sentence"], row["delta_bytes"] < 0)
        for row in changes
        if row["place"] == 1
    }
    removed = "the loop no longer stores"
    assert stacks == {
        DECODE: ("stack_removed", f"{removed} {CACHE}", True),
        TRAIN: ("stack_removed", f"{removed} {MASK}", True),
    }
    leading = {
        row["program"]: row
        for row in claims
        if (row["color"], row["place"]) == (HBM, 1)
    }
    assert {
        program: (row["rule_id"], row["claim"], row["standing"], row["is_against"])
        for program, row in leading.items()
    } == {
        DECODE: (
            "stack_removed",
            f"serve.py:49 decode_step: {removed} {CACHE}",
            "proven",
            False,
        ),
        TRAIN: (
            "stack_removed",
            f"team/train.py:26 accumulate: {removed} {MASK}",
            "proven",
            False,
        ),
    }
    assert leading[TRAIN]["delta_bytes"] == pytest.approx(-MASK_BYTES, rel=0.01)
    assert leading[DECODE]["delta_bytes"] <= -CACHES_BYTES


def test_a_diff_begins_with_falls_beside_which_rises_are_traces(
    experts: duckdb.DuckDBPyConnection,
) -> None:
    """VMEM of the decode step grows by 5.88 MiB, another space by 1 KiB."""
    report = build_diff(experts, "night5", "night6", Settings(), top=20)
    fall, rises, *_ = report.headline.split("; ")
    assert fall == (
        f"± {TRAIN} HBM -3.75 GiB (-47.4 %), cause: team/train.py:26 accumulate:"
        f" the loop no longer stores {MASK} (shapes of all 4 devices)"
    )
    assert rises.startswith(f"1 worse, 1 mixed, 1 by less than 1 MiB: {DECODE} ")
    first, second, *others = (
        block.text for block in brief(report) if isinstance(block, Paragraph)
    )
    assert first.startswith(f"{TRAIN} HBM -3.75 GiB (-47.4 %): team/train.py:26 ")
    assert second.startswith(f"{DECODE} HBM -3.13 GiB (-46.6 %): serve.py:49 ")
    assert all(text.startswith(f"Also: {DECODE} ") for text in others)
    assert any(" VMEM +5.88 MiB (+8.7 %): " in text for text in others)

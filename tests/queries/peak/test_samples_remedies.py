"""What remedies promise of vmap and of loops, against what the edits came to.

tests/data/newcomers/make_samples.py has the programs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested("samples", tmp_path_factory.mktemp("samples"))


def asked(path: Path, query: str, run: str) -> list[dict[str, Any]]:
    with connect(path) as connection:
        return run_query(connection, query, {"run": run}).dicts()


def reserved(path: Path, run: str) -> int:
    [row] = asked(path, "peak_by_space", run)
    return int(row["reserved_bytes"])


@pytest.mark.parametrize(
    ("run", "edited", "rule", "subject", "advice"),
    [
        (
            *("sampled", "sampled_apart", "chunk_batch"),
            "values of all 8 that jax.vmap maps over",
            "Compute them in chunks of 1: jax.lax.map(…, batch_size=1) instead of"
            " jax.vmap. What is summed over them, such as gradients of a loss or a"
            " product, is added up chunk by chunk in a jax.lax.scan.",
        ),
        (
            *("rolled", "rolled_summed", "sum_in_loop"),
            "history that while.6 collects",
            "Compute in the loop what is computed from each part of it after the loop,"
            " and stack only that, or keep sums, or the least or greatest, in its"
            " state: no history.",
        ),
    ],
)
def test_a_promise_is_what_the_edit_saves(
    samples: Path, run: str, edited: str, rule: str, subject: str, advice: str
) -> None:
    [row] = asked(samples, "remedies", run)
    found = row["rule_id"], row["subject"], row["advice"]
    assert found == (rule, subject, advice)
    fall = reserved(samples, run) - reserved(samples, edited)
    assert row["saved_reserved_bytes"] == pytest.approx(fall, rel=0.005)


def test_a_sum_in_the_loop_needs_no_advice(samples: Path) -> None:
    assert asked(samples, "remedies", "rolled_summed") == []

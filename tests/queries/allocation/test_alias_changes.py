"""A donation that the second of two compilations of a program has lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect

V_BYTES = 64 * 128 * 4
"""The argument v is f32[64,128]; its text is in tests/data/changes/donation."""


@pytest.fixture(scope="module")
def smaller(smaller_gold_warehouse: Path) -> Iterator[Connection]:
    with connect(smaller_gold_warehouse) as connection:
        yield connection


@pytest.mark.parametrize(
    ("base", "candidate", "changes"),
    [
        ("donated", "dropped", [("lost", "realised", "missed", V_BYTES, V_BYTES)]),
        ("dropped", "donated", [("gained", "missed", "realised", V_BYTES, -V_BYTES)]),
        ("donated", "donated", []),
    ],
)
def test_a_lost_donation_costs_its_bytes(
    smaller: Connection,
    base: str,
    candidate: str,
    changes: list[tuple[str, str, str, int, int]],
) -> None:
    asked: dict[str, Value] = {"base": base, "candidate": candidate}
    assert run_query(smaller, "alias_changes", asked).rows == [
        (
            *("jit_update", 0, None, change, "{1}", None, 1, "{}", "v"),
            *(before, after, donated, lost, "f32[64,128]"),
        )
        for change, before, after, donated, lost in changes
    ]


def test_the_remedy_of_a_lost_donation_is_worth_its_bytes(smaller: Connection) -> None:
    arrays = 2 * (128 * 128 + 64 * 128) * 4
    peak = arrays + V_BYTES + 2 * 8
    shown = "rule_id", "subject", "saved_bytes", "saved_ratio", "live_peak_bytes"
    rows = run_query(smaller, "remedies", {"run": "dropped"}).dicts()
    assert [tuple(row[name] for name in shown) for row in rows] == [
        *_priced(peak, ("donate", "v", V_BYTES)),
    ]
    assert run_query(smaller, "remedies", {"run": "donated"}).rows == []


def _priced(peak: int, remedy: tuple[str, str, int]) -> Iterator[tuple[object, ...]]:
    yield (*remedy, pytest.approx(remedy[2] / peak), peak)

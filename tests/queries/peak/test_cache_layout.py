"""Arguments that XLA copies into another layout: what is promised, what is saved.

tests/data/newcomers/cache.tar.xz has a decode step for a v5e of four chips, by jax
0.9.2, whose caches are donated: `copied` stores them as [layers, batch, positions,
heads, width], `kept` as [layers, positions, heads, batch, width], as XLA reads them.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import asked, ingested

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def caches(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("cache", tmp_path_factory.mktemp("cache"))
    with connect(warehouse) as connection:
        yield connection


def test_a_promise_is_what_another_order_saves(
    caches: duckdb.DuckDBPyConnection,
) -> None:
    """Parts of the caches are in the memory of the arguments while these are copied."""
    first, *others = asked(caches, "remedies", "copied", top=None)
    assert (first["rule_id"], first["subject"]) == (
        "keep_layout",
        "copies of cache['k'], cache['v'] in another layout: [12,4096,2,64,128]",
    )
    assert not first["is_last_resort"]
    assert [row["rule_id"] for row in others] == ["halve_cache"]
    [copied], [kept] = (
        asked(caches, "peak_by_space", run) for run in ("copied", "kept")
    )
    for saved, needed in (
        ("saved_reserved_bytes", "reserved_bytes"),
        ("saved_bytes", "live_peak_bytes"),
    ):
        assert first[saved] == pytest.approx(copied[needed] - kept[needed], rel=1e-3)


def test_what_is_stored_as_it_is_read_needs_no_advice(
    caches: duckdb.DuckDBPyConnection,
) -> None:
    rules = {row["rule_id"] for row in asked(caches, "remedies", "kept", top=None)}
    assert "keep_layout" not in rules


def test_copies_and_what_follows_them_go_together(
    caches: duckdb.DuckDBPyConnection,
) -> None:
    rows = run_query(caches, "remedy_marks", {"run": "copied"}).dicts()
    marked = [row for row in rows if row["mark"] == "relaid"]
    assert {row["opcode"] for row in marked} == {"copy", "parameter", "fusion", "while"}
    assert {row["kind"] for row in marked} == {"temp"}
    assert {row["size_bytes"] for row in marked} == {12 * 64 * 4096 * 2 * 128 * 2}
    assert {(row["part"], row["whole"]) for row in marked} == {(11 << 28, 3 << 30)}
    assert len(marked) == 10

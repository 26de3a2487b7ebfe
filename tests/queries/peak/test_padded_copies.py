"""Copies of arguments in another layout, which TPUs pad: what they take, what helps.

tests/data/newcomers/recommender.tar.xz has a training step of a recommender with tables
of 64 columns for a v5e of four chips: `base`, which libtpu refused, and `packed`, of
two rows in one.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.schema.warehouse import connect
from tests.newcomers import asked, ingested

GIB = 2**30


@pytest.fixture(scope="module")
def tables(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("recommender", tmp_path_factory.mktemp("recommender"))
    with connect(warehouse) as connection:
        yield connection


def test_rows_are_packed_and_no_dimension_is_widened(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """At 128 columns the same program needs 31.15 GiB, as all tables double."""
    first, *others = asked(tables, "remedies", "base", top=None)
    assert (first["rule_id"], first["subject"]) == (
        "pack_rows",
        "copy of state['params']['tables']['user'] in another layout (copy.49):"
        " 64 of 128 lanes, 6.00 GiB for 3.00 GiB of data",
    )
    assert (first["source_file"], first["source_line"]) == ("/home/me/rec.py", 20)
    assert first["cost"] == "a change of the program and of its weights"
    assert [row["rule_id"] for row in others] == ["halve_element", "halve_moment"]


def test_packing_saves_at_least_what_is_promised(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    promised = asked(tables, "remedies", "base")[0]["saved_reserved_bytes"]
    [base], [packed] = (
        asked(tables, "peak_by_space", run) for run in ("base", "packed")
    )
    measured = base["reserved_bytes"] - packed["reserved_bytes"]
    assert 0.8 * measured <= promised <= measured
    rules = {row["rule_id"] for row in asked(tables, "remedies", "packed", top=None)}
    assert rules.isdisjoint({"pack_rows", "fill_tile"})

"""Numbers that are known from the seed documents, down to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

GPU = "000_04aa0d3336074bf8"
TPU = "003_a3085531593bac68"


@pytest.fixture(scope="module")
def seeds(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[duckdb.DuckDBPyConnection]:
    path: Path = tmp_path_factory.mktemp("seeds") / "seeds.duckdb"
    ingest([str(DATA / "seeds")], path)
    with connect(path) as connection:
        yield connection


def ask(
    connection: duckdb.DuckDBPyConnection, name: str, *columns: str, **values: Value
) -> list[tuple[Any, ...]]:
    result = run_query(connection, name, values)
    return list(zip(*(result.column(c) for c in columns), strict=True))


def test_leverage_is_not_size(seeds: duckdb.DuckDBPyConnection) -> None:
    """16 MiB in colour 1 free nothing, 8,192 bytes on the GPU free 1,024."""
    rows = ask(
        seeds,
        "peak_leverage",
        *("instruction", "shape_index", "size_bytes", "leverage_bytes"),
        program=TPU,
        color=1,
    )
    assert rows == [
        ("copy-start", "{0}", 58720256, 58720256),
        ("fusion.12", None, 14680064, 14680064),
        ("copy-start.1", "{0}", 16777216, 0),
        ("fusion", None, 16777216, 0),
    ]
    rows = ask(
        seeds,
        "peak_leverage",
        *("instruction", "size_bytes", "leverage_bytes"),
        program=GPU,
    )
    assert ("input_fusion_scatter", 8192, 1024) in rows


def test_competing_numbers_side_by_side(seeds: duckdb.DuckDBPyConnection) -> None:
    rows = ask(
        seeds, "peak_reconciliation", "definition", "color", "bytes", program=TPU
    )
    assert rows == [
        ("printed_total", None, 299944008),
        ("reserved", 0, 209766464),
        ("reserved", 1, 90177536),
        ("reserved", 2, 8),
        # Less 1,536 thread-local and 48,640 fragmented bytes, and the 32 of the
        # result's table, which is made after the peak.
        ("live_peak", 0, 209766464 - 1536 - 48640 - 32),
        ("live_peak", 1, 90177536),
        ("live_peak", 2, 8),
        ("arguments_outputs_temps", None, 299942472),
        ("printed_live_range_peak", None, 239075356),
    ]
    reasons = dict(
        ask(seeds, "peak_reconciliation", "definition", "reason", program=TPU)
    )
    assert reasons["printed_live_range_peak"] == (
        "listed at step 11: adds all memory spaces, unpadded sizes,"
        " older releases count a tuple element as its pointer table"
    )


def test_fragmentation(seeds: duckdb.DuckDBPyConnection) -> None:
    rows = ask(
        seeds,
        "frag_by_space",
        *("color", "temp_bytes", "fragmentation_bytes"),
        program=TPU,
    )
    assert rows == [(0, 49184, 48640), (1, 90177536, 0), (2, 8, 0)]
    rows = ask(
        seeds, "frag_by_space", "temp_bytes", "temp_live_peak_bytes", program=GPU
    )
    assert rows == [(13456, 13376)]


def test_parts_of_an_arena_add_up(seeds: duckdb.DuckDBPyConnection) -> None:
    rows = ask(seeds, "frag_breakdown", "part", "part_bytes", program=GPU)
    assert rows == [("live", 13376), ("alignment_gap", 64), ("time_hole", 16)]


def test_result_that_nothing_reads(seeds: duckdb.DuckDBPyConnection) -> None:
    rows = ask(
        seeds,
        "dead_values",
        *("instruction", "shape_index", "size_bytes", "start_step", "end_step"),
        program=TPU,
    )
    assert rows == [("all-reduce.28", "{1}", 512, 12, 12)]


def test_legal_touches_and_no_conflict(seeds: duckdb.DuckDBPyConnection) -> None:
    assert ask(seeds, "overlap_conflicts", "verdict") == []
    rows = ask(seeds, "overlap_conflicts", "verdict", in_place=True, program=GPU)
    assert set(rows) == {("in_place",)}


def test_every_check_holds(seeds: duckdb.DuckDBPyConnection) -> None:
    assert ask(seeds, "self_consistency", "check_name", only_faults=True) == []
    assert ask(seeds, "referential_integrity", "reference", only_faults=True) == []

"""Parquet has what CSV has, with types, as DuckDB and Arrow read it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from hlodb.reports.model.report import Report
from hlodb.reports.render.forms import BINARY_FORMATS, rendered, renderer
from hlodb.text import plain
from tests.reports.situations import EACH

TYPES = {"id": "VARCHAR", "rank": "BIGINT", "delta_bytes": "BIGINT"}
TYPES |= {"delta_ratio": "DOUBLE", "buffer_count": "BIGINT", "margin": "DOUBLE"}

Reported = Callable[[str], Report]


@pytest.mark.parametrize("form", BINARY_FORMATS)
@pytest.mark.parametrize("name", EACH)
def test_parquet_has_the_rows_of_csv(
    reported: Reported, tmp_path: Path, name: str, form: str
) -> None:
    report, path = reported(name), tmp_path / "table.parquet"
    path.write_bytes(rendered(report, form))
    with duckdb.connect() as connection:
        found = connection.sql(f"FROM '{path}'")
        rows = found.fetchall()
    header, *expected = csv.reader(
        io.StringIO(renderer(form.replace("parquet", "csv"))(report))
    )
    assert found.columns == header
    types = dict(zip(found.columns, map(str, found.types), strict=True))
    assert {n: t for n, t in types.items() if n in TYPES} == {
        n: t for n, t in TYPES.items() if n in types
    }
    doubles = [types[name] == "DOUBLE" for name in header]
    # CSV tells no empty text from NULL.
    assert [[None if v == "" else v for v in row] for row in rows] == [
        [
            (float(text) if text else None) if is_double else _read(text, types[column])
            for text, column, is_double in zip(row, header, doubles, strict=True)
        ]
        for row in expected
    ]


def _read(text: str, type_: str) -> str | int | None:
    """Return a field of CSV, where NULL is nothing, as does an empty text."""
    return int(text) if text and type_ == "BIGINT" else text or None


def test_columns_of_parquet_say_their_unit(reported: Reported) -> None:
    written = rendered(reported("one_regression"), "parquet")
    schema = pq.read_schema(io.BytesIO(written))
    assert schema.field("delta_bytes").metadata[b"unit"] == b"bytes"
    assert schema.field("delta_ratio").metadata[b"unit"] == b"ratio"


def test_bytes_that_no_double_holds_are_exact_in_parquet(reported: Reported) -> None:
    report = reported("huge_bytes")
    (row,) = pq.read_table(io.BytesIO(rendered(report, "parquet"))).to_pylist()
    assert row["base_bytes"] == 2**53 + 1
    assert plain(row["base_bytes"]) in renderer("csv")(report)

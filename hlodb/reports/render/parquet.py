"""Tables of the report as Parquet: those of CSV, with types and units of columns.

Bytes are 64-bit integers; limits and values of gates, which may also be shares, are
doubles.
"""

from __future__ import annotations

import io

from hlodb.queries.render.arrow import write_parquet
from hlodb.queries.result import Result, Row
from hlodb.reports.model.report import Report
from hlodb.reports.render import tables


def render_findings(report: Report) -> bytes:
    """Return one row per finding, with its cause."""
    return _file(tables.findings(report))


def render_gates(report: Report) -> bytes:
    """Return one row per row of the gate table."""
    return _file(tables.gates(report))


def render_programs(report: Report) -> bytes:
    """Return one row per program and memory space."""
    return _file(tables.programs(report))


def render_parts(report: Report) -> bytes:
    """Return one row per part of every waterfall; parts of a finding add up to it."""
    return _file(tables.parts(report))


def _file(result: Result) -> bytes:
    doubles = [column.type == "DOUBLE" for column in result.columns]
    rows: list[Row] = [
        tuple(
            float(value) if is_double and value is not None else value
            for value, is_double in zip(row, doubles, strict=True)
        )
        for row in result.rows
    ]
    written = io.BytesIO()
    write_parquet(Result(result.columns, rows), written)
    return written.getvalue()

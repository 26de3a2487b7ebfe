"""Tables of the report for other tools: RFC 4180, bytes exact, NULL is empty."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from hlodb.queries.render.forms import write_csv
from hlodb.queries.result import Result, plain_column
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.read.causes import Cause
from hlodb.reports.read.differences import Part
from hlodb.reports.read.programs import ProgramRow

_FINDING = (
    "id",
    "scope",
    "state",
    "change",
    "rule",
    "program",
    "base_program",
    "rank",
    "color",
    "space",
    "metric",
    "base_run",
    "candidate_run",
    "first_run",
    "base_bytes",
    "candidate_bytes",
    "delta_bytes",
    "delta_ratio",
    "delta_live_peak_bytes",
    "relevance",
    "residual_bytes",
    "match_method",
    "match_confidence",
    "owner",
)

_TYPES = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}

Named = tuple[str, type, str]
"""A column's name, and the record and field that it is of."""


def render_findings(report: Report) -> str:
    """Return one row per finding, with its cause."""
    columns = [(name, Finding, name) for name in _FINDING]
    causes = [(f"cause_{name}", Cause, name) for name in ("key", "title")]
    rows = (
        (*_values(f, _FINDING), *_values(f.cause, ("key", "title", "blame")))
        for f in report.findings
    )
    return _text([*columns, *causes, ("blame", Cause, "blame")], rows)


def render_gates(report: Report) -> str:
    """Return one row per row of the gate table."""
    return _records(Gate, report.gates)


def render_programs(report: Report) -> str:
    """Return one row per program and memory space."""
    return _records(ProgramRow, report.programs)


def render_parts(report: Report) -> str:
    """Return one row per part of every waterfall; parts of a finding add up to it."""
    of_finding = ("id", "program", "space")
    of_part = ("part", "kind", "delta_bytes", "buffer_count")
    rows = (
        (*_values(f, of_finding), *_values(part, of_part))
        for f in report.findings
        for part in f.parts
    )
    columns: list[Named] = [(name, Finding, name) for name in of_finding]
    return _text([*columns, *((name, Part, name) for name in of_part)], rows)


def _records(kind: type[Gate] | type[ProgramRow], found: Sequence[object]) -> str:
    names = tuple(field.name for field in fields(kind))
    rows = (_values(record, names) for record in found)
    return _text([(name, kind, name) for name in names], rows)


def _text(columns: Iterable[Named], rows: Iterable[tuple[Any, ...]]) -> str:
    described = (
        plain_column(name, _type(kind, field)) for name, kind, field in columns
    )
    written = io.BytesIO()
    write_csv(Result(tuple(described), [*rows]), written)
    return written.getvalue().decode()


def _values(record: object, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(record, name, None) for name in names)


def _type(kind: type, field: str) -> str:
    """Return the SQL type of a field; one that may be a float or an int is a float."""
    hint = get_type_hints(kind)[field]
    allowed = {*(get_args(hint) or (hint,))} - {type(None)}
    return _TYPES[float if float in allowed else allowed.pop()]

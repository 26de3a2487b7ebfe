"""Tables of the report for other tools: RFC 4180, bytes exact, NULL is empty."""

from __future__ import annotations

import io

from hlodb.queries.render.forms import write_csv
from hlodb.queries.result import Result
from hlodb.reports.judge.report import Report
from hlodb.reports.render import tables


def render_findings(report: Report) -> str:
    """Return one row per finding, with its cause."""
    return _text(tables.findings(report))


def render_gates(report: Report) -> str:
    """Return one row per row of the gate table."""
    return _text(tables.gates(report))


def render_programs(report: Report) -> str:
    """Return one row per program and memory space."""
    return _text(tables.programs(report))


def render_parts(report: Report) -> str:
    """Return one row per part of every waterfall; parts of a finding add up to it."""
    return _text(tables.parts(report))


def _text(result: Result) -> str:
    written = io.BytesIO()
    write_csv(result, written)
    return written.getvalue().decode()

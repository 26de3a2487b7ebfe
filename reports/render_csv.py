"""Tables of the report for other tools: RFC 4180, bytes exact, NULL is empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import fields

from hlodb.queries.render import plain
from hlodb.reports.model import Gate, ProgramRow, Report
from hlodb.reports.model_findings import Finding

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


def render_findings(report: Report) -> str:
    """Give one row per finding, with its cause."""
    header = (*_FINDING, "cause_key", "cause_title", "blame")
    return _table(header, (_finding_row(f) for f in report.findings))


def _finding_row(f: Finding) -> list[object]:
    cause = (f.cause.key, f.cause.title, f.cause.blame) if f.cause else (None,) * 3
    return [*(getattr(f, name) for name in _FINDING), *cause]


def render_gates(report: Report) -> str:
    """Give one row per row of the gate table."""
    return _records(Gate, report.gates)


def render_programs(report: Report) -> str:
    """Give one row per program and memory space."""
    return _records(ProgramRow, report.programs)


def render_parts(report: Report) -> str:
    """Give one row per part of every waterfall; parts of a finding add up to it."""
    header = ("id", "program", "space", "part", "kind", "delta_bytes", "buffer_count")
    rows = (
        (f.id, f.program, f.space, p.part, p.kind, p.delta_bytes, p.buffer_count)
        for f in report.findings
        for p in f.parts
    )
    return _table(header, rows)


def _records(kind: type[Gate] | type[ProgramRow], found: Sequence[object]) -> str:
    names = [field.name for field in fields(kind)]
    return _table(names, ([getattr(one, name) for name in names] for one in found))


def _table(header: Sequence[str], found: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows([plain(value) for value in row] for row in found)
    return text.getvalue()

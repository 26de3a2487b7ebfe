"""The report as JSON."""

from __future__ import annotations

from dataclasses import replace

from hlodb.printed_commands import with_db
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Report, plain
from hlodb.text import json_text


def render(report: Report) -> str:
    """Return the whole model; bytes are integers, also beyond 2^53."""
    named = replace(report, findings=_with_db(report))
    return json_text(plain(named), indent=1) + "\n"


def _with_db(report: Report) -> list[Finding]:
    """Return the findings; their commands name the warehouse where they have to."""
    return [
        replace(f, commands=[with_db(line, report.db) for line in f.commands])
        for f in report.findings
    ]

"""The model as JSON, and its findings as one JSON object to a line."""

from __future__ import annotations

import json
from dataclasses import asdict

from hlodb.reports.model import Report


def render(report: Report) -> str:
    """Give the whole model; bytes are integers, also beyond 2^53."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=1) + "\n"


def render_lines(report: Report) -> str:
    """Give one finding per line, with the report it belongs to."""
    head = {
        "report_schema": report.report_schema,
        "report_id": report.report_id,
        "verdict": report.verdict,
    }
    lines = [
        json.dumps({**head, **asdict(finding)}, ensure_ascii=False)
        for finding in report.findings
    ]
    return "".join(f"{line}\n" for line in lines)

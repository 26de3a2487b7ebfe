"""The model as JSON, and its findings as one JSON object to a line."""

from __future__ import annotations

from hlodb.reports.model.report import Report, plain
from hlodb.text import json_text


def render(report: Report) -> str:
    """Return the whole model; bytes are integers, also beyond 2^53."""
    return json_text(plain(report), indent=1) + "\n"


def render_lines(report: Report) -> str:
    """Return one finding per line, with the report it belongs to."""
    head = {
        "report_schema": report.report_schema,
        "report_id": report.report_id,
        "verdict": report.verdict,
    }
    lines = [json_text({**head, **plain(f)}) for f in report.findings]
    return "".join(f"{line}\n" for line in lines)

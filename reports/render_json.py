"""The model as JSON, and its findings as one JSON object to a line."""

from __future__ import annotations

from typing import Any

from hlodb.reports.model import Report
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


def plain(value: Any) -> Any:
    """Return records of the model as dictionaries: dataclasses.asdict copies more."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is None:
        return value
    published = (name for name, field in fields.items() if field.repr)
    return {name: plain(getattr(value, name)) for name in published}

"""Every form of the report: each a pure function from the model to text."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from hlodb.reports.model import Report

FORMATS = {
    "text": "hlodb.reports.render_text:render",
    "markdown": "hlodb.reports.render_markdown:render",
    "summary": "hlodb.reports.render_markdown:render_summary",
    "comment": "hlodb.reports.render_markdown:render_comment",
    "html": "hlodb.reports.render_html:render",
    "json": "hlodb.reports.render_json:render",
    "jsonl": "hlodb.reports.render_json:render_lines",
    "junit": "hlodb.reports.render_junit:render",
    "sarif": "hlodb.reports.render_sarif:render",
    "slack": "hlodb.reports.render_slack:render",
    "github": "hlodb.reports.render_github:render",
    "benchmark": "hlodb.reports.render_benchmark:render_benchmark",
    "bencher": "hlodb.reports.render_benchmark:render_bencher",
    "openmetrics": "hlodb.reports.render_openmetrics:render",
    "csv": "hlodb.reports.render_csv:render_findings",
    "csv-gates": "hlodb.reports.render_csv:render_gates",
    "csv-parts": "hlodb.reports.render_csv:render_parts",
    "csv-programs": "hlodb.reports.render_csv:render_programs",
}
"""Where each form is written: summary and comment are Markdown within GitHub's limits,
html is a page with pictures, slack what its incoming webhooks take, github is
annotations of a workflow, benchmark is customSmallerIsBetter."""

Renderer = Callable[[Report], str]


def renderer(form: str) -> Renderer:
    """Give the function that renders `form`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found

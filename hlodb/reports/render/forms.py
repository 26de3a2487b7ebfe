"""Every form of the report: each a pure function from the model to text or bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from hlodb.reports.model.report import Report

FORMATS = {
    "text": "hlodb.reports.render.text:render",
    "markdown": "hlodb.reports.render.markdown:render",
    "summary": "hlodb.reports.render.markdown:render_summary",
    "comment": "hlodb.reports.render.markdown:render_comment",
    "html": "hlodb.reports.render.html:render",
    "json": "hlodb.reports.render.json:render",
    "jsonl": "hlodb.reports.render.json:render_lines",
    "junit": "hlodb.reports.render.junit:render",
    "sarif": "hlodb.reports.render.sarif:render",
    "slack": "hlodb.reports.render.slack:render",
    "email": "hlodb.reports.render.email:render",
    "github": "hlodb.reports.render.github:render",
    "benchmark": "hlodb.reports.render.benchmark:render_benchmark",
    "bencher": "hlodb.reports.render.benchmark:render_bencher",
    "conbench": "hlodb.reports.render.conbench:render",
    "openmetrics": "hlodb.reports.render.openmetrics:render",
    "csv": "hlodb.reports.render.csv:render_findings",
    "csv-gates": "hlodb.reports.render.csv:render_gates",
    "csv-parts": "hlodb.reports.render.csv:render_parts",
    "csv-programs": "hlodb.reports.render.csv:render_programs",
}
"""Where each form is written: summary and comment are Markdown within GitHub's limits,
html is a page with pictures, slack what its incoming webhooks take, github is
annotations of a workflow, benchmark is customSmallerIsBetter."""

BINARY_FORMATS = {
    "parquet": "hlodb.reports.render.parquet:render_findings",
    "parquet-gates": "hlodb.reports.render.parquet:render_gates",
    "parquet-parts": "hlodb.reports.render.parquet:render_parts",
    "parquet-programs": "hlodb.reports.render.parquet:render_programs",
}
"""Where forms that no terminal shows are written."""

_PEOPLE = frozenset({"waste"})
_SHOWN = {
    "html": frozenset({"waste", "series", "pictures"}),
    "json": frozenset({"waste", "series"}),
    **dict.fromkeys(("text", "markdown", "summary", "comment", "email"), _PEOPLE),
}
"""What each form shows of the sections that take long to read; others show none."""


def shown_by(forms: Iterable[str]) -> frozenset[str]:
    """Return the sections that take long to read and any of `forms` shows."""
    return frozenset().union(*(_SHOWN.get(form, frozenset()) for form in forms))


Renderer = Callable[[Report], str]


def renderer(form: str) -> Renderer:
    """Return the function that renders `form` as text."""
    found: Renderer = _function(FORMATS[form])
    return found


def rendered(report: Report, form: str) -> bytes:
    """Return a report in any form, as it is written."""
    if form in FORMATS:
        return renderer(form)(report).encode()
    written: bytes = _function(BINARY_FORMATS[form])(report)
    return written


def _function(place: str) -> Callable[[Report], Any]:
    module, _, name = place.partition(":")
    found: Callable[[Report], Any] = getattr(import_module(module), name)
    return found

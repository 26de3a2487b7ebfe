"""Every format of the report: each a pure function from the report to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from hlodb.reports.judge.report import Report

FORMATS = {
    "text": "hlodb.reports.render.text:render",
    "markdown": "hlodb.reports.render.markdown:render",
    "summary": "hlodb.reports.render.markdown:render_summary",
    "comment": "hlodb.reports.render.markdown:render_comment",
    "html": "hlodb.reports.render.html:render",
    "json": "hlodb.reports.render.json:render",
    "compact": "hlodb.reports.render.compact:render",
    "junit": "hlodb.reports.render.junit:render",
    "sarif": "hlodb.reports.render.sarif:render",
    "slack": "hlodb.reports.render.slack:render",
    "github": "hlodb.reports.render.github:render",
    "benchmark": "hlodb.reports.render.benchmark:render",
    "openmetrics": "hlodb.reports.render.openmetrics:render",
    "csv": "hlodb.reports.render.csv:render_findings",
    "csv-gates": "hlodb.reports.render.csv:render_gates",
    "csv-parts": "hlodb.reports.render.csv:render_parts",
    "csv-programs": "hlodb.reports.render.csv:render_programs",
}
"""Where each form is written: summary and comment are Markdown within GitHub's limits,
compact is short JSON, html a page with pictures, slack what its incoming webhooks take,
github is annotations of a workflow, benchmark what github-action-benchmark takes."""

_PEOPLE = frozenset({"waste"})
_SHOWN = {
    "html": frozenset({"waste", "series", "pictures"}),
    "json": frozenset({"waste", "series"}),
    **dict.fromkeys(("text", "markdown", "summary", "comment"), _PEOPLE),
}
"""What each form shows of the sections that take long to read; others show none."""


def shown_by(forms: Iterable[str]) -> frozenset[str]:
    """Return the sections that take long to read and any of `forms` shows."""
    return frozenset().union(*(_SHOWN.get(form, frozenset()) for form in forms))


Renderer = Callable[[Report], str]


def renderer(form: str) -> Renderer:
    """Return the function that renders `form` as text."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found

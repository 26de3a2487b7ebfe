"""A message for an incoming webhook of Slack: headline, why, ten rows, where to look.

Its form and limits are those of Slack's Block Kit: a header of 150 characters, sections
of 3,000 (https://docs.slack.dev/reference/block-kit/blocks).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hlodb.reports.document.blocks import Block, Commands, Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.document.escape import middle_cut, slack
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import called, memory, shared_names, state_words
from hlodb.reports.judge.report import Report
from hlodb.text import json_text, plain_bytes, signed_bytes, signed_percent, visible

MOST_ROWS = 10
HEADER_CHARACTERS = 150
SECTION_CHARACTERS = 3000
_NAME_CHARACTERS = 60


def render(report: Report) -> str:
    """Return the message as JSON; `text` is what a notification shows."""
    header = middle_cut(visible(report.headline), HEADER_CHARACTERS)
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": header}},
        *map(_section, filter(None, (_brief(brief(report)), _table(report)))),
        {"type": "context", "elements": [_text(_context(report))]},
    ]
    message = {"text": slack(report.headline), "blocks": blocks}
    return json_text(message, indent=1) + "\n"


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": _text(text)}


def _text(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def _brief(blocks: Iterable[Block]) -> str:
    """Return the brief: why, likely cause and what to do, cut to its beginning."""
    lines = []
    for block in blocks:
        if isinstance(block, Paragraph):
            lines.append(slack(middle_cut(block.text, 500)))
        elif isinstance(block, Commands):
            lines += [f"`{slack(middle_cut(line, 300))}`" for line in block.lines]
    return _within("\n".join(lines))


def _table(report: Report) -> str:
    """Return the moved programs, at most ten rows, and the number of others."""
    moved = [f for f in report.findings if f.scope == "candidate" and f.delta_bytes]
    shared = shared_names(report)
    lines = [_row(f, called(f, shared)) for f in moved[:MOST_ROWS]]
    if len(moved) > MOST_ROWS:
        lines.append(f"[{len(moved) - MOST_ROWS} others]")
    return f"```{_within(chr(10).join(lines), 6)}```" if lines else ""


def _row(f: Finding, who: str) -> str:
    sizes = f"{plain_bytes(f.base_bytes)} → {plain_bytes(f.candidate_bytes)}"
    delta = f"{signed_bytes(f.delta_bytes)} ({signed_percent(f.delta_ratio)})"
    name = middle_cut(who, _NAME_CHARACTERS)
    return slack(f"{name} {memory(f)} {sizes}, {delta}, {state_words(f.state)}")


def _context(report: Report) -> str:
    """Return the names of the compared runs, and the link of hlodb.toml."""
    c = report.comparison
    base = f" compared with {c.base.name}" if c.base else ""
    text = slack(middle_cut(f"{c.candidate.name}{base}", 500))
    link = report.settings.get("link", "None")
    if link == "None":
        return text
    return f"{text} · <{slack(link).replace('|', '%7C')}|the whole report>"


def _within(text: str, more: int = 0) -> str:
    """Leave out lines at the end until `text`, and `more` around it, fit a section."""
    lines = text.split("\n")
    while len("\n".join(lines)) + more > SECTION_CHARACTERS:
        lines.pop()
    return "\n".join(lines)

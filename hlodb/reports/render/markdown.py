"""The report as GitHub Markdown; whole, or within the limits of where it is shown.

A step summary above 1,024 KiB is refused whole, and so is a comment above 65,536
characters: sections are dropped from the bottom, and a line says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hlodb.reports.document.blocks import (
    Block,
    Card,
    Commands,
    Paragraph,
    Section,
    Table,
)
from hlodb.reports.document.escape import html, markdown
from hlodb.text import visible

if TYPE_CHECKING:
    from hlodb.reports.judge.report import Report

SUMMARY_BYTES = 1024 * 1024
COMMENT_BYTES = 64 * 1000
TOP = 10
TOP_WHOLE = 1000


def render(report: Report) -> str:
    """Return the whole report."""
    return _document(report, TOP_WHOLE, None, "")


def render_summary(report: Report) -> str:
    """Return a step summary of at most 1,024 KiB."""
    return _document(report, 100, SUMMARY_BYTES, "")


def render_comment(report: Report) -> str:
    """Return a comment of at most 64 kB; its first line names the comment to update."""
    return _document(report, TOP, COMMENT_BYTES, f"{comment_marker(report)}\n")


def comment_marker(report: Report) -> str:
    """Return the hidden line by which a comment is found again."""
    series = (report.comparison.series or "runs").replace("--", "").replace(">", "")
    return f"<!-- hlodb-report: {markdown(series)} -->"


def _document(report: Report, top: int, limit: int | None, marker: str) -> str:
    head = f"{marker}## {markdown(report.headline)}\n"
    # Loaded when needed: an explanation is written without it.
    from hlodb.reports.document.report import outline

    sections = [_section(section) for section in outline(report, top)]
    footer = f"\n<sub>hlodb {report.hlodb_version}, report {report.report_id}</sub>\n"
    if limit is None:
        return head + "".join(sections) + footer
    return (
        head[:limit] + _fitted(sections, limit, len((head + footer).encode())) + footer
    )


def _fitted(sections: Sequence[str], limit: int, used: int) -> str:
    """Return the first sections that fit, and a line that counts those that don't."""
    note_bytes = 120
    kept: list[str] = []
    for place, section in enumerate(sections):
        size = len(section.encode())
        is_last = place == len(sections) - 1
        if used + size + (0 if is_last else note_bytes) > limit:
            left = len(sections) - place
            kept.append(
                f"\n_{left} more sections are left out: see the whole report._\n"
            )
            break
        kept.append(section)
        used += size
    return "".join(kept)


def document(headline: str, sections: Iterable[Section]) -> str:
    """Return a headline and sections, whole."""
    return f"## {markdown(headline)}\n" + "".join(map(_section, sections))


def _section(section: Section) -> str:
    lines = ["", f"### {section.title}", ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    return "\n".join(lines)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield markdown(text)
        case Commands(lines):
            yield from _fenced(lines)
        case Card(title, blocks, _):
            yield f"<details><summary>{_html(title)}</summary>"
            yield ""
            for each in blocks:
                yield from _block(each)
                yield ""
            yield "</details>"
        case Table():
            yield from _table(block)


def _html(text: str) -> str:
    return html(text).replace("@", "&#64;")


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Fence with more backticks than the text holds in a row."""
    text = [visible(line) for line in lines]
    fence = "```"
    while any(fence in line for line in text):
        fence += "`"
    yield f"{fence}sh"
    yield from text
    yield fence


def _table(table: Table) -> Iterator[str]:
    yield _row([markdown(name) for name in table.header])
    yield _row(
        ["---:" if i in table.numeric else "---" for i in range(len(table.header))]
    )
    for row in table.rows:
        yield _row([markdown(cell) for cell in row])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"

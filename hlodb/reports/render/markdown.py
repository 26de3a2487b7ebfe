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
    # Loaded when needed: an explanation is written without it.
    from hlodb.reports.document.report import outline

    sections = outline(report, TOP_WHOLE)
    return f"{_head(report)}{''.join(map(_section, sections))}{_foot(report)}"


def render_summary(report: Report) -> str:
    """Return a step summary of at most 1,024 KiB."""
    from hlodb.reports.document.report import outline_with_words

    sections = outline_with_words(report, 100, has_warehouse=False)
    return _fitted(_head(report), map(_section, sections), report, SUMMARY_BYTES)


def render_comment(report: Report) -> str:
    """Return a comment of at most 64 kB; its first line names the comment to update.

    It says what is in short, and has the rest folded.
    """
    from hlodb.reports.document.report import SAID_FIRST, outline_with_words

    head = f"{comment_marker(report)}\n{_head(report)}"
    sections = (
        _section(section) if section.title == SAID_FIRST else _folded(section)
        for section in outline_with_words(report, TOP, has_warehouse=False)
    )
    return _fitted(head, sections, report, COMMENT_BYTES)


def comment_marker(report: Report) -> str:
    """Return the hidden line by which a comment is found again."""
    series = (report.comparison.series or "runs").replace("--", "").replace(">", "")
    return f"<!-- hlodb-report: {markdown(series)} -->"


def _head(report: Report) -> str:
    return f"## {markdown(report.headline)}\n"


def _foot(report: Report) -> str:
    return f"\n<sub>hlodb {report.hlodb_version}, report {report.report_id}</sub>\n"


def _fitted(head: str, sections: Iterable[str], report: Report, limit: int) -> str:
    """Return the first sections that fit, and a line that counts those that don't."""
    note_bytes = 120
    kept = [head[:limit]]
    waiting = [*sections]
    used = len((head + _foot(report)).encode())
    for place, section in enumerate(waiting):
        size = len(section.encode())
        is_last = place == len(waiting) - 1
        if used + size + (0 if is_last else note_bytes) > limit:
            left = len(waiting) - place
            kept.append(
                f"\n_{left} more sections are left out: see the whole report._\n"
            )
            break
        kept.append(section)
        used += size
    return f"{''.join(kept)}{_foot(report)}"


def document(headline: str, sections: Iterable[Section]) -> str:
    """Return a headline and sections, whole."""
    return f"## {markdown(headline)}\n" + "".join(map(_section, sections))


def _section(section: Section) -> str:
    lines = ["", f"### {section.title}", ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    return "\n".join(lines)


def _folded(section: Section) -> str:
    lines = ["", f"<details><summary>{section.title}</summary>", ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    return "\n".join([*lines, "</details>", ""])


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield markdown(text)
        case Commands(lines, language):
            yield from _fenced(lines, language)
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


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """Fence with more backticks than the text holds in a row."""
    text = [visible(line) for line in lines]
    fence = "```"
    while any(fence in line for line in text):
        fence += "`"
    yield f"{fence}{language}"
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

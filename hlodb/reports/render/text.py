"""The report for a terminal: aligned tables and wrapped text, in colour if wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len

from hlodb.queries.query import Column
from hlodb.queries.render.narrow import folded, narrow
from hlodb.reports.document.blocks import (
    Block,
    Card,
    Commands,
    Paragraph,
    Section,
    Table,
)
from hlodb.text import BYTE_UNITS, text_width, visible

if TYPE_CHECKING:
    from hlodb.reports.judge.report import Report

TOP = 10
_LEAST_WIDTH = 40

_GREEN, _RED, _YELLOW, _BOLD, _PLAIN = (f"\x1b[{n}m" for n in (32, 31, 33, 1, 0))
_VERDICTS = {"pass": _GREEN, "warn": _YELLOW, "fail": _RED, "unknown": _YELLOW}
_STATES = {
    "FAIL": _RED,
    "GATING": _RED,
    "WARN": _YELLOW,
    "PASS": _GREEN,
    "WAIVED": _YELLOW,
    "worse": _RED,
    "missing": _RED,
    "mixed": _YELLOW,
    "improved": _GREEN,
    "fixed": _GREEN,
}
_COLOURED = re.compile(
    rf"(?<!\S)(?P<lack>-[\d,.]+ (?:{'|'.join(BYTE_UNITS)}))(?=\s+oom$)"
    rf"|(?<![^\s(])(?P<rise>\+)?(?P<fall>-)?(?(rise)|(?(fall)|(?!)))"
    rf"[\d,.]+ (?:{'|'.join(BYTE_UNITS)}|%)(?!\w)"
    rf"|(?<!\S)(?P<state>{'|'.join(_STATES)})$"
    r"|^(?P<status>FAIL|WARN|PASS|WAIVED|GATING)(?!\S)",
    re.MULTILINE,
)


def render_coloured(report: Report) -> str:
    """Return the report with colours: memory that grew is red.

    A diff judges nothing: its headline is red where anything is worse.
    """
    verdict = report.verdict
    if report.kind == "diff":
        verdict = "fail" if any(map(report.counts.get, ("worse", "mixed"))) else ""
    return coloured(render(report), verdict)


def coloured(text: str, verdict: str) -> str:
    """Return text with its headline in the colour of a verdict, and its differences.

    Negative bytes before the status `oom` are lacking: they are no fall.
    """
    headline, newline, rest = text.partition("\n\n")
    color = _VERDICTS.get(verdict, "")
    return f"{_BOLD}{color}{headline}{_PLAIN}{newline}{_COLOURED.sub(_color, rest)}"


def _color(match: re.Match[str]) -> str:
    if word := match["state"] or match["status"]:
        return f"{_STATES[word]}{word}{_PLAIN}"
    is_bad = match["rise"] or match["lack"]
    return f"{_RED if is_bad else _GREEN}{match[0]}{_PLAIN}"


def render(report: Report) -> str:
    """Return the report as text that fits the terminal, or COLUMNS."""
    # Loaded when needed: an explanation is written without it.
    from hlodb.reports.document.report import outline_with_words

    sections = outline_with_words(report, TOP, has_warehouse=True)
    return document(report.headline, sections)


def document(headline: str, sections: Iterable[Section]) -> str:
    """Return a headline and sections as text of `text_width`, at least 40 columns."""
    width = max(text_width(), _LEAST_WIDTH)
    lines = [*_wrapped(headline, "", width)]
    for section in sections:
        lines += ["", section.title, "─" * len(section.title)]
        for block in section.blocks:
            lines += _block(block, "", width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block, indent: str, width: int) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield from _wrapped(text, indent, width)
        case Commands(lines):
            # Never wrapped: they are to be pasted.
            for line in lines:
                yield f"{indent}$ {visible(line)}"
        case Card(title, blocks, _):
            yield from _wrapped(title, indent, width)
            for each in blocks:
                yield from _block(each, indent + "    ", width)
            yield ""
        case Table():
            yield from _table(block, indent, width)


def _wrapped(text: str, indent: str, width: int) -> Iterator[str]:
    room, line = width - len(indent), ""
    for word in visible(text).split(" "):
        if line and cell_len(line) + 1 + cell_len(word) > room:
            yield indent + line
            line = ""
        *full, rest = folded(word, room)
        yield from (indent + part for part in full)
        line = f"{line} {rest}" if line else rest
    yield indent + line


def _table(table: Table, indent: str, width: int) -> Iterator[str]:
    cells = [[visible(cell) for cell in row] for row in table.rows]
    header = [visible(name) for name in table.header]
    widths = [max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    if len(indent) + sum(widths) + 2 * len(widths) - 2 > width:
        columns = tuple(
            Column(name, "VARCHAR", "bytes" if i in table.numeric else "text", "", "")
            for i, name in enumerate(table.header)
        )
        lines = narrow(columns, cells, width - len(indent))
        yield from (indent + line for line in lines)
        return
    for row in (header, *cells):
        padded = [
            _pad(cell, width, i in table.numeric)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield (indent + "  ".join(padded)).rstrip()


def _pad(cell: str, width: int, right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return blanks + cell if right else cell + blanks

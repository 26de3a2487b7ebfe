"""The report for a terminal: aligned tables, no colours."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from hlodb.reports.escape import middle_cut
from hlodb.reports.model import Report
from hlodb.reports.outline import outline
from hlodb.reports.outline_blocks import Block, Card, Commands, Paragraph, Table
from hlodb.text import visible

TOP = 10
WIDEST_CELL = 96


def render(report: Report) -> str:
    """Return the report as text; a wide cell is cut in its middle."""
    lines = [visible(report.headline)]
    for section in outline(report, TOP):
        if section.title != "Definitions":
            lines += ["", section.title, "─" * len(section.title)]
            for block in section.blocks:
                lines += _block(block, "")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block, indent: str) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield indent + visible(text)
        case Commands(lines):
            for line in lines:
                yield f"{indent}$ {visible(line)}"
        case Card(title, blocks, _):
            yield indent + visible(title)
            for each in blocks:
                yield from _block(each, indent + "    ")
            yield ""
        case Table():
            yield from _table(block, indent)


def _table(table: Table, indent: str) -> Iterator[str]:
    cells = [
        [middle_cut(visible(cell), WIDEST_CELL) for cell in row] for row in table.rows
    ]
    header = [visible(name) for name in table.header]
    widths = [max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    for row in (header, *cells):
        padded = [
            _pad(cell, width, i in table.numeric)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield (indent + "  ".join(padded)).rstrip()


def _pad(cell: str, width: int, right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return blanks + cell if right else cell + blanks

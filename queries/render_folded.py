"""A table too wide for the terminal: what all rows share stands above, texts fold."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hlodb.queries.query import Column
from hlodb.queries.render_table import LEFT_UNITS, NOTHING, Cells
from hlodb.queries.result import Result
from hlodb.text import visible

_PADDING = 2


def folded(result: Result, cells: Cells, width: int) -> list[str]:
    """Give the lines of a table that is `width` characters wide.

    Columns with the same value in every row move to a line above, if that is needed.
    """
    shared = set() if _natural_width(result, cells) <= width else _shared(cells)
    console = Console(width=width, highlight=False, no_color=True)
    with console.capture() as captured:
        if shared:
            console.print(Text(_shared_line(result, cells[0], shared)))
        console.print(_table(result.columns, cells, shared))
    return [line.rstrip() for line in captured.get().splitlines()]


def _table(columns: tuple[Column, ...], cells: Cells, left_out: set[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    kept = [place for place in range(len(columns)) if place not in left_out]
    for place in kept:
        left = columns[place].unit in LEFT_UNITS
        table.add_column(
            Text(visible(columns[place].name)),
            justify="left" if left else "right",
            no_wrap=not left,
            overflow="fold",
        )
    for row in cells:
        table.add_row(*(Text(row[place]) for place in kept))
    return table


def _natural_width(result: Result, cells: Cells) -> int:
    widths = [
        max(cell_len(text) for text in (name, *(row[place] for row in cells)))
        for place, name in enumerate(result.names)
    ]
    return sum(widths) + _PADDING * len(widths)


def _shared(cells: Cells) -> set[int]:
    if len(cells) < 2:
        return set()
    places = range(len(cells[0]))
    return {p for p in places if all(row[p] == cells[0][p] for row in cells)}


def _shared_line(result: Result, first: list[str], shared: set[int]) -> str:
    shown = [p for p in sorted(shared) if first[p] != NOTHING]
    return "  ".join(f"{result.names[p]}: {first[p]}" for p in shown)

"""The form for people: a table as wide as the terminal, with human units."""

from __future__ import annotations

import shutil
from typing import Any, BinaryIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hlodb.queries.query import Column
from hlodb.queries.render import plain, visible
from hlodb.queries.result import Result

Cells = list[list[str]]

NOTHING = "-"
"""What stands for NULL."""

_SCALES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_LEFT_UNITS = ("name", "text", "flag", "time")
_UNBOUNDED = 1_000_000
_PADDING = 2


def write_table(result: Result, stream: BinaryIO) -> None:
    """Write an aligned table; on a terminal it is fitted to its width.

    Where it doesn't fit, columns with the same value in every row move to a line above.
    """
    terminal = stream.isatty()
    width = shutil.get_terminal_size().columns if terminal else _UNBOUNDED
    cells = [_human_row(row, result.columns) for row in result.rows]
    shared = set() if _natural_width(result, cells) <= width else _shared(cells)
    console = Console(width=width, highlight=False, no_color=True)
    with console.capture() as captured:
        if shared:
            console.print(Text(_shared_line(result, cells[0], shared)))
        console.print(_table(result.columns, cells, shared))
    lines = (line.rstrip() for line in captured.get().splitlines())
    stream.write(("\n".join(lines) + "\n").encode())


def human(value: Any, column: Column) -> str:
    """Give a value for reading: 65.3 MiB, 41.2 %, 12,345; a dash for NULL."""
    match value, column.unit:
        case None, _:
            return NOTHING
        case bool(), _:
            return "yes" if value else "no"
        case int() | float(), "bytes":
            return human_bytes(value)
        case int() | float(), "byte_steps":
            return f"{human_bytes(value)}·steps"
        case int() | float(), "bytes_per_second":
            return f"{human_bytes(value)}/s"
        case int() | float(), "ratio":
            return f"{100 * value:.1f} %"
        case int() | float(), "seconds":
            return f"{value:.2f} s"
        case int(), "id" | "step":
            return str(value)
        case int(), _:
            return f"{value:,}"
        case float(), _:
            return f"{value:,.3f}"
    return visible(plain(value))


def human_bytes(count: int | float) -> str:
    """Give a number of bytes in the largest unit that leaves at least 1."""
    size, scale = float(count), 0
    while abs(size) >= 1024 and scale < len(_SCALES) - 1:
        size, scale = size / 1024, scale + 1
    return f"{size:,.0f} B" if scale == 0 else f"{size:,.2f} {_SCALES[scale]}"


def _human_row(row: tuple[Any, ...], columns: tuple[Column, ...]) -> list[str]:
    return [human(v, column) for v, column in zip(row, columns, strict=True)]


def _table(columns: tuple[Column, ...], cells: Cells, left_out: set[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    kept = [place for place in range(len(columns)) if place not in left_out]
    for place in kept:
        left = columns[place].unit in _LEFT_UNITS
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

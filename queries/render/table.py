"""The form for people: a table that fits the terminal, with human units.

It shows the leading columns of a query, or as many of them as fit, and says how many
more there are. `render_narrow` lays out what is too wide: no number, program or
instruction is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from hlodb.queries.query import Column
from hlodb.queries.result import Result
from hlodb.text import counted, human_bytes, plain, text_width, visible

Cells = list[list[str]]

NOTHING = "-"
"""What stands for NULL."""


LEFT_UNITS = ("name", "text", "flag", "time")
"""Units of columns that are aligned left."""

_BETWEEN = "   "


def write_table(result: Result, stream: BinaryIO) -> None:
    """Write the leading columns as an aligned table, fitted to `text_width`."""
    width = text_width()
    shown = leading_columns(result)
    hidden = len(result.columns) - len(shown.columns)
    cells = [_human_row(row, shown.columns) for row in shown.rows]
    names = [visible(name) for name in shown.names]
    widths = [max(map(_width, column)) for column in zip(names, *cells, strict=True)]
    if sum(widths) + len(_BETWEEN) * (len(widths) - 1) <= width:
        lines = list(_aligned(shown.columns, [names, *cells], widths))
    else:
        # Loaded when needed: it takes longer than most queries.
        from hlodb.queries.render.narrow import narrow, narrow_leading

        if result.leading:
            lines, left_out = narrow_leading(shown.columns, cells, width)
            hidden += left_out
        else:
            lines = narrow(shown.columns, cells, width)
    if not result.rows:
        lines.append("(no rows)")
    if hidden:
        lines.append(f"+{counted(hidden, 'column')}, shown with --wide")
    stream.write(("\n".join(lines) + "\n").encode())


def human(value: Any, column: Column) -> str:
    """Return a value for reading: 65.3 MiB, 41.2 %, 12,345; a dash for NULL."""
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


def leading_columns(result: Result) -> Result:
    """Return a result of the leading columns alone; all where none are named."""
    if not result.leading:
        return result
    places = [result.names.index(name) for name in result.leading]
    columns = tuple(result.columns[place] for place in places)
    return Result(columns, [tuple(row[p] for p in places) for row in result.rows])


def _human_row(row: tuple[Any, ...], columns: tuple[Column, ...]) -> list[str]:
    return [human(v, column) for v, column in zip(row, columns, strict=True)]


def _aligned(
    columns: tuple[Column, ...], rows: Cells, widths: list[int]
) -> Iterator[str]:
    """Yield the lines of a table; the first of `rows` has the names of the columns."""
    left = [column.unit in LEFT_UNITS for column in columns]
    for number, row in enumerate(rows):
        padded = (
            text + blanks if is_left else blanks + text
            for text, blanks, is_left in zip(
                row, _blanks(row, widths), left, strict=True
            )
        )
        yield _BETWEEN.join(padded).rstrip()
        if number == 0:
            yield "─" * (sum(widths) + len(_BETWEEN) * (len(widths) - 1))


def _blanks(row: list[str], widths: list[int]) -> Iterator[str]:
    for text, width in zip(row, widths, strict=True):
        yield " " * (width - _width(text))


def _width(text: str) -> int:
    """Return how many characters of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # as for `narrow`

    return cell_len(text)

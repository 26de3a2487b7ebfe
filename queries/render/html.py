"""A table of HTML, for notebooks: the leading columns with human units."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from hlodb.queries.render.table import LEFT_UNITS, human, leading_columns
from hlodb.queries.result import Result
from hlodb.text import counted, visible

TOP = 50
"""At most this many rows are shown; a line says how many there are."""


def html_table(result: Result) -> str:
    """Return the first rows of a result as an element of a page."""
    return "".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    shown = leading_columns(result)
    yield "<table><thead><tr>"
    for column in shown.columns:
        yield f'<th title="{escape(column.doc)}">{escape(column.name)}</th>'
    yield "</tr></thead><tbody>"
    for row in shown.rows[:TOP]:
        yield "<tr>"
        for value, column in zip(row, shown.columns, strict=True):
            side = "left" if column.unit in LEFT_UNITS else "right"
            text = escape(visible(human(value, column)))
            yield f'<td style="text-align: {side}">{text}</td>'
        yield "</tr>"
    yield "</tbody></table>"
    if notes := list(_notes(result, shown)):
        yield f"<p>{'; '.join(notes)}</p>"


def _notes(result: Result, shown: Result) -> Iterator[str]:
    if len(shown.rows) > TOP:
        yield f"{TOP} of {len(shown.rows):,} rows"
    if hidden := len(result.columns) - len(shown.columns):
        yield f"{counted(hidden, 'more column')} in .df() and .dicts()"

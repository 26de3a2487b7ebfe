"""Rows in, text out: one small function per form, the same values in all of them.

Each takes a Result and a binary stream. Only the form `table` writes sizes for people.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import BinaryIO

from hlodb.queries.result import Result
from hlodb.text import json_text, plain, visible

FORMATS = {
    "table": "hlodb.queries.render.table:write_table",
    "csv": "hlodb.queries.render.forms:write_csv",
    "json": "hlodb.queries.render.forms:write_json",
    "jsonl": "hlodb.queries.render.forms:write_jsonl",
    "compact": "hlodb.queries.render.compact:write_compact",
    "markdown": "hlodb.queries.render.forms:write_markdown",
    "parquet": "hlodb.queries.render.arrow:write_parquet",
    "arrow": "hlodb.queries.render.arrow:write_arrow",
}
"""Where each form is written; a form is loaded when it is asked for."""

BINARY_FORMATS = ("parquet", "arrow")

Writer = Callable[[Result, BinaryIO], None]

_MARKDOWN = re.compile(r"[\\`*<|\[\]~]|(?<!\w)_|_(?!\w)")


def writer(form: str) -> Writer:
    """Return the function that writes `form`."""
    module, _, name = FORMATS[form].partition(":")
    found: Writer = getattr(import_module(module), name)
    return found


def write_csv(result: Result, stream: BinaryIO) -> None:
    """Write RFC 4180 text with a header line; NULL is an empty field."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(result.names)
    rows.writerows([plain(value) for value in row] for row in result.rows)
    stream.write(text.getvalue().encode())


def write_json(result: Result, stream: BinaryIO) -> None:
    """Write one array of objects, a row to a line."""
    rows = ",\n ".join(_json_rows(result))
    stream.write(f"[{rows}]\n".encode())


def write_jsonl(result: Result, stream: BinaryIO) -> None:
    """Write one object to a line."""
    stream.writelines(f"{row}\n".encode() for row in _json_rows(result))


def write_markdown(result: Result, stream: BinaryIO) -> None:
    """Write a table of GitHub Markdown; numbers are aligned right."""
    numeric = [column.type not in ("VARCHAR", "BOOLEAN") for column in result.columns]
    lines = [
        _markdown_line(result.names),
        _markdown_line(("---:" if right else "---" for right in numeric), escape=False),
        *(_markdown_line(map(plain, row)) for row in result.rows),
    ]
    stream.write(("\n".join(lines) + "\n").encode())


def _json_rows(result: Result) -> Iterable[str]:
    for row in result.dicts():
        yield json_text(row)


def _markdown_line(cells: Iterable[str], *, escape: bool = True) -> str:
    shown = [_markdown_text(cell) if escape else cell for cell in cells]
    return f"| {' | '.join(shown)} |"


def _markdown_text(text: str) -> str:
    escaped = _MARKDOWN.sub(lambda m: "\\" + m.group(), text.replace("&", "&amp;"))
    return visible(escaped)

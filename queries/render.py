"""Rows in, text out: one small function per form, the same values in all of them.

Each takes a Result and a binary stream. Only the form `table` writes sizes for people.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from importlib import import_module
from math import isfinite
from typing import Any, BinaryIO

from hlodb.queries.result import Result

FORMATS = {
    "table": "hlodb.queries.render_table:write_table",
    "csv": "hlodb.queries.render:write_csv",
    "json": "hlodb.queries.render:write_json",
    "jsonl": "hlodb.queries.render:write_jsonl",
    "markdown": "hlodb.queries.render:write_markdown",
    "parquet": "hlodb.queries.render_arrow:write_parquet",
    "arrow": "hlodb.queries.render_arrow:write_arrow",
}
"""Where each form is written; a form is loaded when it is asked for."""

BINARY_FORMATS = ("parquet", "arrow")

Writer = Callable[[Result, BinaryIO], None]

# Control characters, and what would turn the reading direction of a terminal.
_HIDDEN = "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_UNSAFE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
# Those below a blank are JSON's own to escape.
_UNSAFE_IN_JSON = re.compile(f"[{_HIDDEN}]")
_MARKDOWN = re.compile(r"[\\`*<|\[\]~]|(?<!\w)_|_(?!\w)")


def writer(form: str) -> Writer:
    """Give the function that writes `form`."""
    module, _, name = FORMATS[form].partition(":")
    found: Writer = getattr(import_module(module), name)
    return found


def visible(text: str) -> str:
    """Give `text` on one line, with `\\n` or `\\u202e` for what does not print."""
    return _UNSAFE.sub(lambda m: m.group().encode("unicode_escape").decode(), text)


def json_text(value: Any, indent: int | None = None) -> str:
    """Give a value as JSON that a terminal can show: `\\u202e` for what does not print.

    Whoever parses it gets every character as it was. NaN and infinity are null.
    """
    text = _dumped(value, indent)
    return _UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def plain(value: object) -> str:
    """Give a value as text, exact and without units; nothing for NULL."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime() | date() | time():
            return value.isoformat()
        case list() | dict() | tuple():
            return _dumped(value)
    return str(value)


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


def _dumped(value: Any, indent: int | None = None) -> str:
    dumps = partial(
        json.dumps,
        ensure_ascii=False,
        indent=indent,
        default=_json_value,
        allow_nan=False,
    )
    try:
        return dumps(value)
    except (TypeError, ValueError):  # a key or a number that JSON doesn't have
        return dumps(_within_json(value))


def _within_json(value: Any) -> Any:
    match value:
        case float() if not isfinite(value):
            return None
        case list() | tuple():
            return [_within_json(part) for part in value]
        case dict():
            return {plain(key): _within_json(part) for key, part in value.items()}
    return value


def _json_value(value: object) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return plain(value)


def _markdown_line(cells: Iterable[str], *, escape: bool = True) -> str:
    shown = [_markdown_text(cell) if escape else cell for cell in cells]
    return f"| {' | '.join(shown)} |"


def _markdown_text(text: str) -> str:
    escaped = _MARKDOWN.sub(lambda m: "\\" + m.group(), text.replace("&", "&amp;"))
    return visible(escaped)

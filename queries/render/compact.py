"""The compact form: columns and units once, rows as arrays of JSON."""

from __future__ import annotations

from typing import Any, BinaryIO

from hlodb.queries.result import Result
from hlodb.text import json_text


def compact(result: Result) -> dict[str, Any]:
    """Return an answer with the unit of each column, by name and in order, and rows.

    `total_rows` counts the rows of the whole answer, of which the first may be here.
    """
    return {
        "columns": {column.name: column.unit for column in result.columns},
        "total_rows": result.total,
        "rows": [list(row) for row in result.rows],
    }


def write_compact(result: Result, stream: BinaryIO) -> None:
    """Write the compact form as one line of JSON."""
    stream.write(f"{json_text(compact(result))}\n".encode())

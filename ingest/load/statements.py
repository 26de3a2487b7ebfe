"""The SQL files of this room, and how one reads Arrow tables as `incoming`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlodb.schema.connection import Connection

if TYPE_CHECKING:
    import pyarrow as pa

_FOLDER = Path(__file__).parent / "sql"


@lru_cache(maxsize=32)
def statement(name: str) -> str:
    """Return the text of `ingest/load/sql/NAME.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def execute_on(
    connection: Connection, text: str, incoming: pa.Table
) -> list[tuple[Any, ...]]:
    """Execute SQL that reads the table `incoming` in one place; give its rows.

    A statement that writes gives one row, how many it has written.
    """
    # A stream, not the table: for that DuckDB loads pyarrow.dataset, and asks it for
    # a scanner every time, which takes as long as inserting a few rows.
    connection.register("incoming", incoming.__arrow_c_stream__())
    rows = connection.execute(text).fetchall()
    connection.unregister("incoming")
    return rows

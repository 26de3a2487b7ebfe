"""Arrow tables as what a statement reads, each row once, under the name `incoming`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hlodb.schema.connection import Connection


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

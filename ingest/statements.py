"""The SQL files of this room, by name."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import duckdb
import pyarrow as pa


@lru_cache(maxsize=32)
def statement(name: str) -> str:
    """Give the text of `ingest/sql/NAME.sql`."""
    return (files("hlodb.ingest") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def run_on(
    connection: duckdb.DuckDBPyConnection, name: str, incoming: pa.Table, **values: int
) -> int:
    """Execute `sql/NAME.sql`, which reads the table `incoming`; give its row count."""
    connection.register("incoming", incoming)
    row = connection.execute(statement(name), values or None).fetchone()
    connection.unregister("incoming")
    return int(row[0]) if row else 0

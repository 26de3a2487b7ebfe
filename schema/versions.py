"""Which schema a warehouse has, and what to do where it isn't ours."""

from __future__ import annotations

from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.schema.connection import Connection

SCHEMA_VERSION = 1
"""1: first version."""


def stored_version(connection: Connection) -> int | None:
    """Return the schema version of an open file, None where it is no warehouse."""
    # All rows are fetched: DuckDB 2 takes no tables while a result is unfinished.
    known = connection.execute(
        "SELECT 1 FROM duckdb_tables()"
        " WHERE table_name = 'warehouse_info' AND schema_name = 'main'"
    ).fetchall()
    if not known:
        return None
    rows = connection.execute(
        "SELECT try_cast(value AS BIGINT) FROM warehouse_info"
        " WHERE key = 'schema_version'"
    ).fetchall()
    return rows[0][0] if rows else None


def is_empty(connection: Connection) -> bool:
    """Return whether an open file holds nothing at all."""
    return not connection.execute("SELECT 1 FROM duckdb_tables() LIMIT 1").fetchall()


def require_version(connection: Connection, path: Path) -> None:
    """Raise WarehouseError unless the file has the schema that this hlodb reads."""
    version = stored_version(connection)
    if version == SCHEMA_VERSION:
        return
    if version is None:
        raise WarehouseError(f"{path} is a DuckDB file but not a hlodb warehouse")
    advice = (
        "install a newer hlodb (`pip install -U hlodb`)"
        if version > SCHEMA_VERSION
        else f"`hlodb migrate --db {path}` brings it up to date"
    )
    raise WarehouseError(
        f"{path} has schema version {version}, this hlodb reads version"
        f" {SCHEMA_VERSION}: {advice}"
    )

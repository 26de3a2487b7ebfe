"""Opening a warehouse file: created on first write, refused when of another version.

While one process has the file open for writing no other process can open it, so writers
open late and close early, and everybody waits for a bounded time.
"""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateTable

from hlodb.errors import UsageError, WarehouseError
from hlodb.schema.tables import PUBLIC, SCHEMA_VERSION, STORE

LOCK_TIMEOUT_SECONDS = 60.0
# A new file: readable by DuckDB 1.5 also when 2.0 wrote it, and in small blocks. Every
# table ends in a partly filled block, so with DuckDB's 256 KiB a warehouse of 40 MB of
# dumps takes 11 MB, with 32 KiB it takes 6.6; below that columns stop being bit-packed.
_NEW_FILE: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": "v1.5.0",
    "default_block_size": "32768",
}


def connect(
    path: str | Path,
    *,
    read_only: bool = True,
    timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
) -> duckdb.DuckDBPyConnection:
    """Give a native connection to the warehouse at `path`, waiting while it is locked.

    A missing file is created when `read_only` is false.
    Raises UsageError where there is nothing to read, WarehouseError (exit code 5) where
    the file is locked for too long, cannot be written or is of another schema version.
    """
    path = Path(path)
    if read_only and not path.exists():
        raise UsageError(
            f"there is no warehouse at {path}: `hlodb ingest PATH --db {path}`"
        )
    connection = _open_when_free(path, read_only, timeout_seconds)
    try:
        _require_schema(connection, path, read_only)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(
    path: str | Path, *, timeout_seconds: float = LOCK_TIMEOUT_SECONDS
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the warehouse for writing; what is done in the block is kept all or not."""
    with connect(path, read_only=False, timeout_seconds=timeout_seconds) as connection:
        connection.execute("BEGIN")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def engine(path: str | Path, *, read_only: bool = True) -> Engine:
    """Give a SQLAlchemy engine over the warehouse at `path`.

    NullPool: a pooled connection would keep the file locked.
    """
    if read_only and not Path(path).exists():
        raise UsageError(f"there is no warehouse at {path}")
    return create_engine(
        f"duckdb:///{path}",
        poolclass=NullPool,
        connect_args={"read_only": read_only, "config": {}},
    )


def _open_when_free(
    path: Path, read_only: bool, timeout_seconds: float
) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + timeout_seconds
    pause = 0.02
    while True:
        try:
            return duckdb.connect(
                str(path), read_only=read_only, config={} if read_only else _NEW_FILE
            )
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise WarehouseError(f"cannot open {path}: {error}") from error
            if time.monotonic() >= deadline:
                raise WarehouseError(_locked_message(path, str(error))) from error
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 1.5, 1.0)


def _locked_message(path: Path, error: str) -> str:
    holder = error.split("Conflicting lock is held in ", 1)[-1].split(". ", 1)[0]
    who = f" by {holder}" if holder != error else ""
    return f"{path} is locked{who}; close it there, or try again when it is free"


def _require_schema(
    connection: duckdb.DuckDBPyConnection, path: Path, read_only: bool
) -> None:
    version = _stored_version(connection)
    if version == SCHEMA_VERSION:
        return
    if version is None:
        if read_only or _has_tables(connection):
            raise WarehouseError(f"{path} is a DuckDB file but not a hlodb warehouse")
        create_schema(connection)
        return
    advice = "install a newer hlodb" if version > SCHEMA_VERSION else "ingest it anew"
    raise WarehouseError(
        f"{path} has schema version {version}, this hlodb reads version"
        f" {SCHEMA_VERSION}: {advice}"
    )


def _stored_version(connection: duckdb.DuckDBPyConnection) -> int | None:
    known = connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE table_name = 'warehouse_info'"
    ).fetchone()
    if not known:
        return None
    row = connection.execute(
        "SELECT value FROM warehouse_info WHERE key = 'schema_version'"
    ).fetchone()
    return int(row[0]) if row else None


def _has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    return bool(connection.execute("SELECT 1 FROM duckdb_tables()").fetchone())


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Make every table, view and comment in an empty database, in one transaction."""
    connection.execute("BEGIN")
    try:
        connection.execute("CREATE SCHEMA IF NOT EXISTS store")
        for statement in ddl():
            connection.execute(statement)
        _fill_reference_tables(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def ddl() -> list[str]:
    """Give the statements that make tables, views and comments, in order."""
    scheme = create_engine("duckdb:///:memory:").dialect
    tables = [*STORE.sorted_tables, *PUBLIC.sorted_tables]
    creates = [
        str(CreateTable(t).compile(dialect=scheme)).strip()
        for t in tables
        if not t.info.get("view")
    ]
    views = (files("hlodb.schema") / "views.sql").read_text(encoding="utf-8")
    return [*creates, *_statements(views), *_comments()]


def _statements(script: str) -> list[str]:
    return [s.strip() for s in script.split(";\n") if s.strip()]


def _comments() -> list[str]:
    statements = []
    for table in (*STORE.sorted_tables, *PUBLIC.sorted_tables):
        full = f'"{table.schema}"."{table.name}"' if table.schema else f'"{table.name}"'
        what = "VIEW" if table.info.get("view") else "TABLE"
        statements.append(f"COMMENT ON {what} {full} IS {_quote(table.comment or '')}")
        statements += [
            f'COMMENT ON COLUMN {full}."{c.name}" IS {_quote(c.comment or "")}'
            for c in table.columns
        ]
    return statements


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _fill_reference_tables(connection: duckdb.DuckDBPyConnection) -> None:
    from hlodb import __version__

    rows = (files("hlodb.schema") / "memory_spaces.csv").read_text(encoding="utf-8")
    spaces = [
        (r["platform"], int(r["color"]), r["space_name"])
        for r in csv.DictReader(rows.splitlines())
    ]
    connection.executemany("INSERT INTO memory_spaces VALUES (?, ?, ?)", spaces)
    connection.executemany(
        "INSERT INTO warehouse_info VALUES (?, ?)",
        [("schema_version", str(SCHEMA_VERSION)), ("created_by", __version__)],
    )

"""Make a warehouse: tables, views, comments and reference rows in a new file.

A new file appears under its name only when it is whole: a process that dies meanwhile,
or two that begin at once, leave no half-made warehouse behind.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.drafts import new_beside
from hlodb.schema.stored import script_of
from hlodb.schema.versions import SCHEMA_VERSION
from hlodb.schema.waiting import open_file


def create_file(path: Path, write: Callable[[Path], None] | None = None) -> None:
    """Make an empty warehouse at `path`, unless another program was faster.

    `write` fills the new file, `write_empty` unless given. Raises WarehouseError where
    it cannot be written.
    """
    # A link may lead to where the file is to be.
    path = path.resolve()
    _refuse_foreign_log(path)
    draft = new_beside(path)
    try:
        (write or write_empty)(draft)
        _give_name(draft, path)
    except OSError as error:
        raise WarehouseError(f"cannot make {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
        Path(f"{draft}.wal").unlink(missing_ok=True)


def write_empty(draft: Path) -> None:
    """Make every table, view and comment in a new file at `draft`."""
    connection = open_file(draft, read_only=False)
    try:
        # Hundreds of small statements: others would only be woken for each.
        connection.execute("SET threads = 1")
        create_schema(connection)
    finally:
        connection.close()


def _refuse_foreign_log(path: Path) -> None:
    # DuckDB would replay the log of a deleted warehouse into the new one. The log is
    # looked for first: where another process has just made both, the file is there.
    log = Path(f"{path}.wal")
    if log.exists() and not path.exists():
        raise WarehouseError(
            f"{log} is the log of a warehouse that is no longer there; put"
            f" {path.name} back beside it, or delete the log"
        )


def _give_name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        # A file system without hard links.
        if not path.exists():
            draft.rename(path)


def create_schema(connection: Connection) -> None:
    """Make every table, view and comment in an empty database, in one transaction."""
    connection.execute("BEGIN")
    try:
        connection.execute("CREATE SCHEMA IF NOT EXISTS store")
        for script in ("tables", "views", "comments"):
            connection.execute(script_of(script))
        _fill_reference_tables(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(DatabaseError):  # On a full disk there is nothing left of it.
            connection.execute("ROLLBACK")
        raise


def _fill_reference_tables(connection: Connection) -> None:
    from hlodb.version import __version__

    for table in ("memory_spaces", "device_memory"):
        path = Path(__file__).with_name(f"{table}.csv")
        _, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    connection.executemany(
        "INSERT INTO warehouse_info VALUES (?, ?)",
        [("schema_version", str(SCHEMA_VERSION)), ("created_by", __version__)],
    )

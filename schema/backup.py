"""Copies of a warehouse that are whole, whatever happens beside them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.drafts import draft_beside, remove_abandoned_drafts
from hlodb.schema.waiting import explain, lock_timeout, open_when_free
from hlodb.schema.warehouse import connect


def back_up(path: Path, destination: Path, *, replace: bool = False) -> int:
    """Copy the warehouse at `path` to `destination`; give its size (bytes).

    Writers wait meanwhile, readers don't. The copy appears under its name when it is
    on the disk and was read whole. Raises UsageError where `destination` exists and
    `replace` is false, or has no directory, WarehouseError where it can't be written,
    or the warehouse is damaged.
    """
    if destination.exists() and not replace:
        raise UsageError(f"{destination} exists; --force replaces it")
    if destination.exists() and path.exists() and destination.samefile(path):
        raise UsageError(f"{destination} is the warehouse itself")
    if not destination.parent.is_dir():
        raise UsageError(f"there is no directory {destination.parent} for the copy")
    remove_abandoned_drafts(destination)
    draft = draft_beside(destination)
    try:
        with connect(path):
            copy_open_file(path, draft)
        settle(draft)
        _read_whole(draft, path)
        draft.replace(destination)
        sync(destination.parent)
    except OSError as error:
        raise WarehouseError(f"cannot write {destination}: {error.strerror}") from error
    finally:
        remove_file(draft)
    return destination.stat().st_size


def _read_whole(draft: Path, path: Path) -> None:
    """Read all that a copy of `path` holds, lest a damaged one replace a sound one."""
    timeout = lock_timeout()
    try:
        connection = open_when_free(draft, read_only=True, timeout_seconds=timeout)
        with connection:
            tables = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
            ).fetchall()
            for schema, table in tables:
                connection.execute(
                    f'SELECT bit_xor(hash(t)) FROM "{schema}"."{table}" AS t'
                ).fetchall()
    except DatabaseError as error:
        raise WarehouseError(explain(path, error)) from error


def copy_open_file(path: Path, copy: Path) -> None:
    """Copy a file and its log, while a connection of this process holds it.

    The log goes first: closing any descriptor of the file itself ends the lock that
    DuckDB holds on it, as POSIX has it.
    """
    log = Path(f"{path}.wal")
    if log.exists():
        shutil.copyfile(log, f"{copy}.wal")
    shutil.copyfile(path, copy)


def settle(path: Path) -> None:
    """Bring the log of a copy into its file, and the file onto the disk.

    Raises WarehouseError where the copy can't be opened.
    """
    connection = open_when_free(path, read_only=False, timeout_seconds=lock_timeout())
    try:
        connection.execute("CHECKPOINT")
    except DatabaseError as error:
        raise WarehouseError(explain(path, error)) from error
    finally:
        connection.close()
    sync(path)


def keep_writers_out(path: Path) -> Connection:
    """Give a connection that holds a file which has no log besides itself.

    Raises WarehouseError where another process writes to it.
    """
    log = Path(f"{path}.wal")
    if log.exists():
        settle(path)
    held = open_when_free(path, read_only=True, timeout_seconds=lock_timeout())
    if log.exists():
        held.close()
        raise WarehouseError(f"{path} is being written to; try again")
    return held


def remove_file(path: Path) -> None:
    """Remove a database file and its log, if they are there."""
    path.unlink(missing_ok=True)
    Path(f"{path}.wal").unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make sure that the disk has a file or folder, not only the cache."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

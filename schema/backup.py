"""Copies of a warehouse that are whole, whatever happens beside them."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from hlodb.errors import UsageError, WarehouseError
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.drafts import draft_beside, remove_abandoned_drafts
from hlodb.schema.waiting import (
    explain,
    explain_damage,
    hold_still,
    lock_timeout,
    open_file,
    open_for_writing,
)
from hlodb.schema.warehouse import connect


def back_up(path: Path, destination: Path, *, replace: bool = False) -> int:
    """Copy the warehouse at `path` to `destination`; return its size (bytes).

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
            pass  # It is a warehouse of this version, or an error says what it is.
        with hold_still(path, lock_timeout()) as file:
            copy_file(file, path, draft)
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
    with closing(open_file(draft, read_only=True)) as connection:
        read_every_row(connection, path)


def read_every_row(connection: Connection, path: Path) -> None:
    """Read every column of every table; raise WarehouseError where that fails.

    DuckDB notices damage only in the blocks that it reads.
    """
    try:
        tables = connection.execute(
            "SELECT database_name, schema_name, table_name"
            " FROM system.main.duckdb_tables() WHERE NOT internal AND NOT temporary"
        ).fetchall()
        for names in tables:
            table = ".".join(
                f'"{name.replace(chr(34), 2 * chr(34))}"' for name in names
            )
            connection.execute(
                f"SELECT system.main.bit_xor(system.main.hash(t)) FROM {table} AS t"
            ).fetchall()
    except DatabaseError as error:
        raise WarehouseError(explain_damage(path, error)) from error


def copy_file(file: BinaryIO, path: Path, copy: Path) -> None:
    """Copy a file that `hold_still` yields, with its log."""
    log = _log_of(path)
    if log.exists():
        shutil.copyfile(log, _log_of(copy))
    with copy.open("wb") as target:
        shutil.copyfileobj(file, target)
    shutil.copymode(path, copy)


def settle(draft: Path) -> None:
    """Bring the log of a draft into its file, and the file onto the disk.

    Raises WarehouseError where the draft cannot be opened.
    """
    with closing(open_file(draft, read_only=False)) as connection:
        _checkpoint(connection, draft)
    sync(draft)


def absorb_log(path: Path) -> None:
    """Bring a log that was left behind into its file.

    Raises as `open_for_writing`.
    """
    if _log_of(path).exists():
        with open_for_writing(path, lock_timeout()) as connection:
            _checkpoint(connection, path)


def require_no_log(path: Path) -> None:
    """Raise WarehouseError where a log remains: it must not outlive its file."""
    if _log_of(path).exists():
        raise WarehouseError(f"{path} is being written to; try again")


def _log_of(path: Path) -> Path:
    return Path(f"{path}.wal")


def _checkpoint(connection: Connection, path: Path) -> None:
    try:
        connection.execute("CHECKPOINT")
    except DatabaseError as error:
        raise WarehouseError(explain(path, error)) from error


def remove_file(path: Path) -> None:
    """Remove a database file and its log, if they are there."""
    path.unlink(missing_ok=True)
    _log_of(path).unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make sure that the disk has a file or folder, not only the cache."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

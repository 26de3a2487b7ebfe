"""Opening a DuckDB file that others may hold: wait for a bounded time, say who it is.

While one process has the file open for writing no other process can open it, not even
to read it; while others read, nobody can write. DuckDB says so at once and never waits.
"""

from __future__ import annotations

import logging
import os
import re
import time
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError, WarehouseLocked
from hlodb.schema.connection import Connection, DatabaseError, open_database

LOCK_TIMEOUT_SECONDS = 60.0
TELL_AFTER_SECONDS = 2.0
"""A wait longer than this is told, once."""

STORAGE_VERSION = "v1.5.0"
"""How a new file is written: readable by DuckDB 1.5 also when 2.0 wrote it."""

# Every table ends in a partly filled block, so with DuckDB's 256 KiB a warehouse of
# 40 MB of dumps takes 11 MB, with 32 KiB 6.6. Blocks of that size hold no bit-packed
# BIGINT columns, smaller ones no INTEGER columns either.
BLOCK_BYTES = 32768
"""Size of the blocks of a new file."""

_WRITING: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": str(BLOCK_BYTES),
    "checkpoint_threshold": "1MB",
}
_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5
_LOCKED = "could not set lock on file"
_HOLDER = re.compile(r"Conflicting lock is held in ([^\n]{1,4096}?)(?:\. |\.?$)")

_log = logging.getLogger(__name__)


def lock_timeout() -> float:
    """Give how long to wait for a locked file: $HLODB_LOCK_TIMEOUT, else 60 seconds.

    Raises UsageError where the variable holds no number of seconds.
    """
    text = os.environ.get("HLODB_LOCK_TIMEOUT", "")
    try:
        seconds = float(text) if text else LOCK_TIMEOUT_SECONDS
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"HLODB_LOCK_TIMEOUT is {text!r}, not a number of seconds")
    return seconds


def require_file(path: str | Path) -> None:
    """Raise UsageError where there is no file at `path`, and say how to make one."""
    if not Path(path).exists():
        raise UsageError(
            f"there is no warehouse at {path}: `hlodb ingest PATH --db {path}`"
        )


def open_when_free(path: Path, read_only: bool, timeout_seconds: float) -> Connection:
    """Open `path` as soon as nobody is in the way.

    Raises WarehouseLocked after `timeout_seconds`, WarehouseError where it can't be
    opened at all.
    """
    _require_database(path)
    began = time.monotonic()
    pause = _FIRST_PAUSE_SECONDS
    told = False
    while True:
        try:
            return open_database(
                str(path), read_only=read_only, config={} if read_only else _WRITING
            )
        except DatabaseError as error:
            if _LOCKED not in str(error).lower():
                raise WarehouseError(explain(path, error)) from error
            waited = time.monotonic() - began
            if waited >= timeout_seconds:
                raise WarehouseLocked(_locked(path, error, waited)) from error
            if waited >= TELL_AFTER_SECONDS and not told:
                told = True
                _log.warning(_waiting(path, error, timeout_seconds))
        # Loaded when needed: next to no warehouse is ever in use.
        import random

        # Jitter, lest processes that were turned away together come back together.
        time.sleep(min(pause * random.uniform(0.5, 1.5), timeout_seconds))
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)


def _require_database(path: Path) -> None:
    """Raise WarehouseError for what DuckDB would take for something else."""
    if path.is_dir() or not path.exists():
        return
    if not path.is_file():
        # It would wait for whoever writes into a pipe, and for ever.
        raise WarehouseError(
            f"cannot use {path}: it is no file; name another with --db"
        )
    # A file of data it would read into memory, and what we store would go there.
    if not _is_database(path):
        raise WarehouseError(f"cannot use {path}: {_NO_DATABASE}")


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(12)[8:] in (b"DUCK", b"")
    except OSError:
        return True  # DuckDB says it better.


def _holder(error: DatabaseError) -> str:
    found = _HOLDER.search(str(error))
    return found.group(1) if found else "another process"


def _locked(path: Path, error: DatabaseError, waited: float) -> str:
    return (
        f"{path} is locked by {_holder(error)}, after {waited:.0f} s still; close it"
        " there, or wait longer (--lock-timeout or HLODB_LOCK_TIMEOUT, in seconds)"
    )


def _waiting(path: Path, error: DatabaseError, timeout_seconds: float) -> str:
    return (
        f"{path} is locked by {_holder(error)}; waiting for up to"
        f" {timeout_seconds:.0f} s"
    )


_NO_DATABASE = "it is no DuckDB file; name another with --db"
_DAMAGE = ("not read enough bytes", "corrupt", "checksum")
_REASONS = (
    ("not a valid duckdb database", _NO_DATABASE),
    ("is a directory", "it is a directory; name a file"),
    ("no space left", "the disk is full; make room there and try again"),
    ("out of memory", "memory ran out; give it more, or try fewer --jobs"),
    ("file too large", "it may not grow any further (a quota or limit)"),
    ("permission denied", "no permission; ask its owner, or name another with --db"),
    ("read-only file system", "its file system is read-only"),
    ("different configuration", "this process has it open already; close it first"),
    ("version number", "another DuckDB wrote it; `pip install -U duckdb`"),
    *((sign, "it is damaged; restore it from a backup") for sign in _DAMAGE),
)


def is_damage(error: DatabaseError) -> bool:
    """Tell whether DuckDB found the file damaged."""
    return any(sign in str(error).lower() for sign in _DAMAGE)


def explain(path: Path, error: DatabaseError) -> str:
    """Say in the user's words why DuckDB can't use the file, and what to do."""
    text = str(error)
    for sign, reason in _REASONS:
        if sign in text.lower():
            return f"cannot use {path}: {reason}"
    return f"cannot use {path}: {text.splitlines()[0]}"

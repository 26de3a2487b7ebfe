"""Open a DuckDB file that another process may hold: wait for a bounded time.

While one process has the file open for writing no other process can open it, not even
to read it; while others read, nobody can write. DuckDB says so at once and never waits.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from hlodb.errors import UsageError, WarehouseError, WarehouseLocked
from hlodb.paths import fault_of
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.limits import Config, open_limited
from hlodb.schema.writer_lock import Busy, writer_lock

Result = TypeVar("Result")

LOCK_TIMEOUT_SECONDS = 60.0
REPORT_AFTER_SECONDS = 2.0
"""A wait longer than this is reported, once."""

STORAGE_VERSION = "v1.5.0"
"""How a new file is written: readable by DuckDB 1.5 also when 2.0 wrote it."""

# Every table ends in a partly filled block, so with DuckDB's 256 KiB a warehouse of
# 40 MB of dumps takes 11 MB, with 32 KiB 6.6. Blocks of that size hold no bit-packed
# BIGINT columns, smaller ones no INTEGER columns either.
BLOCK_BYTES = 32768
"""Size of the blocks of a new file."""

_WRITING: Config = {
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": str(BLOCK_BYTES),
    "checkpoint_threshold": "1MB",
}
_BESIDE = (".lock", ".staged", ".tmp", ".wal", ".wal.checkpoint", ".wal.recovery")
"""Endings of what hlodb and DuckDB write beside a file."""

_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5
_LOCKED = "could not set lock on file"
_HOLDER = re.compile(r"Conflicting lock is held in ([^\n]{1,4096}?)(?:\. |\.?$)")

_log = logging.getLogger(__name__)


def lock_timeout() -> float:
    """Return how long to wait for a locked file: $HLODB_LOCK_TIMEOUT, else 60 seconds.

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
    """Raise UsageError where there is no file at `path`; it says how to make one.

    Raises WarehouseError where something else is there.
    """
    refuse_other_than_file(path)
    if not Path(path).exists():
        raise UsageError(
            f"there is no warehouse at {path}: `hlodb ingest PATH --db {path}`"
        )


def open_when_free(
    path: Path,
    timeout_seconds: float,
    *,
    folders: Iterable[Path] = (),
    files: Iterable[Path] = (),
) -> Connection:
    """Open `path` for reading as soon as no process writes to it.

    Raises WarehouseLocked after `timeout_seconds`, WarehouseError where the file cannot
    be opened at all.
    """
    attempt = partial(
        open_file, path, read_only=True, folders=[*folders], files=[*files]
    )
    return when_free(path, attempt, timeout_seconds)


@contextmanager
def no_other_writer(path: Path, timeout_seconds: float) -> Iterator[None]:
    """Keep other processes of hlodb from writing to `path` for a block.

    Raises as `open_when_free`.
    """

    def attempt() -> ExitStack:
        with ExitStack() as stack:
            stack.enter_context(writer_lock(path))
            return stack.pop_all()

    with when_free(path, attempt, timeout_seconds):
        yield


@contextmanager
def open_for_writing(path: Path, timeout_seconds: float) -> Iterator[Connection]:
    """Open `path` for writing for a block, as soon as no other process has it open.

    A missing warehouse is created. Raises as `open_when_free`, UsageError where its
    directory is missing.
    """
    refuse_other_than_file(path)
    if not path.resolve().parent.is_dir():
        raise UsageError(f"there is no directory {path.parent} for the warehouse")
    began = time.monotonic()
    with no_other_writer(path, timeout_seconds):
        if not path.exists():
            # Loaded when needed: nearly always the file is there.
            from hlodb.schema.creation import create_file

            create_file(path)
        left_seconds = max(0.0, timeout_seconds - (time.monotonic() - began))
        attempt = partial(open_file, path, read_only=False)
        with closing(when_free(path, attempt, left_seconds)) as connection:
            yield connection


@contextmanager
def hold_still(path: Path, timeout_seconds: float) -> Iterator[BinaryIO]:
    """Yield the file at `path`, open for reading, while no program can write to it.

    The lock is DuckDB's own for readers, so that every program respects it. It belongs
    to this descriptor, and closing any other of the same file would drop it: open no
    connection in the block. Raises as `open_when_free`, OSError.
    """

    def attempt() -> BinaryIO:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            try:
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError) as error:
                raise Busy("another process") from error
            stack.pop_all()
            return file

    with when_free(path, attempt, timeout_seconds) as file:
        yield file


def when_free(
    path: Path, attempt: Callable[[], Result], timeout_seconds: float
) -> Result:
    """Return what `attempt` returns, once it no longer raises Busy.

    Raises WarehouseLocked after `timeout_seconds`.
    """
    began = time.monotonic()
    pause = _FIRST_PAUSE_SECONDS
    is_reported = False
    while True:
        try:
            return attempt()
        except Busy as error:
            waited = time.monotonic() - began
            if waited >= timeout_seconds:
                raise WarehouseLocked(_locked(path, error, waited)) from error
            if waited >= REPORT_AFTER_SECONDS and not is_reported:
                is_reported = True
                _log.warning(_waiting(path, error, timeout_seconds))
        # Loaded when needed: a warehouse is seldom in use.
        import random

        # Jitter, lest processes that were turned away together come back together.
        time.sleep(min(pause * random.uniform(0.5, 1.5), timeout_seconds))
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)


def open_file(
    path: Path,
    read_only: bool,
    *,
    folders: Iterable[Path] = (),
    files: Iterable[Path] = (),
) -> Connection:
    """Open a DuckDB file now; it reaches `folders` and `files` and nothing else.

    Raises Busy where another process has it open, WarehouseError where it cannot be
    opened at all.
    """
    refuse_other_than_file(path)
    try:
        # One spelling of the path: else one process could open a file twice.
        connection = open_limited(
            os.path.realpath(path),
            read_only=read_only,
            folders=folders,
            files=files,
            config={} if read_only else _WRITING,
        )
    except DatabaseError as error:
        if _LOCKED in str(error).lower():
            raise Busy(_holder(error)) from error
        raise WarehouseError(explain(path, error)) from error
    # DuckDB reads a file of data into memory, and would lose there what we store.
    # The file's head is not looked at here: closing it would drop DuckDB's lock.
    opened = connection.execute(
        "SELECT type FROM system.main.duckdb_databases() WHERE path IS NOT NULL"
        " AND database_name = system.main.current_database()"
    ).fetchall()
    if opened != [("duckdb",)]:
        connection.close()
        raise WarehouseError(f"cannot use {path}: {_NO_DATABASE}")
    return connection


def refuse_other_than_file(path: str | Path) -> None:
    """Raise WarehouseError for a directory, a pipe, a device or a loop of links.

    DuckDB would wait for ever for the other end of a pipe. Raises also where a link or
    a pipe lies beside the file under a name that is written to: the user named only
    the file.
    """
    if fault := fault_of(path):
        other = "a file" if Path(path).is_dir() else "another with --db"
        raise WarehouseError(f"cannot use {path}: {fault}; name {other}")
    for file in dict.fromkeys((str(path), os.path.realpath(path))):
        for ending in _BESIDE:
            if not _is_plain(f"{file}{ending}"):
                raise WarehouseError(
                    f"cannot use {path}: {file}{ending} is a link, a pipe or a device,"
                    " which hlodb does not open; remove it"
                )


def _is_plain(path: str) -> bool:
    """Return whether a path is a file, a folder or missing, without following links."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _holder(error: DatabaseError) -> str:
    found = _HOLDER.search(str(error))
    return found.group(1) if found else "another process"


def _locked(path: Path, error: Busy, waited: float) -> str:
    return (
        f"{path} is locked by {error}, after {waited:.0f} s still; close it"
        " there, or wait longer (--lock-timeout or HLODB_LOCK_TIMEOUT, in seconds)"
    )


def _waiting(path: Path, error: Busy, timeout_seconds: float) -> str:
    return f"{path} is locked by {error}; waiting for up to {timeout_seconds:.0f} s"


_NO_DATABASE = "it is no DuckDB file; name another with --db"
_DAMAGE = (
    "not read enough bytes",
    "corrupt",
    "checksum",
    "serialization error",
    "metadatareader",
    "written with a mode that is not recognized",
    "unrecognized enum value",
)
_DAMAGED = (
    "it is damaged; restore a backup, or ingest the dumps into a new file"
    " (docs/reliability.md says what can be saved)"
)
_REASONS = (
    ("not a valid duckdb database", _NO_DATABASE),
    ("cannot launch in-memory database", _NO_DATABASE),
    ("failed to download extension", _NO_DATABASE),
    ("disabled by configuration", _NO_DATABASE),
    (
        "too many open files",
        "this process may open no more files; raise the limit (`ulimit -n`), or try"
        " fewer --jobs",
    ),
    ("no space left", "the disk is full; make room there and try again"),
    ("quota exceeded", "its quota is used up; make room there and try again"),
    ("out of memory", "memory ran out; give it more, or try fewer --jobs"),
    ("file too large", "it may not grow any further (a quota or limit)"),
    ("permission denied", "no permission; ask its owner, or name another with --db"),
    ("read-only file system", "its file system is read-only"),
    ("different configuration", "this process has it open already; close it first"),
    ("version number", "another DuckDB wrote it; `pip install -U duckdb`"),
    *((sign, _DAMAGED) for sign in _DAMAGE),
)


def is_damage(error: DatabaseError) -> bool:
    """Return whether DuckDB found the file damaged."""
    return any(sign in str(error).lower() for sign in _DAMAGE)


def explain(path: str | Path, error: DatabaseError | OSError) -> str:
    """Return why the file or folder cannot be used, in plain words, and what to do."""
    text = str(error)
    for sign, reason in _REASONS:
        if sign in text.lower():
            return f"cannot use {path}: {reason}"
    return f"cannot use {path}: {text.splitlines()[0]}"


def explain_damage(path: Path, error: DatabaseError) -> str:
    """As `explain`, where what failed was reading a sound file's rows."""
    text = explain(path, error)
    is_known = any(text.endswith(reason) for _, reason in _REASONS)
    return text if is_known else f"cannot use {path}: {_DAMAGED}"

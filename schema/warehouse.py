"""Open a warehouse file: created on first write, refused when of another version.

Writers open late and close early, since nobody else can use the file meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.schema.connection import (
    Connection,
    DatabaseError,
    FatalException,
    InternalException,
    InvalidInputException,
    IOException,
    OutOfMemoryException,
    SerializationException,
    TransactionException,
)
from hlodb.schema.versions import is_empty, require_version
from hlodb.schema.waiting import (
    explain,
    is_damage,
    lock_timeout,
    open_for_writing,
    open_when_free,
    require_file,
)

_STORAGE_ERRORS = (
    FatalException,
    InternalException,
    IOException,
    OutOfMemoryException,
    SerializationException,
    TransactionException,
)

Preparation = Callable[[Connection], None]
"""Work done once with a connection for writing, before anything else."""


@contextmanager
def connect(
    path: str | Path, *, read_only: bool = True, timeout_seconds: float | None = None
) -> Iterator[Connection]:
    """Open the warehouse at `path` for a block, waiting while it is locked.

    A missing file is created when `read_only` is false. `timeout_seconds` is
    `lock_timeout()` unless given. Ctrl-C gives up the query that it meets.
    Raises UsageError where there is nothing to read, WarehouseError (exit code 5) where
    the file cannot be used, turns out damaged, or is of another schema version,
    WarehouseLocked where it is locked for too long.
    """
    with _opened(Path(path), read_only, timeout_seconds) as connection:
        try:
            yield connection
        except BaseException as error:
            # Closing waits for what still runs, and an interrupted query does.
            connection.interrupt()
            for cause in (error, error.__cause__):
                if isinstance(cause, _STORAGE_ERRORS) and is_damage(cause):
                    raise WarehouseError(explain(Path(path), cause)) from error
            raise


def open_connection(
    path: str | Path, *, timeout_seconds: float | None = None
) -> Connection:
    """Return a native connection that reads the warehouse at `path`.

    Raises as `connect`.
    """
    path = Path(path)
    require_file(path)
    timeout = lock_timeout() if timeout_seconds is None else timeout_seconds
    return _ready(open_when_free(path, timeout), path)


@contextmanager
def _opened(
    path: Path, read_only: bool, timeout_seconds: float | None
) -> Iterator[Connection]:
    if read_only:
        with closing(open_connection(path, timeout_seconds=timeout_seconds)) as reader:
            yield reader
        return
    timeout = lock_timeout() if timeout_seconds is None else timeout_seconds
    with open_for_writing(path, timeout) as connection:
        if is_empty(connection):
            # Loaded when needed: nearly always the file has its tables.
            from hlodb.schema.creation import create_schema

            create_schema(connection)
        yield _ready(connection, path)


def _ready(connection: Connection, path: Path) -> Connection:
    """Return a connection to a warehouse of our version; else close it and raise."""
    try:
        # Without this DuckDB draws a bar into the standard output, amid our data.
        with suppress(InvalidInputException):  # locked, and so set before
            connection.execute("SET enable_progress_bar = false")
        require_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(
    path: str | Path,
    *,
    timeout_seconds: float | None = None,
    before: Preparation | None = None,
) -> Iterator[Connection]:
    """Open the warehouse for writing; the block's changes are kept all or not at all.

    `before` is called first, and its changes are kept. Raises WarehouseError also where
    the disk is full or the file is damaged.
    """
    with connect(path, read_only=False, timeout_seconds=timeout_seconds) as connection:
        try:
            if before is not None:
                before(connection)
            connection.execute("BEGIN")
            try:
                yield connection
            except BaseException:
                connection.interrupt()  # as above: a roll-back waits as well
                # A database that a full disk has made unusable can't even roll back;
                # the log then lacks the commit, which comes to the same.
                with suppress(DatabaseError):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except _STORAGE_ERRORS as error:
            raise WarehouseError(explain(Path(path), error)) from error


def close_to_the_world(connection: Connection) -> None:
    """Keep SQL that others wrote from files, extensions, settings and our variables."""
    row = connection.execute("SELECT current_setting('lock_configuration')").fetchone()
    if row == (True,):
        return  # Connections of one process to one file share their settings.
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")

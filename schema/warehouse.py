"""Open a warehouse file: created on first write, refused when of another version.

Writers open late and close early, since nobody else can use the file meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.schema.connection import (
    Connection,
    DatabaseError,
    FatalException,
    InternalException,
    IOException,
    OutOfMemoryException,
    PermissionException,
    SerializationException,
    TransactionException,
)
from hlodb.schema.foreign import hiding_objects, listed
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
    PermissionException,
    SerializationException,
    TransactionException,
)

Preparation = Callable[[Connection], None]
"""Work done once with a connection for writing, before anything else."""


@contextmanager
def connect(
    path: str | Path,
    *,
    read_only: bool = True,
    timeout_seconds: float | None = None,
    folders: Iterable[Path] = (),
) -> Iterator[Connection]:
    """Open the warehouse at `path` for a block, waiting while it is locked.

    A missing file is created when `read_only` is false. `timeout_seconds` is
    `lock_timeout()` unless given. A reader reaches `folders` besides the file; a writer
    nothing else. Ctrl-C gives up the query that it meets.
    Raises UsageError where there is nothing to read, WarehouseError (exit code 5) where
    the file cannot be used, turns out damaged, is of another schema version, or where
    its own macros hide DuckDB's, WarehouseLocked where it is locked for too long.
    """
    path = Path(path)
    with (
        _opened(path, read_only, timeout_seconds, folders) as connection,
        explained(connection, path),
    ):
        yield connection


@contextmanager
def explained(connection: Connection, path: Path) -> Iterator[None]:
    """Name the file, within a block, as the cause of errors that are its own.

    Raises WarehouseError where it is damaged, or where its own macros hide DuckDB's.
    """
    try:
        yield
    except BaseException as error:
        # Closing waits for what still runs, and an interrupted query does.
        connection.interrupt()
        for cause in (error, error.__cause__):
            if isinstance(cause, _STORAGE_ERRORS) and is_damage(cause):
                raise WarehouseError(explain(path, cause)) from error
            if isinstance(cause, DatabaseError) and not isinstance(error, UsageError):
                _blame_hiding_objects(connection, path, error)
                if isinstance(cause, PermissionException):
                    raise WarehouseError(reaches_out(path, cause)) from error
        raise


def reaches_out(path: str | Path, error: DatabaseError) -> str:
    """Return what to do where a query failed as the file's SQL reads another file."""
    return (
        f"{path} has a macro or view that reads another file, which hlodb does not"
        f" allow: {str(error).partition(chr(10))[0]}"
    )


def _blame_hiding_objects(
    connection: Connection, path: Path, error: BaseException
) -> None:
    """Raise WarehouseError where objects of the file may have made a query fail.

    Only then: to list what a file defines takes longer than most transactions.
    """
    with suppress(DatabaseError):
        connection.execute("ROLLBACK")
    try:
        found = hiding_objects(connection)
    except DatabaseError:
        return
    if found:
        raise WarehouseError(
            f"{path} has {listed(found)}, which hide what hlodb or DuckDB defines, or"
            f" reach out of the file; drop them (`duckdb {path} 'DROP MACRO …'`), or"
            " ingest the dumps into a new file"
        ) from error


def open_connection(
    path: str | Path,
    *,
    timeout_seconds: float | None = None,
    folders: Iterable[Path] = (),
) -> Connection:
    """Return a native connection that reads the warehouse at `path`.

    It reaches `folders` besides. Raises as `connect`.
    """
    path = Path(path)
    require_file(path)
    timeout = lock_timeout() if timeout_seconds is None else timeout_seconds
    return _ready(open_when_free(path, timeout, folders=folders), path)


@contextmanager
def _opened(
    path: Path,
    read_only: bool,
    timeout_seconds: float | None,
    folders: Iterable[Path],
) -> Iterator[Connection]:
    if read_only:
        opened = open_connection(path, timeout_seconds=timeout_seconds, folders=folders)
        with closing(opened) as reader:
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

"""A warehouse opened for reading, whether it is a file or a lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.lake import is_lake
from hlodb.schema.connection import (
    Connection,
    DatabaseError,
    InvalidInputException,
    IOException,
    PermissionException,
)
from hlodb.schema.foreign import hiding_objects
from hlodb.schema.waiting import require_file
from hlodb.schema.warehouse import explained, open_connection, reaches_out


def open_warehouse(path: str | Path) -> Connection:
    """Return a native connection that reads the warehouse at `path`.

    Raises as `connect`, or as `open_lake`.
    """
    if not is_lake(path):
        connection = open_connection(path)
        try:
            return _quick(_without_hiding_objects(connection, path))
        except BaseException:
            connection.close()
            raise
    # Loaded for lakes only: a file needs nothing of it.
    from hlodb.lake.catalogue import open_lake
    from hlodb.lake.layout import lake_at

    return _quick(open_lake(lake_at(path)))


def _without_hiding_objects(connection: Connection, path: str | Path) -> Connection:
    """Leave the file's own objects aside where some stand in for others."""
    if found := hiding_objects(connection):
        # Loaded for such files only.
        from hlodb.lake.aside import put_aside

        put_aside(connection, path, found)
    return connection


_SLOW_TO_PLAN = "compressed_materialization"


def _quick(connection: Connection) -> Connection:
    """Halve the time in which a connection plans the largest queries.

    To narrow the columns of each sort and group, DuckDB resolves the types of the whole
    plan again. Large queries have hundreds of them, and few rows to sort.
    """
    with suppress(InvalidInputException):  # Locked, and so set before.
        connection.execute(f"SET disabled_optimizers = '{_SLOW_TO_PLAN}'")
    return connection


def read_as_small(connection: Connection) -> None:
    """Read by one thread and plan without statistics: few rows don't repay more."""
    connection.execute("SET threads = 1")
    connection.execute(
        f"SET disabled_optimizers = '{_SLOW_TO_PLAN},statistics_propagation'"
    )


def require_warehouse(path: str | Path) -> None:
    """Raise UsageError where there is neither a file nor a lake; it says what to do."""
    if not is_lake(path):
        require_file(path)


@contextmanager
def reading(path: str | Path) -> Iterator[Connection]:
    """Open the warehouse at `path` for a block.

    Raises as `open_warehouse`, and WarehouseError where a part cannot be read.
    """
    if not is_lake(path):
        with (
            closing(open_warehouse(path)) as connection,
            explained(connection, Path(path)),
        ):
            yield connection
        return
    with closing(open_warehouse(path)) as connection:
        try:
            yield connection
        except BaseException as error:
            connection.interrupt()  # Closing waits for what still runs.
            for cause in (error, error.__cause__):
                if isinstance(cause, IOException | InvalidInputException):
                    _require_parts(path, cause)
                if isinstance(cause, PermissionException) and not isinstance(
                    error, UsageError
                ):
                    raise WarehouseError(reaches_out(path, cause)) from error
            raise


def _require_parts(path: str | Path, error: DatabaseError) -> None:
    """Raise WarehouseError where what failed was reading a part."""
    from hlodb.lake.catalogue import cannot_read
    from hlodb.lake.storage import storage_at

    address = storage_at(path).address
    text = cannot_read(address, error)
    if not text.startswith("cannot read"):
        raise WarehouseError(text) from error
    reason = str(error).partition("\n")[0]
    if f"{address}/" in reason and ".parquet" in reason:
        raise WarehouseError(
            f"cannot read {address}: {reason}; put this part back from a copy, or"
            " ingest the dumps into a new lake"
        ) from error

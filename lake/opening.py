"""A warehouse opened for reading, whether it is a file or a lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hlodb.lake import is_lake
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect, open_connection


def open_warehouse(path: str | Path) -> Connection:
    """Return a native connection that reads the warehouse at `path`.

    Raises as `connect`, or as `open_lake`.
    """
    if not is_lake(path):
        return open_connection(path)
    # Loaded for lakes only: a file needs nothing of it.
    from hlodb.lake.catalogue import open_lake

    return open_lake(path)


@contextmanager
def reading(path: str | Path) -> Iterator[Connection]:
    """Open the warehouse at `path` for a block. Raises as `open_warehouse`."""
    if not is_lake(path):
        with connect(path) as connection:
            yield connection
        return
    with closing(open_warehouse(path)) as connection:
        try:
            yield connection
        except BaseException:
            connection.interrupt()  # Closing waits for what still runs.
            raise

"""The warehouse from Python: canned queries and SQL, read-only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query, run_sql
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import close_to_the_world, open_connection


class Warehouse:
    """A warehouse opened for reading; `open` gives one, `with` closes it."""

    def __init__(self, connection: Connection, catalogue: Catalogue) -> None:
        self._connection = connection
        self._catalogue = catalogue

    def query(self, name: str, **parameters: Value) -> Result:
        """Answer a canned query: `.rows`, `.dicts()`, `.arrow()`, `.df()`, `.pl()`.

        Raises UsageError for an unknown query, parameter, run or program.
        """
        return run_query(self._connection, name, parameters, self._catalogue)

    def sql(self, statement: str) -> Result:
        """Run SQL of your own; files outside the warehouse can't be reached."""
        return run_sql(self._connection, statement)

    def close(self) -> None:
        """Close the file, so that others may write; what still runs is given up."""
        self._connection.interrupt()
        self._connection.close()

    def __enter__(self) -> Warehouse:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def open(path: str | Path, *, queries: Iterable[str | Path] = ()) -> Warehouse:
    """Open the warehouse at `path` for reading, with query folders of your own.

    Raises UsageError where there is none, WarehouseError where it is locked or of
    another schema version.
    """
    # Read first: what is wrong with a query must not leave the file open.
    catalogue = load_catalogue(Path(folder) for folder in queries)
    connection = open_connection(path)
    close_to_the_world(connection)
    return Warehouse(connection, catalogue)

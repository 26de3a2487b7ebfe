"""A file whose own objects stand in for others, read as if it had none.

Its tables are shown by views in an empty database in memory, beside hlodb's own views
and queries. Names are looked up there and among what is built into DuckDB; those of the
file are not.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from hlodb.lake.columns import quoted
from hlodb.queries.renewal import renew_macros
from hlodb.schema.connection import Connection
from hlodb.schema.foreign import listed
from hlodb.schema.stored import script_of, stored_tables
from hlodb.schema.versions import is_empty

_ASIDE = "hlodb_aside"
"""Name of the database with the views."""

_log = logging.getLogger(__name__)


def put_aside(connection: Connection, path: str | Path, found: Sequence[str]) -> None:
    """Let names in statements mean hlodb's objects and DuckDB's, not those of the file.

    A warning names what was found in the file.
    """
    [(name,)] = connection.execute("SELECT system.main.current_database()").fetchall()
    file = '"' + str(name).replace('"', '""') + '"'
    _log.warning(
        "%s has %s, which hide what hlodb or DuckDB defines, or reach out of the file."
        " No macro or view of the file is used until these are dropped",
        path,
        listed(found),
    )
    # Connections of one process to one file share what is attached.
    connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {_ASIDE} (READ_WRITE)")
    connection.execute(f"USE {_ASIDE}")
    if is_empty(connection):
        _show_tables(connection, file)
        renew_macros(connection)


def _show_tables(connection: Connection, file: str) -> None:
    connection.execute("BEGIN")
    connection.execute("CREATE SCHEMA store")
    for table in stored_tables():
        source = f"{file}.{quoted(table if '.' in table else f'main.{table}')}"
        # A table, as the macros that are made here are noted in it.
        kind = "TABLE" if table == "warehouse_info" else "VIEW"
        connection.execute(f"CREATE {kind} {quoted(table)} AS FROM {source}")
    connection.execute("DELETE FROM warehouse_info WHERE key = 'macros'")
    connection.execute(script_of("views"))
    connection.execute("COMMIT")

"""Macros made again when queries have changed, and only then."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from hlodb.schema.connection import (
    Connection,
    DatabaseError,
    FatalException,
    IOException,
    OutOfMemoryException,
)

_log = logging.getLogger(__name__)


def renew_macros(connection: Connection) -> None:
    """Install the macros unless the warehouse has these very ones already.

    Beside other writers every moment counts, and installing takes half a second.
    A DuckDB that takes one of them amiss keeps nobody from storing a dump: a warning
    tells of it. Raises as DuckDB does where the disk is full or cannot be written.
    """
    if has_macros(connection):
        return
    # Reading all queries takes longer than most ingests that find nothing new.
    from hlodb.queries.macros import install_macros

    connection.execute("BEGIN")
    try:
        install_macros(connection)
        connection.execute("DELETE FROM warehouse_info WHERE key = 'macros'")
        connection.execute(
            "INSERT INTO warehouse_info VALUES ('macros', ?)", [_queries_digest()]
        )
        connection.execute("COMMIT")
    except DatabaseError as error:
        # On a full disk there is nothing left to roll back.
        with suppress(DatabaseError):
            connection.execute("ROLLBACK")
        if isinstance(error, FatalException | IOException | OutOfMemoryException):
            raise
        _log.warning("queries are not installed as macros: %s", error)


def has_macros(connection: Connection) -> bool:
    """Return whether the macros of the warehouse are those of these very queries."""
    known = connection.execute(
        "SELECT 1 FROM warehouse_info WHERE key = 'macros' AND value = ?",
        [_queries_digest()],
    )
    return known.fetchone() is not None


def _queries_digest() -> str:
    """Return a digest of the queries and of the code that makes macros of them."""
    return source_digest(Path(__file__).parent)


@cache
def source_digest(*rooms: Path) -> str:
    """Return a digest of the code, the SQL and the rules in some folders."""
    digest = sha256()
    folders = list(rooms)
    for folder in folders:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith((".csv", ".py", ".sql")):
                digest.update(entry.read_bytes())
            elif "." not in entry.name and entry.is_dir():
                folders.append(entry)
    return digest.hexdigest()

"""What a warehouse is spoken to through: DuckDB's connection and its errors.

The other rooms take these names from here, so that one place says which database it is.
They come from the engine, `_duckdb`, whose names the package `duckdb` hands on: what
that adds, and nothing here uses, takes a tenth of the time of a small command.
"""

from __future__ import annotations

from _duckdb import DuckDBPyConnection as Connection
from _duckdb import Error as DatabaseError
from _duckdb import (
    FatalException,
    InternalException,
    InvalidInputException,
    IOException,
    OutOfMemoryException,
    PermissionException,
    SerializationException,
    TransactionException,
    tokenize,
)
from _duckdb import __version__ as library_version
from _duckdb import connect as open_database

__all__ = [
    "Connection",
    "DatabaseError",
    "FatalException",
    "IOException",
    "InternalException",
    "InvalidInputException",
    "OutOfMemoryException",
    "PermissionException",
    "SerializationException",
    "TransactionException",
    "in_memory",
    "library_version",
    "open_database",
    "tokenize",
]


def in_memory() -> Connection:
    """Open an empty database that goes with its connection."""
    return open_database(":memory:")

"""What a warehouse is spoken to through: a connection of DuckDB, and its errors.

The other rooms take these names from here, so that one place says which database it is.
"""

from __future__ import annotations

import duckdb
from duckdb import DuckDBPyConnection as Connection
from duckdb import Error as DatabaseError

__all__ = ["Connection", "DatabaseError", "in_memory"]


def in_memory() -> Connection:
    """Open an empty database that goes with its connection."""
    return duckdb.connect(":memory:")

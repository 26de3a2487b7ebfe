"""Occurrences of modules put into a warehouse without a dump."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from hlodb.ingest.load.occurrences import load_modules
from hlodb.ingest.tables.content_keys import module_table


def store_modules(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[dict[str, Any]]
) -> None:
    """Store rows of `modules`; what they leave out is NULL."""
    runs = pa.array([row["run_id"] for row in rows], pa.int64())
    load_modules(connection, module_table(rows).append_column("run_id", runs))

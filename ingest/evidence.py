"""What files say besides modules, kept by run and path: evidence and OOM reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from hlodb.ingest.columns import arrow_schema
from hlodb.ingest.incoming import execute_on
from hlodb.ingest.statements import statement
from hlodb.schema.connection import Connection

EVIDENCE_TABLES = ("oom_reports", "oom_buffers", "proto_comparisons")
"""Tables whose rows come with the files of a unit."""


class Evidence(NamedTuple):
    """A row of an evidence table, `path` included, the run to be added."""

    table: str
    row: dict[str, Any]


def load_evidence(
    connection: Connection, found: Iterable[tuple[int, Evidence]]
) -> None:
    """Store evidence, given with its runs. Belongs in a transaction."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for run_id, each in found:
        rows.setdefault(each.table, []).append(each.row | {"run_id": run_id})
    for table, listed in rows.items():
        incoming = pa.Table.from_pylist(listed, arrow_schema(table))
        execute_on(connection, f"INSERT INTO {table} BY NAME FROM incoming", incoming)


def copy_evidence(connection: Connection, files: pa.Table) -> None:
    """Give runs the evidence of equal files that were read before.

    `files` holds run_id, path, kind and sha256.
    """
    # Most warehouses hold none, and a look at them is cheaper than each statement.
    filled = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (FROM {table})" for table in EVIDENCE_TABLES
    )
    for (table,) in connection.execute(filled).fetchall():
        text = statement("copy_evidence").replace("evidence_table", table)
        execute_on(connection, text, files)

"""Rows that stand once and are referred to by number: each has a key of its content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from hlodb.ingest.arrow import arrow_schema
from hlodb.ingest.hashing import hash64
from hlodb.ingest.recognise.unit_files import FileReport

Row = dict[str, Any]

SNAPSHOTS = arrow_schema("store.snapshots", dropped=("snapshot_id",))
PATHS = arrow_schema("store.paths", dropped=("path_id",))
FILES = arrow_schema("store.files", dropped=("file_id",))
"""Columns of such tables without their numbers, the key first."""


def keyed(rows: Iterable[Row], schema: pa.Schema) -> list[Row]:
    """Return rows with their key: a hash of the other columns of `schema`."""
    key, *names = schema.names
    return [row | {key: hash64(repr([row.get(n) for n in names]))} for row in rows]


def module_table(rows: Iterable[Row]) -> pa.Table:
    """Return rows of `modules`, but for run_id, with the keys of what they refer to."""
    found = keyed(keyed(rows, SNAPSHOTS), PATHS)
    return pa.Table.from_pylist(found, pa.schema([*SNAPSHOTS, *PATHS]))


def file_table(reports: Iterable[tuple[int, FileReport]]) -> pa.Table:
    """Return rows of `dump_files`, their runs given beside them, with their keys."""
    _, *names = FILES.names
    rows = [
        {name: getattr(report, name) for name in names}
        | {"run_id": run_id, "status": report.status}
        for run_id, report in reports
    ]
    schema = pa.schema([*FILES, ("run_id", pa.int64()), ("status", pa.string())])
    return pa.Table.from_pylist(keyed(rows, FILES), schema)

"""What a run holds: its modules and files as small numbers, and evidence of its files.

Content is stored once: a night that changed nothing adds a pair of numbers for each
module, and one number for each file. Evidence (reports of running out of memory,
comparisons of protos) is kept by run and path.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from hlodb.ingest.arrow import arrow_schema
from hlodb.ingest.load.statements import execute_on, statement
from hlodb.ingest.recognise.unit_files import FileReport
from hlodb.ingest.records import Evidence
from hlodb.ingest.tables.content_keys import FILES, PATHS, Row, file_table, keyed
from hlodb.schema.connection import Connection

EVIDENCE_TABLES = (
    *("oom_reports", "oom_buffers", "oom_chunks", "log_memory_stats"),
    "proto_comparisons",
)
"""Tables whose rows come with the files of a unit."""


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
    """Assign runs the evidence of equal files that were read before.

    `files` holds run_id, path, kind and sha256.
    """
    # Most warehouses hold none, and a look at them is cheaper than each statement.
    filled = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (FROM {table})" for table in EVIDENCE_TABLES
    )
    for (table,) in connection.execute(filled).fetchall():
        text = statement("copy_evidence").replace("evidence_table", table)
        execute_on(connection, text, files)


_OF_UNIT = (("run_id", pa.int64()), ("unit_digest", pa.int64()))


def load_modules(connection: Connection, modules: pa.Table) -> None:
    """Store occurrences: a `module_table` with run_id."""
    load_numbered(connection, "store.snapshots", modules)
    load_numbered(connection, "store.paths", modules)
    run_on(connection, "insert_occurrences", modules)


def load_files(connection: Connection, files: pa.Table) -> None:
    """Store the files of runs: a `file_table`."""
    load_numbered(connection, "store.files", files)
    run_on(connection, "insert_run_files", files)


def load_known(
    connection: Connection, occurrences: list[Row], files: list[Row]
) -> None:
    """Store units whose bytes the warehouse knows, without parsing them.

    `occurrences` hold run_id, unit_digest and the columns of `modules` that come from
    names and places; `files` hold run_id, unit_digest, path, kind, stage, sha256 and
    size_bytes.
    """
    if not occurrences:
        return
    schema = pa.schema([*_OF_UNIT, *PATHS])
    found = pa.Table.from_pylist(keyed(occurrences, PATHS), schema)
    load_numbered(connection, "store.paths", found)
    run_on(connection, "insert_known_occurrences", found)
    known = pa.Table.from_pylist(files, pa.schema([*_OF_UNIT, *FILES]))
    load_files(connection, file_table(_described(connection, known)))
    copy_evidence(connection, known)


def _described(connection: Connection, files: pa.Table) -> list[tuple[int, FileReport]]:
    """Return files with the facts known of equal ones."""
    rows = execute_on(connection, statement("describe_known_files"), files)
    return [(run_id, FileReport(*file)) for run_id, *file in rows]


def load_numbered(connection: Connection, table: str, incoming: pa.Table) -> None:
    """Store rows of `incoming` that a table doesn't hold yet, by its key; number them.

    The first two columns of the table are its number and its key.
    """
    if not incoming.num_rows:
        return
    number, key, *names = arrow_schema(table).names
    text = statement("insert_numbered").replace("numbered_table", table)
    text = text.replace("its_number", number).replace("its_key", key)
    execute_on(connection, text, incoming.select([key, *names]))


def run_on(connection: Connection, name: str, incoming: pa.Table) -> int:
    """Execute `sql/NAME.sql`, which reads the table `incoming`; give its row count."""
    if not incoming.num_rows:
        return 0
    [[count]] = execute_on(connection, statement(name), incoming)
    return int(count)

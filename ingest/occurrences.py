"""What a run holds, as small numbers: its modules and files, whose content stands once.

A night that changed nothing adds a pair of numbers for each module, and one number for
each file.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from hlodb.ingest.columns import arrow_schema
from hlodb.ingest.content_keys import FILES, PATHS, Row, file_table, keyed
from hlodb.ingest.evidence import copy_evidence
from hlodb.ingest.statements import statement
from hlodb.ingest.unit_files import FileReport

Connection = duckdb.DuckDBPyConnection


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
    connection: Connection, run_id: int, occurrences: list[Row], files: list[Row]
) -> None:
    """Store units whose bytes the warehouse knows, without parsing them.

    `occurrences` hold unit_digest and the columns of `modules` that come from names and
    places; `files` hold unit_digest, path, kind, stage, sha256 and size_bytes.
    """
    if not occurrences:
        return
    schema = pa.schema([*PATHS, ("unit_digest", pa.int64())])
    found = pa.Table.from_pylist(keyed(occurrences, PATHS), schema)
    load_numbered(connection, "store.paths", found)
    run_on(connection, "insert_known_occurrences", found, run_id=run_id)
    schema = pa.schema([("unit_digest", pa.int64()), *FILES])
    known = pa.Table.from_pylist(files, schema)
    reports = [(run_id, report) for report in _described(connection, known)]
    load_files(connection, file_table(reports))
    copy_evidence(connection, run_id, known)


def _described(connection: Connection, files: pa.Table) -> list[FileReport]:
    """Give files with what is known of equal ones."""
    connection.register("incoming", files)
    found = connection.execute(statement("describe_known_files"))
    names = [column[0] for column in found.description or ()]
    rows = found.fetchall()
    connection.unregister("incoming")
    return [FileReport(**dict(zip(names, row, strict=True))) for row in rows]


def load_numbered(connection: Connection, table: str, incoming: pa.Table) -> None:
    """Store rows of `incoming` that a table doesn't hold yet, by its key; number them.

    The first two columns of the table are its number and its key.
    """
    if not incoming.num_rows:
        return
    number, key, *names = arrow_schema(table).names
    text = statement("insert_numbered").replace("numbered_table", table)
    text = text.replace("its_number", number).replace("its_key", key)
    connection.register("incoming", incoming.select([key, *names]))
    connection.execute(text)
    connection.unregister("incoming")


def run_on(
    connection: Connection, name: str, incoming: pa.Table, **parameters: int
) -> int:
    """Execute `sql/NAME.sql`, which reads the table `incoming`; give its row count."""
    connection.register("incoming", incoming)
    row = connection.execute(statement(name), parameters or None).fetchone()
    connection.unregister("incoming")
    return int(row[0]) if row else 0

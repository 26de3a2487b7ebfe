"""A file as a lake, and a lake as a file: row for row the same."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.lake.catalogue import open_lake, refresh
from hlodb.lake.columns import NUMBERED, literal, part_tables, quoted, unpacked
from hlodb.lake.layout import create_lake, read_contents, root_of
from hlodb.lake.packages import packed_runs, run_key, write_package
from hlodb.queries.renewal import renew_macros
from hlodb.schema.backup import remove_file, settle, sync
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.creation import create_file
from hlodb.schema.drafts import new_beside
from hlodb.schema.waiting import explain, require_file
from hlodb.schema.warehouse import connect

WHOLE = "all-"
"""How packages of many runs begin: they sort before those of one, and so own content
that both hold."""


def pack(file: Path, lake: Path) -> None:
    """Write the warehouse at `file` as a new lake.

    Raises UsageError where there is no file, or the lake holds runs already.
    """
    require_file(file)
    create_lake(lake)
    root = root_of(lake)
    if read_contents(root).packages:
        raise UsageError(f"{lake} holds runs already; name a new lake")
    try:
        with connect(file) as connection:
            runs = packed_runs(connection)
            keys = {run.run_id: run_key(run) for run in runs}
            name = f"{WHOLE}{len(keys)}-runs"
            write_package(connection, root, name, keys, is_whole=True)
    except OSError as error:
        raise WarehouseError(f"cannot write {lake}: {error.strerror}") from error
    refresh(root)


def unpack(lake: Path, file: Path) -> None:
    """Write what a lake shows as a new warehouse at `file`.

    Raises UsageError where `file` exists, WarehouseError where a part cannot be read.
    """
    if file.exists():
        raise UsageError(f"{file} exists; name a new file")
    draft = new_beside(file)
    try:
        with closing(open_lake(lake)) as connection:
            write_file(connection, draft)
        with connect(draft, read_only=False) as connection:
            renew_macros(connection)
        settle(draft)
        os.link(draft, file)
        sync(file.parent)
    except FileExistsError as error:
        raise UsageError(f"{file} exists; name a new file") from error
    except OSError as error:
        raise WarehouseError(f"cannot write {file}: {error.strerror}") from error
    finally:
        remove_file(draft)
        Path(f"{draft}.lock").unlink(missing_ok=True)


def write_file(connection: Connection, path: Path) -> None:
    """Write what a connection to a lake shows as a new file."""
    create_file(path)
    numbered = [*NUMBERED.values()]
    tables = [
        "runs",
        *numbered,
        *(table for table in part_tables() if table not in numbered),
        "findings",
        "finding_events",
    ]
    try:
        # One thread keeps the order of rows, and packs blocks fuller.
        connection.execute("SET threads = 1")
        connection.execute(f"ATTACH {literal(path)} AS unpacked (READ_WRITE)")
        connection.execute("BEGIN")
        for table in tables:
            target = table if "." in table else f"main.{table}"
            connection.execute(
                f"INSERT INTO unpacked.{quoted(target)} BY NAME"
                f" {unpacked(table, 'unpacked')}"
            )
        connection.execute("COMMIT")
        connection.execute("DETACH unpacked")
        connection.execute("RESET threads")
    except DatabaseError as error:
        raise WarehouseError(explain(path, error)) from error

"""A file as a lake, a lake as a file: row for row the same. And a lake as one package.

Compaction writes all that a lake shows as one package in place of many. With the new
package's last part all packages that it holds disappear for readers, in one step. Their
files stay for an hour, until a compaction after it: who reads them now can go on.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.lake.catalogue import open_lake, refresh
from hlodb.lake.columns import (
    NUMBERED,
    folder_of,
    literal,
    part_tables,
    quoted,
    unpacked,
)
from hlodb.lake.layout import (
    create_lake,
    lake_at,
    part_name,
    read_contents,
    remove_abandoned,
)
from hlodb.lake.packages import KEYS, WHOLE, packed_runs, run_key, write_package
from hlodb.lake.storage import Storage, writing
from hlodb.queries.renewal import renew_macros
from hlodb.schema.backup import settle, sync
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.creation import create_file
from hlodb.schema.drafts import new_beside
from hlodb.schema.waiting import explain, require_file
from hlodb.schema.warehouse import connect

READERS_SECONDS = 3600.0
"""How long readers may go on with files that a compaction has replaced."""


def pack(file: Path, lake: Path) -> None:
    """Write the warehouse at `file` as a new lake.

    Raises UsageError where there is no file, or the lake holds runs already.
    """
    require_file(file)
    create_lake(lake)
    storage = lake_at(lake)
    if read_contents(storage).packages:
        raise UsageError(f"{lake} holds runs already; name a new lake")
    with (
        writing(lake),
        storage.drafts() as drafts,
        connect(file, folders=[drafts]) as connection,
    ):
        runs = packed_runs(connection)
        keys = {run.run_id: run_key(run) for run in runs}
        name = f"{WHOLE}{len(keys)}-runs"
        write_package(connection, storage, drafts, name, keys, is_whole=True)
    refresh(storage)


def unpack(lake: Path, file: Path) -> None:
    """Write what a lake shows as a new warehouse at `file`.

    Raises UsageError where `file` exists, WarehouseError where a part cannot be read.
    """
    if file.exists():
        raise UsageError(f"{file} exists; name a new file")
    # A folder of its own: DuckDB writes beside the file, and reaches no other.
    folder = new_beside(file)
    try:
        with writing(file):
            folder.mkdir()
            draft = folder / file.name
            with closing(open_lake(lake_at(lake), [folder])) as connection:
                write_file(connection, draft)
            with connect(draft, read_only=False) as connection:
                renew_macros(connection)
            settle(draft)
            _give_name(draft, file)
            sync(file.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _give_name(draft: Path, file: Path) -> None:
    try:
        os.link(draft, file)
    except FileExistsError as error:
        raise UsageError(f"{file} exists; name a new file") from error


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


def compact_lake(lake: Path, *, readers_seconds: float = READERS_SECONDS) -> bool:
    """Merge the packages of a lake; remove files replaced `readers_seconds` ago.

    Returns False where one package holds all already. Others may write, read and
    compact at the same time. Raises WarehouseError where a part cannot be read.
    """
    storage = lake_at(lake)
    # Listed before it is opened: what is committed in between is in both packages then,
    # and shown once.
    contents = read_contents(storage)
    with (
        writing(lake),
        storage.drafts() as drafts,
        tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder,
        closing(open_lake(storage, [Path(folder)])) as connection,
    ):
        [(is_compact,)] = connection.execute(
            "SELECT is_compact FROM parts.state"
        ).fetchall()
        replaced = connection.execute(
            "SELECT name, list(replaced_by) FROM parts.replaced"
            " GROUP BY name ORDER BY min(place)"
        ).fetchall()
        for name, others in replaced:
            commits = [part_name("runs", other) for other in others]
            if any(storage.is_older(part, readers_seconds) for part in commits):
                _remove(storage, name)
        remove_abandoned(storage)
        if not is_compact:
            replaced_by_it = {*contents.packages, *contents.findings}
            _merge(connection, storage, Path(folder), drafts, replaced_by_it)
    refresh(storage)
    return not is_compact


def _merge(
    connection: Connection,
    lake: Storage,
    folder: Path,
    drafts: Path,
    replaced: set[str],
) -> None:
    """Write what a connection shows as a package that replaces others."""
    rows = connection.execute("SELECT run_id, run_key FROM parts.run_keys").fetchall()
    file = folder / "all.duckdb"
    write_file(connection, file)
    with connect(file, folders=[drafts]) as whole:
        name = f"{WHOLE}{secrets.token_hex(8)}"
        write_package(
            whole, lake, drafts, name, dict(rows), is_whole=True, replaces=replaced
        )


def _remove(lake: Storage, name: str) -> None:
    """Remove a package that another replaces; its commit first."""
    tables = map(folder_of, part_tables())
    for folder in ("runs", *tables, KEYS, "finding_events", "findings"):
        lake.remove(part_name(folder, name))

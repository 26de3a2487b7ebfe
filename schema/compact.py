"""A warehouse written anew: without free blocks, its row groups full.

Every table ends in blocks that are partly filled, and a later night leaves those of an
earlier one behind. All happens in a draft, which takes the file's place when it is
whole and on the disk.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import WarehouseError
from hlodb.schema.backup import (
    absorb_log,
    remove_file,
    require_no_log,
    settle,
    sync,
)
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.drafts import draft_beside
from hlodb.schema.versions import require_version
from hlodb.schema.waiting import (
    BLOCK_BYTES,
    STORAGE_VERSION,
    explain,
    lock_timeout,
    no_other_writer,
    open_when_free,
    require_file,
)
from hlodb.schema.warehouse import explained

_OTHERS_GIVE_UP_SECONDS = 0.05
_BESIDE_A_FILE = (".wal", ".wal.checkpoint", ".wal.recovery", ".tmp")
"""Endings of what DuckDB writes beside a file that it has open."""


class Compaction(NamedTuple):
    """Size of the file before and after (bytes)."""

    before_bytes: int
    after_bytes: int


def compact(path: Path) -> Compaction:
    """Write the warehouse at `path` anew; readers and writers find one or the other.

    Writers wait meanwhile. Raises UsageError where there is no warehouse,
    WarehouseError where it can't be read or written.
    """
    require_file(path)
    path = path.resolve()
    draft = draft_beside(path)
    try:
        with _reading_alone(path, draft) as held:
            require_version(held, path)
            before = path.stat().st_size
            _write_anew(held, draft)
            settle(draft)
            shutil.copymode(path, draft)
            draft.replace(path)
            sync(path.parent)
            # Another program that opened the old file just before still meets our
            # lock, and tries again.
            time.sleep(_OTHERS_GIVE_UP_SECONDS)
            return Compaction(before, path.stat().st_size)
    except OSError as error:
        raise WarehouseError(f"cannot compact {path}: {error.strerror}") from error
    except DatabaseError as error:
        raise WarehouseError(explain(path, error)) from error
    finally:
        remove_file(draft)


@contextmanager
def _reading_alone(path: Path, draft: Path) -> Iterator[Connection]:
    """Yield a connection that reads a file without a log, and keeps writers out.

    It may write the draft.
    """
    timeout = lock_timeout()
    with no_other_writer(path, timeout):
        absorb_log(path)
        files = [draft, *(Path(f"{draft}{ending}") for ending in _BESIDE_A_FILE)]
        with closing(open_when_free(path, timeout, files=files)) as connection:
            require_no_log(path)
            with explained(connection, path):
                yield connection


def _write_anew(held: Connection, draft: Path) -> None:
    [source] = held.execute("SELECT system.main.current_database()").fetchone() or ("",)
    target = f"{source} written anew"
    place = str(draft).replace("'", "''")
    # One thread keeps the order of rows, and packs blocks fuller.
    held.execute("SET threads = 1")
    held.execute(
        f"ATTACH '{place}' AS {_quoted(target)} (READ_WRITE,"
        f" BLOCK_SIZE {BLOCK_BYTES}, STORAGE_VERSION '{STORAGE_VERSION}')"
    )
    held.execute(f"COPY FROM DATABASE {_quoted(source)} TO {_quoted(target)}")
    if _row_counts(held, source) != _row_counts(held, target):
        raise WarehouseError("rows were lost on the way; nothing was changed")
    held.execute(f"DETACH {_quoted(target)}")


def _row_counts(connection: Connection, database: str) -> dict[tuple[str, str], int]:
    tables = connection.execute(
        "SELECT schema_name, table_name FROM system.main.duckdb_tables()"
        " WHERE database_name = ?",
        [database],
    ).fetchall()
    counts = {}
    for schema, table in tables:
        name = ".".join(map(_quoted, (database, schema, table)))
        row = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
        counts[schema, table] = int(row[0]) if row else 0
    return counts


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

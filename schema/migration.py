"""Bringing a warehouse of an older schema up to date, one version at a time.

`schema/migrations/NNN.sql` leads from version NNN - 1 to NNN. All happens on a copy;
only when that has come out as a new warehouse would be does it take the file's place,
and the old file stays beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hlodb.errors import WarehouseError
from hlodb.schema.backup import (
    absorb_log,
    copy_file,
    remove_file,
    require_no_log,
    settle,
    sync,
)
from hlodb.schema.connection import Connection, DatabaseError, in_memory
from hlodb.schema.creation import create_schema
from hlodb.schema.drafts import draft_beside
from hlodb.schema.stored import script_of
from hlodb.schema.versions import SCHEMA_VERSION, require_tables, stored_version
from hlodb.schema.waiting import (
    hold_still,
    lock_timeout,
    no_other_writer,
    open_file,
    open_when_free,
    require_file,
)

Steps = Mapping[int, str]
"""Script that leads to a version, by that version."""

_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable
FROM system.main.duckdb_columns()
WHERE NOT internal
ORDER BY ALL
"""


class Migration(NamedTuple):
    """What was or would be done: versions, and where the old file stays."""

    from_version: int
    to_version: int
    backup: Path | None


def read_steps(folder: Traversable | None = None) -> dict[int, str]:
    """Return the scripts of `schema/migrations`, or of another folder."""
    folder = folder or files("hlodb.schema") / "migrations"
    return {
        int(script.name.removesuffix(".sql")): script.read_text(encoding="utf-8")
        for script in folder.iterdir()
        if script.name.endswith(".sql")
    }


def migrate(
    path: Path, *, dry_run: bool = False, steps: Steps | None = None
) -> Migration:
    """Bring the warehouse at `path` to the schema of this hlodb.

    Everything is tried on a copy first; a dry run ends there. Raises UsageError where
    there is no warehouse, WarehouseError where no script leads on or one fails.
    """
    require_file(path)
    steps = read_steps() if steps is None else steps
    # What is no database is called by its own name, not by that of the draft.
    open_when_free(path, lock_timeout()).close()
    draft = draft_beside(path)
    try:
        # Held to the end, so that nobody writes to a file that is about to be replaced.
        with _alone(path) as file:
            copy_file(file, path, draft)
            version = _known_version(draft, path)
            scripts = _scripts_from(version, steps, path)
            if not scripts:
                return Migration(version, version, None)
            _carry_out(draft, scripts)
            settle(draft)
            if dry_run:
                return Migration(version, SCHEMA_VERSION, None)
            return Migration(version, SCHEMA_VERSION, _exchange(path, draft, version))
    except OSError as error:
        raise WarehouseError(f"cannot migrate {path}: {error.strerror}") from error
    finally:
        remove_file(draft)


@contextmanager
def _alone(path: Path) -> Iterator[BinaryIO]:
    """Yield a file without a log, open for reading, and keep writers out."""
    timeout = lock_timeout()
    with no_other_writer(path, timeout):
        absorb_log(path)
        with hold_still(path, timeout) as file:
            require_no_log(path)
            yield file


def _known_version(draft: Path, path: Path) -> int:
    with closing(open_file(draft, read_only=True)) as connection:
        try:
            version = stored_version(connection)
        except DatabaseError:
            version = None
        if version is None:
            raise WarehouseError(f"{path} is no hlodb warehouse")
        if version == SCHEMA_VERSION:
            require_tables(connection, path)
    if version > SCHEMA_VERSION:
        raise WarehouseError(
            f"{path} has schema version {version}, newer than this hlodb's"
            f" {SCHEMA_VERSION}: install a newer hlodb (`pip install -U hlodb`)"
        )
    return version


def _scripts_from(version: int, steps: Steps, path: Path) -> list[str]:
    wanted = range(version + 1, SCHEMA_VERSION + 1)
    missing = [number for number in wanted if number not in steps]
    if missing:
        raise WarehouseError(
            f"no script leads from schema version {missing[0] - 1} to {missing[0]};"
            f" ingest the dumps of {path} anew, into another file"
        )
    return [steps[number] for number in wanted]


def _carry_out(draft: Path, scripts: list[str]) -> None:
    connection = open_file(draft, read_only=False)
    try:
        connection.execute("BEGIN")
        for script in (*scripts, script_of("views"), script_of("comments")):
            connection.execute(script)
        connection.execute(
            "UPDATE warehouse_info SET value = ? WHERE key = 'schema_version'",
            [str(SCHEMA_VERSION)],
        )
        # Macros are made anew by the next writer: they may read what has changed.
        connection.execute("DELETE FROM warehouse_info WHERE key = 'macros'")
        connection.execute("COMMIT")
        _require_columns_of_a_new_one(connection)
    except DatabaseError as error:
        raise WarehouseError(f"a migration script failed: {error}") from error
    finally:
        connection.close()


def _require_columns_of_a_new_one(connection: Connection) -> None:
    with in_memory() as new:
        create_schema(new)
        wanted = set(new.execute(_COLUMNS).fetchall())
    # Tables and views that people added stay as they are.
    ours = {row[:2] for row in wanted}
    rows = connection.execute(_COLUMNS).fetchall()
    found = {row for row in rows if row[:2] in ours}
    for schema, table, column, *_ in sorted(wanted ^ found):
        raise WarehouseError(
            f"after migration {schema}.{table}.{column} is not as in a new warehouse;"
            " nothing was changed"
        )


def _exchange(path: Path, draft: Path, version: int) -> Path:
    """Put the draft in the file's place; give where the old file is now."""
    backup = path.with_name(f"{path.name}.v{version}")
    number = 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.v{version}~{number}")
    try:
        backup.hardlink_to(path)
    except OSError:
        # A file system without hard links: for a moment nothing has the name.
        path.rename(backup)
    draft.replace(path)
    sync(path.parent)
    return backup

"""Which schema a warehouse has, and what to do where it isn't ours."""

from __future__ import annotations

from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.foreign import Tables, found_tables
from hlodb.schema.stored import digest_of, stored_tables

SCHEMA_VERSION = 1
"""1: first version."""


def schema_digest() -> str:
    """Return the digest of the declared tables, which is part of the version."""
    return digest_of(stored_tables())


def stored_version(connection: Connection) -> int | None:
    """Return the schema version of an open file, None where it is no warehouse."""
    # All rows are fetched: DuckDB 2 takes no tables while a result is unfinished.
    known = connection.execute(
        "SELECT 1 FROM system.main.duckdb_tables()"
        " WHERE table_name = 'warehouse_info' AND schema_name = 'main'"
        " AND database_name = system.main.current_database()"
    ).fetchall()
    if not known:
        return None
    rows = connection.execute(
        "SELECT try_cast(value AS BIGINT) FROM warehouse_info"
        " WHERE key = 'schema_version'"
    ).fetchall()
    return rows[0][0] if rows else None


def is_empty(connection: Connection) -> bool:
    """Return whether an open file holds neither a table nor a view."""
    return not connection.execute(
        "SELECT database_name FROM system.main.duckdb_tables()"
        " WHERE database_name = system.main.current_database()"
        " UNION ALL SELECT database_name FROM system.main.duckdb_views()"
        " WHERE database_name = system.main.current_database() AND NOT internal"
        " LIMIT 1"
    ).fetchall()


def require_version(
    connection: Connection, path: Path, *, is_lake: bool = False
) -> None:
    """Raise WarehouseError unless the file has the schema that this hlodb reads.

    The catalogue of a lake has views in place of most tables, and is made anew.
    """
    try:
        version = stored_version(connection)
    except DatabaseError:
        version = None
    if version is None:
        raise WarehouseError(f"{path} is a DuckDB file but not a hlodb warehouse")
    if version == SCHEMA_VERSION:
        if not is_lake:
            require_tables(connection, path)
        return
    advice = (
        "install a newer hlodb (`pip install -U hlodb`)"
        if version > SCHEMA_VERSION
        else f"`hlodb migrate --db {path}` brings it up to date"
    )
    raise WarehouseError(
        f"{path} has schema version {version}, this hlodb reads version"
        f" {SCHEMA_VERSION}: {advice}"
    )


def require_tables(connection: Connection, path: Path) -> None:
    """Raise WarehouseError unless the tables are those of this version."""
    found, declared = found_tables(connection), stored_tables()
    if found == declared:
        return
    digests = f"{digest_of(found)}, here {schema_digest()}"
    raise WarehouseError(
        f"{path} has schema version {SCHEMA_VERSION} with other tables ({digests}):"
        f" {_difference(found, declared)}."
        " Another build of hlodb made it, or somebody changed it: use that build,"
        " or ingest the dumps into a new file with `hlodb ingest PATH --db NEW`"
    )


def _difference(found: Tables, declared: Tables) -> str:
    """Return the first difference in words, and how many more tables differ."""
    differing = [name for name in declared if found.get(name) != declared[name]]
    more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    name = differing[0]
    if name not in found:
        return f"there is no table {name}{more}"
    lacking = [column for column in declared[name] if column not in found[name]]
    added = [column for column in found[name] if column not in declared[name]]
    if lacking:
        return f"table {name} lacks {', '.join(lacking)}{more}"
    if added:
        return f"table {name} has {', '.join(added)} besides{more}"
    return f"table {name} has columns of another type{more}"

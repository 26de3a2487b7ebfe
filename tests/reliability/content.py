"""What a warehouse holds, whatever the order in which it came: counts and hashes."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Table

from hlodb.schema.tables import PUBLIC, STORE
from hlodb.schema.warehouse import connect
from tests.conftest import BY_NUMBER

Content: TypeAlias = dict[str, tuple[int, int]]
"""Rows and the sum of their hashes, by table."""

# What stands by number is compared through its view; versions of hlodb and its macros
# are not what is stored.
_SKIPPED = BY_NUMBER | {"warehouse_info"}
# When, whence and by what it was stored, not what it is.
_LEFT_OUT = {
    "runs": {"run_id", "origin", "ingested_at", "pruned_at", "hlodb_version"},
}


def content(path: Path) -> Content:
    """Return the content of every table; runs are identified by name, not number."""
    found: Content = {}
    with connect(path) as connection:
        for table in (*PUBLIC.sorted_tables, *STORE.sorted_tables):
            if table.fullname in _SKIPPED:
                continue
            row = connection.execute(_hash_sql(table)).fetchone()
            assert row is not None
            found[table.fullname] = (int(row[0]), int(row[1] or 0))
    return found


def _hash_sql(table: Table) -> str:
    left_out = _LEFT_OUT.get(table.name, set())
    columns = [
        _column_sql(table, c.name) for c in table.columns if c.name not in left_out
    ]
    # hash() takes NULLs as values of their own.
    name = ".".join(f'"{part}"' for part in table.fullname.split("."))
    return f"SELECT count(*), sum(hash({', '.join(columns)})::HUGEINT) FROM {name} AS t"


def _column_sql(table: Table, name: str) -> str:
    if name == "run_id":
        return "(SELECT r.name FROM runs AS r WHERE r.run_id = t.run_id)"
    if (table.name, name) == ("dump_files", "status"):
        # How a file came in: parsed, or known from an equal one that came earlier.
        return "CASE t.status WHEN 'duplicate' THEN 'loaded' ELSE t.status END"
    return f't."{name}"'


def differences(one: Content, other: Content) -> dict[str, tuple[object, object]]:
    """Return the tables that differ, with both sides."""
    return {
        name: (one.get(name), other.get(name))
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    }

"""Objects in a file that would answer in place of DuckDB's own or of hlodb's.

Everybody may add macros, views, tables and types to a warehouse. Those with names of
their own change nothing. A macro called `count` does: whoever counts then runs it. So
may a macro of hlodb's name that somebody replaced.
Statements here name functions in full, `system.main.…`, which no file can replace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hlodb.schema.connection import Connection
from hlodb.schema.stored import stored_tables

UNSAFE_FUNCTIONS = frozenset(
    ("arrow_scan", "arrow_scan_dumb", "enable_logging", "enable_profiling",
     "json_execute_serialized_sql", "pandas_scan", "python_map_function", "query",
     "seq_scan")
)  # fmt: skip
"""Functions that limits don't hold: they write a file or to the standard output, end
the process, or run a text that nobody has looked at."""

_OUTSIDE = "glob|parquet_kv_metadata|parquet_metadata|read_[a-z_]+|sniff_csv"
_OUTSIDE_A_LAKE = "glob|read_(?:blob|csv|json|text)[a-z_]*|sniff_csv"
_NEVER = "|".join(sorted(UNSAFE_FUNCTIONS))
_CALLS = r'(?i)\b({})"?\s*\('

_FUNCTIONS = """
SELECT
  database_name, schema_name, function_name,
  database_name <> 'system' AND system.main.regexp_matches(macro_definition, $calls)
FROM system.main.duckdb_functions()
WHERE database_name <> 'temp'
"""
_VIEWS = """
SELECT schema_name, view_name, system.main.regexp_matches(sql, $calls)
FROM system.main.duckdb_views()
WHERE database_name = system.main.current_database()
"""
_TYPES = """
SELECT internal, type_name FROM system.main.duckdb_types()
"""


def hiding_objects(connection: Connection, *, is_lake: bool = False) -> list[str]:
    """Return the macros, views and types that stand in for others, as `kind name`.

    These have the name of something built in; or they read other files, or call what
    `UNSAFE_FUNCTIONS` lists, which macros and views of hlodb never do.
    """
    calls = _CALLS.format(f"{_NEVER}|{_OUTSIDE_A_LAKE if is_lake else _OUTSIDE}")
    return sorted(
        {
            *_macros(connection, calls),
            *_views(connection, calls),
            *_types(connection),
        }
    )


def listed(objects: Sequence[str], most: int = 3) -> str:
    """Return names of objects for a message: some of many."""
    more = len(objects) - most
    named = ", ".join(objects[:most])
    return f"{named} and {more} more" if more > 0 else named


def _macros(connection: Connection, calls: str) -> Iterator[str]:
    rows = connection.execute(_FUNCTIONS, {"calls": calls}).fetchall()
    built_in = {name.lower() for database, _, name, _ in rows if database == "system"}
    for database, schema, name, is_calling in rows:
        if database != "system" and (is_calling or name.lower() in built_in):
            yield f"macro {_shown(schema, name)}()"


def _views(connection: Connection, calls: str) -> Iterator[str]:
    for schema, name, is_calling in connection.execute(
        _VIEWS, {"calls": calls}
    ).fetchall():
        if is_calling:
            yield f"view {_shown(schema, name)}"


def _types(connection: Connection) -> Iterator[str]:
    rows = connection.execute(_TYPES).fetchall()
    built_in = {name.lower() for is_internal, name in rows if is_internal}
    for is_internal, name in rows:
        if not is_internal and name.lower() in built_in:
            yield f"type {name}"


def _shown(schema: str, name: str) -> str:
    return name if schema == "main" else f"{schema}.{name}"


_TABLES = """
SELECT schema_name, table_name, sql FROM system.main.duckdb_tables()
WHERE database_name = system.main.current_database()
"""
# Of DuckDB's own text: to list columns, DuckDB would bind every view as well.
_COLUMN = re.compile(r'[(,] ?"?([a-z]\w*)"? ([A-Z]\w*(?:\[\])*)')

Tables = dict[str, dict[str, str]]
"""The SQL type of every column of every table."""


def found_tables(connection: Connection) -> Tables:
    """Return the tables of a file that have the names of declared ones."""
    declared = stored_tables()
    rows = connection.execute(_TABLES).fetchall()
    named = ((_shown(schema, table), sql) for schema, table, sql in rows)
    return {
        name: dict(_COLUMN.findall(sql.partition("(")[1] + sql.partition("(")[2]))
        for name, sql in named
        if name in declared
    }

"""The stored tables and their columns, from tables.sql: names and SQL types alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

_FOLDER = Path(__file__).parent
_TABLE = re.compile(r"^CREATE TABLE ([\w.\"]+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
_VIEW = re.compile(r'^CREATE OR REPLACE VIEW "?(\w+)', re.MULTILINE)
_COLUMN = re.compile(r'^  "?([a-z]\w*)"? ([A-Z]+)', re.MULTILINE)
_SAME_TYPES = {"TEXT": "VARCHAR"}
"""What DuckDB calls types that the DDL calls otherwise."""

REPORT_TABLES = (
    "memory_reports",
    "memory_report_allocations",
    "memory_report_values",
)
"""Tables of reports, keyed by module_id: the first report of a module is stored."""


@lru_cache(maxsize=1)
def stored_tables() -> dict[str, dict[str, str]]:
    """Return the SQL type of every column of every stored table.

    Tables of the schema `store` are called `store.NAME`.
    """
    script = script_of("tables")
    return {
        name.replace('"', ""): {
            column: _SAME_TYPES.get(kind, kind)
            for column, kind in _COLUMN.findall(columns)
        }
        for name, columns in _TABLE.findall(script)
    }


def digest_of(tables: Mapping[str, Mapping[str, str]]) -> str:
    """Return a digest of tables, their columns in any order, and the types of these."""
    text = repr(
        sorted((name, sorted(columns.items())) for name, columns in tables.items())
    )
    return blake2b(text.encode(), digest_size=4).hexdigest()


@lru_cache(maxsize=1)
def public_tables() -> frozenset[str]:
    """Return the names of the tables and views that people query."""
    stored = (name for name in stored_tables() if "." not in name)
    return frozenset((*stored, *_VIEW.findall(script_of("views"))))


@lru_cache(maxsize=8)
def script_of(name: str) -> str:
    """Return the text of `schema/NAME.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")

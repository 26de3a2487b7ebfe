"""SQL of the tables of rules, made of their CSV files."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.queries.query import Column
from hlodb.rules import rule_rows


def rules_sql(name: str, columns: Sequence[Column]) -> str:
    """Return a SELECT of the rows of a table of rules; empty fields are NULL."""
    rows = rule_rows(name)
    casts = ", ".join(f"CAST(r.{c.name} AS {c.type}) AS {c.name}" for c in columns)
    names = ", ".join(column.name for column in columns)
    values = ",\n".join(f"  ({', '.join(map(_literal, row))})" for row in rows)
    none = f"  ({', '.join('NULL' for _ in columns)})"
    selected = f"SELECT {casts}\nFROM (VALUES\n{values or none}\n) AS r ({names})"
    return selected if rows else f"{selected}\nWHERE false"


def _literal(field: str) -> str:
    return "'" + field.replace("'", "''") + "'" if field else "NULL"

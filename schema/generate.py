"""Writes what follows from tables/, so that no ingest need load SQLAlchemy for it.

python -m hlodb.schema.generate       tables.sql, comments.sql
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Table, create_engine
from sqlalchemy.schema import CreateTable

from hlodb.schema.tables import PUBLIC, STORE

_FOLDER = Path(__file__).parent
_ABOUT = "-- Made from tables/ by `make docs`.\n\n"


def generated() -> dict[Path, str]:
    """Give the text of every file that is made from tables/."""
    tables = [*STORE.sorted_tables, *PUBLIC.sorted_tables]
    stored = [table for table in tables if not table.info.get("view")]
    comments = [comment for table in tables for comment in _comments(table)]
    return {
        _FOLDER / "tables.sql": _ABOUT + ";\n\n".join(_creates(stored)) + ";\n",
        _FOLDER / "comments.sql": _ABOUT + ";\n".join(comments) + ";\n",
    }


def _creates(tables: list[Table]) -> Iterator[str]:
    dialect = create_engine("duckdb:///:memory:").dialect
    for table in tables:
        lines = str(CreateTable(table).compile(dialect=dialect)).strip().splitlines()
        yield "\n".join(line.rstrip().replace("\t", "  ") for line in lines)


def _comments(table: Table) -> Iterator[str]:
    full = f'"{table.schema}"."{table.name}"' if table.schema else f'"{table.name}"'
    what = "VIEW" if table.info.get("view") else "TABLE"
    yield f"COMMENT ON {what} {full} IS {_quote(table.comment or '')}"
    for column in table.columns:
        text = _quote(column.comment or "")
        yield f'COMMENT ON COLUMN {full}."{column.name}" IS {text}'


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")

"""Writes what follows from tables/, so that no ingest need load SQLAlchemy for it.

python -m hlodb.schema.generate       tables.sql, comments.sql, keys.csv, references.csv
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy import Table, create_engine
from sqlalchemy.schema import CreateTable

from hlodb.schema.declared import DeclaredKey, DeclaredReference
from hlodb.schema.tables import PUBLIC, STORE

_FOLDER = Path(__file__).parent
_ABOUT = "-- Made from tables/ by `make docs`.\n\n"


def generated() -> dict[Path, str]:
    """Return the text of every file that is made from tables/."""
    tables = [*STORE.sorted_tables, *PUBLIC.sorted_tables]
    stored = [table for table in tables if not table.info.get("view")]
    comments = [comment for table in tables for comment in _comments(table)]
    return {
        _FOLDER / "tables.sql": _ABOUT + ";\n\n".join(_creates(stored)) + ";\n",
        _FOLDER / "comments.sql": _ABOUT + ";\n".join(comments) + ";\n",
        _FOLDER / "keys.csv": _csv(DeclaredKey._fields, _keys(tables)),
        _FOLDER / "references.csv": _csv(
            DeclaredReference._fields, _references(tables)
        ),
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


def _keys(tables: list[Table]) -> Iterator[DeclaredKey]:
    for table in tables:
        for key in table.info["keys"]:
            source = _source(table.name, key)
            yield DeclaredKey(table.name, source, " ".join(key), table.info["proof"])


def _references(tables: list[Table]) -> Iterator[DeclaredReference]:
    for table in tables:
        shown = table.info.get("shown_as", table.name)
        for reference in table.info["references"]:
            targets = reference.targets or reference.columns
            yield DeclaredReference(
                shown,
                _source(table.name, reference.columns),
                " ".join(reference.columns),
                reference.table,
                _source(reference.table, targets),
                " ".join(targets),
                reference.lacks or "",
                "yes"
                if _is_public(shown, reference.columns[-1])
                and _is_public(reference.table, targets[-1])
                else "",
            )


def _source(name: str, columns: Iterable[str]) -> str:
    """Return the SQL name of the stored table `name` that has `columns`, or a view."""
    quoted = f'"{name}"' if name == "values" else name
    stored = STORE.tables.get(f"store.{name}")
    has_all = stored is not None and set(columns) <= set(stored.columns.keys())
    return f"store.{quoted}" if has_all else quoted


def _is_public(table: str, column: str) -> bool:
    return table in PUBLIC.tables and column in PUBLIC.tables[table].columns


def _csv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([header, *rows])
    return out.getvalue()


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")

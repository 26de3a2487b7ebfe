"""`hlodb schema`: tables, columns and units, from the one place that declares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hlodb.commands.options import format_option, output_option, write_result
from hlodb.errors import UsageError
from hlodb.queries.describe import described_tables
from hlodb.queries.result import Result, plain_column
from hlodb.text import nearest

_COLUMNS = ("table", "column", "type", "unit", "comment")


@click.command("schema")
@click.argument("table", required=False)
@format_option
@output_option
def command(table: str | None, form: str, output: Path | None) -> None:
    """Show the tables of the warehouse, their columns and units.

    \b
    hlodb schema
    hlodb schema allocations
    hlodb schema --format markdown > schema.md
    """
    tables = described_tables()
    if table is not None:
        tables = [_find(tables, table)]
    if form == "json" and output is None:
        click.echo(json.dumps(tables, indent=1, ensure_ascii=False))
    elif form == "markdown" and output is None:
        click.echo(schema_page(tables), nl=False)
    elif form == "table" and output is None:
        click.echo(schema_listing(tables), nl=False)
    else:
        write_result(_rows(tables), form, output)


def schema_page(tables: list[dict[str, Any]]) -> str:
    """Return the tables as a page of Markdown."""
    parts = []
    for table in tables:
        parts.append(f"## {table['name']}\n\n{table['comment']}\n")
        parts.append("| column | type | unit | what |\n| --- | --- | --- | --- |")
        parts += [
            f"| `{c['name']}` | {c['type']} | {c['unit']} | {c['comment']} |"
            for c in table["columns"]
        ]
        parts.append("")
    return "\n".join(parts)


def schema_listing(tables: list[dict[str, Any]]) -> str:
    """Return the tables as text for a terminal."""
    lines = []
    for table in tables:
        lines.append(f"{click.style(table['name'], bold=True)}: {table['comment']}")
        width = max(len(c["name"]) for c in table["columns"])
        lines += [
            f"  {c['name']:{width}}  {c['type']:9}  {c['comment']}"
            for c in table["columns"]
        ]
        lines.append("")
    return "\n".join(lines)


def _find(tables: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for table in tables:
        if table["name"] == name:
            return table
    names = [table["name"] for table in tables]
    hint = nearest(name, names) or "; `hlodb schema` lists them"
    raise UsageError(f"there is no table {name!r}{hint}")


def _rows(tables: list[dict[str, Any]]) -> Result:
    columns = tuple(plain_column(name, "VARCHAR") for name in _COLUMNS)
    rows = [
        (table["name"], c["name"], c["type"], c["unit"], c["comment"])
        for table in tables
        for c in table["columns"]
    ]
    return Result(columns, rows)

"""`hlodb sql`: SQL of one's own, read-only."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hlodb.commands.options import (
    UTF8,
    bounds_option,
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.queries.run import run_sql
from hlodb.terminal.narration import narrate


@click.command("sql")
@click.argument("statement", type=UTF8)
@db_option
@format_option
@bounds_option
@output_option
def command(statement: str, db: Path, form: str, output: Path | None) -> None:
    """Run your own SQL, read-only.

    `hlodb schema` lists the tables; canned queries are table macros. A statement cannot
    read or write other files. - is a statement on the standard input.

    \b
    hlodb sql "SELECT r.name, program, stage FROM runs r JOIN modules USING (run_id)"
    hlodb sql "FROM peak_by_space() WHERE fragmentation_ratio > 0.1"
    hlodb sql - --format csv < question.sql
    """
    text = sys.stdin.read() if statement == "-" else statement
    with open_for_reading(db) as connection:
        result = run_sql(connection, text)
        count = len(connection.extract_statements(text))
    if count > 1:
        narrate(f"ran {count} statements; these are the rows of the last")
    write_result(result, form, output)

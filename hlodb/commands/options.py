"""What the commands share: options, opening the warehouse, writing a result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import duckdb

from hlodb.errors import UsageError
from hlodb.queries.render import BINARY_FORMATS, FORMATS, writer
from hlodb.queries.result import Result
from hlodb.schema.warehouse import connect

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

db_option: Decorator = click.option(
    "--db",
    metavar="FILE",
    envvar="HLODB_DB",
    default="hlodb.duckdb",
    show_default=True,
    show_envvar=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The warehouse.",
)

format_option: Decorator = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="How rows are written.",
)

output_option: Decorator = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write rows to a file instead of the standard output.",
)


def open_for_reading(db: Path) -> duckdb.DuckDBPyConnection:
    """Give a read-only connection from which no other file can be reached."""
    connection = connect(db, read_only=True)
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def write_result(result: Result, form: str, output: Path | None) -> None:
    """Write rows to `output`, else to the standard output.

    Raises UsageError where a binary form would go to a terminal.
    """
    write = writer(form)
    if output is not None:
        with output.open("wb") as stream:
            write(result, stream)
        return
    if form in BINARY_FORMATS and sys.stdout.isatty():
        raise UsageError(f"{form} is binary: give --output FILE, or redirect")
    write(result, sys.stdout.buffer)

"""`hlodb mcp`: answers for assistants, over standard streams."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from hlodb.commands.options import db_option
from hlodb.errors import UsageError
from hlodb.mcp.protocol import Server
from hlodb.mcp.service import Answers
from hlodb.mcp.session import Session

_LOCK_SECONDS = "5"
"""Time to wait for a locked warehouse: an assistant waits for the answer."""


@click.command("mcp")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True, writable=True),
    help="Write answers that are too long to this folder, as Parquet files.",
)
@db_option
def command(folder: Path | None, db: Path) -> None:
    """Serve the warehouse to assistants over the Model Context Protocol.

    An assistant starts this command and speaks with it over the standard streams. Its
    tools only read: explain, diff, find_queries, ask, sql, describe, evidence and fit.
    Every answer is short, says what it leaves out, and ends with the command that
    repeats it. The warehouse may be missing or locked at first: it is opened for each
    question.

    \b
    hlodb mcp --db nightly.duckdb
    hlodb mcp --db nightly.duckdb --folder /tmp/answers
    """
    if sys.stdin.isatty():
        raise UsageError(
            "an assistant starts `hlodb mcp`: add the command to its settings"
        )
    os.environ.setdefault("HLODB_LOCK_TIMEOUT", _LOCK_SECONDS)
    # What prints by mistake must not mix with answers.
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") as wire:
        os.dup2(2, 1)
        try:
            Server(Answers(Session(db.absolute(), folder)), wire).serve(
                sys.stdin.buffer
            )
        finally:
            os.dup2(wire.fileno(), 1)

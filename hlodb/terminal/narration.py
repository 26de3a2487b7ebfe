"""What commands say on the standard error, beside their results."""

from __future__ import annotations

import logging

import click

DB_IN_COMMANDS = "hlodb.db"
"""Where click's context keeps the warehouse that printed commands have to name."""


def narrate(*lines: str) -> None:
    """Print a message on the standard error, as a terminal can show it.

    Names from dumps stand in it: what does not print comes as `\\n` or `\\u202e`.
    """
    # Loaded when something is said: many commands say nothing.
    from hlodb.text import visible

    shown = (visible(with_named_db(line)) for line in lines)
    click.echo("hlodb: " + "\n".join(shown), err=True)


def with_named_db(message: str) -> str:
    """Return a message whose commands name the warehouse of the running command."""
    from hlodb.printed_commands import text_with_db

    context = click.get_current_context(silent=True)
    db = None if context is None else context.meta.get(DB_IN_COMMANDS)
    return text_with_db(message, db)


class Narrator(logging.Handler):
    """Says warnings of the library as commands say theirs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one warning."""
        narrate(record.getMessage())

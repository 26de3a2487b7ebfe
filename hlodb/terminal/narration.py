"""What commands say on the standard error, beside their results."""

from __future__ import annotations

import logging

import click


def narrate(*lines: str) -> None:
    """Print a message on the standard error, as a terminal can show it.

    Names from dumps stand in it: what does not print comes as `\\n` or `\\u202e`.
    """
    # Loaded when something is said: many commands say nothing.
    from hlodb.text import visible

    click.echo("hlodb: " + "\n".join(map(visible, lines)), err=True)


class Narrator(logging.Handler):
    """Says warnings of the library as commands say theirs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one warning."""
        narrate(record.getMessage())

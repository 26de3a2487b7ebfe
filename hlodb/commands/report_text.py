"""A report as `hlodb report` and `hlodb diff` write it: fitted to a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hlodb.commands.options import output_stream

if TYPE_CHECKING:
    from hlodb.reports.judge.report import Report

color_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour verdicts and differences; auto on a terminal, unless $NO_COLOR is"
    " set.",
)


def write_report(report: Report, form: str, output: Path | None, color: str) -> None:
    """Write a report; as text on a terminal it is wrapped, and coloured if wanted."""
    with output_stream(output) as stream:
        stream.write(_written(report, form, output, color))


def _written(report: Report, form: str, output: Path | None, color: str) -> bytes:
    from hlodb.reports.render.forms import renderer

    if form != "text":
        return renderer(form)(report).encode()
    # Loaded when needed, as every form is.
    from hlodb.reports.render.text import render_for_terminal

    width = text_width(output)
    is_coloured = wants_color(output, color)
    return render_for_terminal(report, width, is_coloured=is_coloured).encode()


def text_width(output: Path | None) -> int | None:
    """Return the width of the terminal that is written to, or that COLUMNS names.

    None where there is neither: text is as wide as it is.
    """
    is_terminal = output is None and sys.stdout.isatty()
    is_told = output is None and os.environ.get("COLUMNS", "").isdecimal()
    return shutil.get_terminal_size().columns if is_terminal or is_told else None


def wants_color(output: Path | None, color: str) -> bool:
    """Return whether text is coloured: `color` is what --color says."""
    is_terminal = output is None and sys.stdout.isatty()
    return color == "always" or (
        color == "auto" and is_terminal and not os.environ.get("NO_COLOR")
    )

"""A report as `hlodb report` and `hlodb diff` write it: fitted to a terminal."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

import click

from hlodb.commands.options import output_stream
from hlodb.terminal.narration import narrate

if TYPE_CHECKING:
    from hlodb.reports.judge.report import Report

open_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--open",
    "is_opened",
    is_flag=True,
    help="Write an HTML page and show it in the browser.",
)


def new_page(command: str) -> Path:
    """Return the path of a new file for a page, which stays for the browser to read."""
    handle, path = mkstemp(prefix=f"hlodb-{command}-", suffix=".html")
    os.close(handle)
    return Path(path)


def show_page(page: Path) -> None:
    """Show a page in the browser, and say where it is."""
    webbrowser.open(page.absolute().as_uri())
    narrate(f"the page is {page}")


color_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour verdicts and differences; auto on a terminal, unless $NO_COLOR is"
    " set.",
)


def write_report(report: Report, form: str, output: Path | None, color: str) -> None:
    """Write a report; text is fitted to the terminal, and coloured if wanted."""
    with output_stream(output) as stream:
        stream.write(_written(report, form, output, color).encode())


def _written(report: Report, form: str, output: Path | None, color: str) -> str:
    # Loaded when needed, as every form is.
    from hlodb.reports.render.forms import renderer

    if form != "text" or not wants_color(output, color):
        return renderer(form)(report)
    from hlodb.reports.render.text import render_coloured

    return render_coloured(report)


def wants_color(output: Path | None, color: str) -> bool:
    """Return whether text is coloured: `color` is what --color says."""
    is_terminal = output is None and sys.stdout.isatty()
    return color == "always" or (
        color == "auto" and is_terminal and not os.environ.get("NO_COLOR")
    )

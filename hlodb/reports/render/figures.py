"""One picture as a page of its own."""

from __future__ import annotations

from hlodb.errors import DataQualityError, UsageError
from hlodb.reports.document.blocks import Section
from hlodb.reports.pictures.draw_curves import draw_curves
from hlodb.reports.read.drawn.curves import curve_of
from hlodb.reports.read.overview import memory_spaces, read_overview
from hlodb.reports.render.html import page
from hlodb.schema.connection import Connection
from hlodb.version import __version__


def timeline_page(
    connection: Connection, run: str | None, program: str, color: int
) -> tuple[str, str]:
    """Return a page with a program's live memory over the schedule, and its sentence.

    Raises UsageError where the program does not use the memory space.
    """
    overview = read_overview(connection, run, program, points=0)
    spaces = [s for s in memory_spaces(overview) if s["color"] == color]
    if not spaces:
        raise UsageError(f"{program} does not use memory space {color}")
    title = f"{program}: {spaces[0]['space_name']}"
    curve = curve_of(overview, spaces[0], "1")
    if curve is None:
        raise DataQualityError(f"the dump of {program} holds no live ranges")
    picture = draw_curves(curve, title, "program")
    sections = [Section(title, [])]
    drawn, version = {title: [picture]}, f"hlodb {__version__}"
    lines = page(title, sections, drawn, {}, "nothing", version)
    return "\n".join(lines), picture.text

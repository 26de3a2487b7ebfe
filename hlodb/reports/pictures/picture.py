"""A picture: a drawing, the sentence that it proves, and its figures as a table."""

from __future__ import annotations

from typing import NamedTuple

from hlodb.reports.document.blocks import Table
from hlodb.reports.document.escape import html
from hlodb.reports.pictures.paint import ROOT
from hlodb.reports.pictures.svg import WIDTH, element


class Picture(NamedTuple):
    """A drawing of `height`, with an id of its own.

    `text` is its caption, `more` what is said where it is looked at closely. `figures`
    is a table of what is drawn, None where a table beside it says as much. `width` is
    in units of its own, which a page scales.
    """

    id: str
    title: str
    text: str
    height: float
    drawing: str
    figures: Table | None
    width: float = WIDTH
    more: str = ""


def svg(picture: Picture) -> str:
    """Return the picture as an element of a page, also for those who hear the page."""
    title, text = f"{picture.id}-title", f"{picture.id}-text"
    words = element("title", html(picture.title), id=title)
    words += element("desc", html(picture.text), id=text)
    # An element to a line: then the difference of two pages can be read.
    content = (words + picture.drawing).replace("><", ">\n<")
    box = f"0 0 {picture.width:.0f} {picture.height:.0f}"
    inherited = "".join(f' {name}="{value}"' for name, value in ROOT.items())
    return (
        f'<svg role="img" aria-labelledby="{title}" aria-describedby="{text}"'
        f'{inherited} viewBox="{box}">\n{content}\n</svg>'
    )

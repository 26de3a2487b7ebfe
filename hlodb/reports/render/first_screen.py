"""Render the first screen of a page of `hlodb explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlodb.reports.document.escape import html, html_prose
from hlodb.reports.document.first_screen import FirstScreen, Remedy
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.render.html import figure


def first_lines(first: FirstScreen, drawn: Sequence[Picture]) -> Iterator[str]:
    """Yield the pictures of a memory space, and what to do about it."""
    yield f'<div class="first" role="group" aria-label="{html(first.title)}">'
    for picture in drawn:
        kind = html(picture.id.partition("-")[0])
        narrow = " narrow" if picture.id.endswith("-narrow") else ""
        yield from figure(picture, f"{kind}{narrow}")
    yield f'<p class="note">{html(first.note)}</p>'
    yield '<section class="remedies" aria-labelledby="what-to-do">'
    yield '<h2 id="what-to-do">What to do</h2>'
    if first.nothing:
        yield f"<p>{html_prose(first.nothing)}</p>"
    else:
        yield "<ol>"
        for remedy in first.remedies:
            yield f"<li>{_remedy(remedy)}</li>"
        yield "</ol>"
        if first.estimate:
            yield f'<p class="note">{html(first.estimate)}.</p>'
    yield "</section></div>"


def _remedy(remedy: Remedy) -> str:
    figures = ", ".join(
        f"<b>{html(size)}</b> {html(what)}" for size, what in remedy.figures
    )
    standing = f" ({html(remedy.standing)})" if remedy.standing else ""
    then = f"; {html(remedy.then)}" if remedy.then else ""
    where = f"<code>{html(remedy.where)}</code> " if remedy.where else ""
    cost = f" Cost: {html(remedy.cost)}" if remedy.cost else ""
    return (
        f'<p class="figure">{figures}{standing}{then}</p>'
        f"<p>{where}{html(remedy.subject)}: {html(remedy.advice)}{cost}</p>"
    )

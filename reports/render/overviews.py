"""Every form of an overview of runs: text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hlodb.reports.outline.outline import Section
from hlodb.reports.overview.outline import headline, outline
from hlodb.reports.overview.overview import OVERVIEW_SCHEMA, Overview
from hlodb.reports.render import markdown, text
from hlodb.text import json_text


class Shown(NamedTuple):
    """How much is shown, and how: `width` is that of a terminal."""

    programs: int
    top: int
    width: int | None = None
    is_coloured: bool = False


def rendered(overviews: Sequence[Overview], form: str, shown: Shown) -> str:
    """Return overviews of runs in one of FORMATS, one after another."""
    return FORMATS[form](overviews, shown)


def _text(overviews: Sequence[Overview], shown: Shown) -> str:
    parts = [
        text.document(headline(each), _sections(each, shown), shown.width)
        for each in overviews
    ]
    if shown.is_coloured:
        parts = [text.coloured(part, "") for part in parts]
    return "\n".join(parts)


def _markdown(overviews: Sequence[Overview], shown: Shown) -> str:
    return "\n".join(
        markdown.document(headline(each), _sections(each, shown)) for each in overviews
    )


def _json(overviews: Sequence[Overview], shown: Shown) -> str:
    """Return every row of every query, in the units and names that it has there."""
    runs = [
        {
            "run": each.run.name,
            "headline": headline(each),
            "answers": each.answers,
        }
        for each in overviews
    ]
    return json_text({"overview_schema": OVERVIEW_SCHEMA, "runs": runs}, indent=1)


def _sections(overview: Overview, shown: Shown) -> list[Section]:
    return outline(overview, shown.programs, shown.top)


FORMATS: dict[str, Callable[[Sequence[Overview], Shown], str]] = {
    "text": _text,
    "markdown": _markdown,
    "json": _json,
}

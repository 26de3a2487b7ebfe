"""Every format of `hlodb explain`: text, Markdown, HTML, JSON, compact JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from hlodb.reports.document.blocks import Section
from hlodb.reports.document.explanation import MORE, headline, outline
from hlodb.reports.read.drawn.curves import curve_of
from hlodb.reports.read.overview import (
    OVERVIEW_SCHEMA,
    Overview,
    described_spaces,
    failures,
)
from hlodb.reports.render import markdown, text
from hlodb.text import json_text
from hlodb.version import __version__

if TYPE_CHECKING:
    from hlodb.reports.pictures.picture import Picture
    from hlodb.reports.read.drawn.overview_drawings import Drawings


class Shown(NamedTuple):
    """How much is shown, and how.

    `drawings` are what a page draws of each overview, and `unsound` says what is wrong
    with its data, which the compact form has. Commands to ask more need a warehouse or
    a dump.
    """

    programs: int
    top: int
    is_coloured: bool = False
    drawings: Sequence[Drawings] = ()
    has_commands: bool = True
    unsound: Sequence[Sequence[str]] = ()


def rendered(overviews: Sequence[Overview], form: str, shown: Shown) -> str:
    """Return overviews of runs in one of FORMATS, one after another."""
    return FORMATS[form](overviews, shown)


def _text(overviews: Sequence[Overview], shown: Shown) -> str:
    parts = [
        text.document(headline(each), _sections(each, shown)) for each in overviews
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


def _compact(overviews: Sequence[Overview], shown: Shown) -> str:
    """Return an object in one line for each run."""
    from hlodb.reports.render.compact import explained

    unsound = shown.unsound or [()] * len(overviews)
    found = map(explained, overviews, unsound)
    return "".join(f"{json_text(each)}\n" for each in found)


def _html(overviews: Sequence[Overview], shown: Shown) -> str:
    """Return one page of all runs; that of one run shows its first program first."""
    # Pictures take a while to load, and no other form has any.
    from hlodb.reports.render import html

    parts = explained_parts(overviews, shown)
    lines = html.page(
        "; ".join(headline(each) for each in overviews),
        parts.sections,
        parts.drawn,
        {},
        parts.shade,
        f"hlodb {__version__}",
        parts.first_lines,
        parts.folded,
        parts.sentences,
    )
    return "".join(f"{line}\n" for line in lines)


class Parts(NamedTuple):
    """The parts of a page of `hlodb explain`, as `html.page` takes them."""

    sections: Sequence[Section]
    drawn: Mapping[str, Sequence[Picture]]
    shade: str
    first_lines: Sequence[str]
    folded: Set[str]
    sentences: Sequence[str]


def explained_parts(overviews: Sequence[Overview], shown: Shown) -> Parts:
    """Return the parts of the page of all runs."""
    from hlodb.reports.document.first_screen import first_screen
    from hlodb.reports.pictures.draw_arenas import draw_arenas
    from hlodb.reports.pictures.draw_curves import draw_curves
    from hlodb.reports.pictures.draw_first import draw_first
    from hlodb.reports.render.first_screen import first_lines

    sections: list[Section] = []
    drawn: dict[str, list[Picture]] = {}
    for number, each in enumerate(overviews):
        maps = shown.drawings[number].maps if shown.drawings else {}
        # Runs may have programs of one name.
        run = f"{each.run.name}, " if len(overviews) > 1 else ""
        sections += [
            section._replace(title=run + section.title)
            for section in _sections(each, shown)
        ]
        for title, space in described_spaces(each, shown.programs).items():
            curve = curve_of(each, space, str(len(drawn) + 1))
            pictures = drawn.setdefault(run + title, [])
            if curve is not None:
                pictures.append(draw_curves(curve, title, "program"))
            if title in maps:
                pictures.append(draw_arenas(maps[title], title))
    shade = "fail" if any(map(_is_short, overviews)) else "nothing"
    # Of several runs nothing is said first.
    is_one = len(overviews) == 1 and shown.drawings
    first = first_screen(overviews[0]) if is_one else None
    if first is None:
        return Parts(sections, drawn, shade, (), set(), ())
    peaks = shown.drawings[0].peaks
    drawn_first = draw_first(overviews[0], first, peaks.get(first.title, ()))
    return Parts(
        sections,
        drawn,
        shade,
        list(first_lines(first, drawn_first)),
        {*drawn, "Programs"},
        first.sentences,
    )


def _is_short(overview: Overview) -> bool:
    """Return whether a program ran out of memory or does not fit."""
    rows = overview.answers["headroom"]
    return bool(failures(overview)) or any(row["status"] == "oom" for row in rows)


def _sections(overview: Overview, shown: Shown) -> list[Section]:
    sections = outline(overview, shown.programs, shown.top)
    return [each for each in sections if shown.has_commands or each.title != MORE]


FORMATS: dict[str, Callable[[Sequence[Overview], Shown], str]] = {
    "text": _text,
    "markdown": _markdown,
    "html": _html,
    "json": _json,
    "compact": _compact,
}

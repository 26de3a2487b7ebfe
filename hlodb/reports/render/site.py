"""Render the pages of a site: those of reports and explanations, with links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlodb.reports.document.blocks import Section
from hlodb.reports.document.explanation import MORE, headline
from hlodb.reports.document.site import HISTORY
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.read.drawn.overview_drawings import Drawings
from hlodb.reports.read.overview import Overview
from hlodb.reports.render import html
from hlodb.reports.render.html import Link
from hlodb.reports.render.overviews import Shown, explained_parts
from hlodb.version import __version__

FOOTER = f"hlodb {__version__}"


def plain_page(
    title: str,
    sections: Sequence[Section],
    drawn: Mapping[str, Sequence[Picture]],
    links: Sequence[Link],
    sentences: Sequence[str] = (),
) -> str:
    """Return a page of sections and pictures by their titles."""
    lines = html.page(
        title, sections, drawn, {}, "nothing", FOOTER, sentences=sentences, links=links
    )
    return _text(lines)


def run_page(
    title: str, report: Report, more: Sequence[Section], links: Sequence[Link]
) -> str:
    """Return the page of a run and the run before; `more` sections follow findings."""
    return _text(html.report_page(report, title, more, links, FOOTER))


def program_page(
    overview: Overview,
    drawings: Drawings,
    history: Section,
    trends: Sequence[Picture],
    links: Sequence[Link],
    shown: Shown,
) -> str:
    """Return the page of a program: its history, and what `hlodb explain` shows."""
    parts = explained_parts([overview], shown._replace(drawings=[drawings]))
    sections = [section for section in parts.sections if section.title != MORE]
    title = headline(overview).removeprefix(f"{overview.run.name}: ")
    lines = html.page(
        title,
        [history, *sections],
        {**parts.drawn, HISTORY: trends},
        {},
        parts.shade,
        FOOTER,
        parts.first_lines,
        parts.folded,
        [*parts.sentences, f"As run {overview.run.name} has it."],
        links,
    )
    return _text(lines)


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

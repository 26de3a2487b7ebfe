"""The report as one HTML page, with its pictures: nothing is loaded from elsewhere.

A script makes pictures and tables explorable; without it all can be read. The words,
figures and their order are those of the outline, as in every other form. Light or dark
is the reader's choice, and what is folded is unfolded on paper.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import takewhile, zip_longest
from typing import NamedTuple

from hlodb.reports.document.blocks import (
    Block,
    Card,
    Commands,
    Paragraph,
    Section,
    Table,
)
from hlodb.reports.document.escape import html, html_prose
from hlodb.reports.document.report import SAID_FIRST, outline, subtitle
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.verdict import unjudged_growth
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_findings, pictures_of_sections

TOP = 100

# Whatever a name in a dump may look like, a browser loads nothing and runs our script
# alone: it knows both by their digests.
_POLICY = "default-src 'none'; style-src '{style}'; script-src '{script}'"

Pictures = Mapping[str, Sequence[Picture]]


class Link(NamedTuple):
    """A text that leads to another page; `target` is relative to this one."""

    text: str
    target: str


def render(report: Report) -> str:
    """Return the page."""
    footer = f"hlodb {report.hlodb_version}, report {report.report_id}"
    lines = report_page(report, report.headline, (), (), footer)
    return "".join(f"{line}\n" for line in lines)


def report_page(
    report: Report,
    title: str,
    more: Sequence[Section],
    links: Sequence[Link],
    footer: str,
) -> Iterator[str]:
    """Yield the lines of the page of a report.

    Sections of `more` take the place of those with their titles, or come last, and are
    open; `links` are as in `page`.
    """
    own = {section.title: section for section in more}
    outlined = [own.pop(s.title, s) for s in outline(report, TOP)]
    sections = [*outlined, *own.values()]
    of_sections = pictures_of_sections(report)
    of_findings = pictures_of_findings(report)
    drawn = _taken_first(report, of_sections, of_findings)
    is_unjudged = report.verdict == "pass" and unjudged_growth(report)
    said = [section for section in sections if section.title == SAID_FIRST]
    rest = [section for section in sections if section.title != SAID_FIRST]
    is_open = {"Findings", *(section.title for section in more)}
    yield from page(
        title,
        rest,
        of_sections,
        of_findings,
        # A diff judges nothing, whatever it shows.
        "nothing" if is_unjudged or report.kind == "diff" else report.verdict,
        footer,
        _said_first(said, drawn),
        {section.title for section in rest} - is_open,
        [subtitle(report)],
        links=links,
    )


def _taken_first(
    report: Report,
    of_sections: Mapping[str, list[Picture]],
    of_findings: Mapping[str, list[Picture]],
) -> list[Picture]:
    """Take the pictures that are shown first: why memory moved, and its history."""
    drawn = []
    first = next((f.id for f in report.findings if of_findings.get(f.id)), None)
    if first is not None and of_findings[first][0].id.startswith("waterfall-"):
        drawn.append(of_findings[first].pop(0))
    if of_sections["History"]:
        drawn.append(of_sections["History"].pop(0))
    return drawn


def _said_first(said: Sequence[Section], drawn: Sequence[Picture]) -> Iterator[str]:
    """Yield what a report says in short, beside its first pictures."""
    if not said and not drawn:
        return
    yield '<div class="first report">'
    yield from _sections(said, {}, {}, frozenset())
    if drawn:
        yield '<div class="drawn">'
        for picture in drawn:
            yield from figure(picture)
        yield "</div>"
    yield "</div>"


def page(
    title: str,
    sections: Sequence[Section],
    of_sections: Pictures,
    of_findings: Pictures,
    shade: str,
    footer: str,
    first: Iterable[str] = (),
    folded: Set[str] = frozenset(),
    sentences: Sequence[str] = (),
    links: Sequence[Link] = (),
) -> Iterator[str]:
    """Yield the lines of a page; pictures are by title of a section, or by finding.

    `sentences` stand below the headline, and `first`, lines of HTML, before sections.
    Those with a title in `folded` wait to be opened; the others are listed on top.
    `links` lead to other pages, from above the headline.
    """
    style, script = _part("report.css"), _part("report.js")
    policy = _POLICY.format(style=_digest(style), script=_digest(script))
    headline = html(title)
    mark, _, words = title.partition(" ")
    said = headline
    if words and not any(map(str.isalnum, mark)):
        # The words say the same: a mark is for the eye alone.
        said = f'<span aria-hidden="true">{html(mark)} </span>{html(words)}'
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{headline}</title>"
    yield f"<style>{style}</style></head>"
    around = "".join(_navigation("Site", links, ' class="site"')) if links else ""
    yield f'<body>{around}<header class="{html(shade)}"><h1>{said}</h1>'
    yield from (f"<p>{html(sentence)}</p>" for sentence in sentences)
    if not folded:
        yield from _contents(sections)
    yield "</header>"
    yield "<main>"
    yield from first
    yield from _sections(sections, of_sections, of_findings, folded)
    yield "</main>"
    yield f"<footer><p>{html(footer)}</p></footer>"
    yield f"<script>{script}</script></body></html>"


@cache
def _part(name: str) -> str:
    text = (files("hlodb.reports") / name).read_text(encoding="utf-8")
    return f"\n{text}"


@cache
def _digest(text: str) -> str:
    """Return what a policy allows a text of the page by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _contents(sections: Sequence[Section]) -> Iterator[str]:
    links = [Link(each.title, f"#{_anchor(each.title)}") for each in sections]
    return _navigation("Sections", links)


def _navigation(name: str, links: Sequence[Link], kind: str = "") -> Iterator[str]:
    yield f'<nav aria-label="{name}"{kind}><ul>'
    for link in links:
        yield f'<li><a href="{html(link.target)}">{html(link.text)}</a></li>'
    yield "</ul></nav>"


def _slug(section: Section) -> str:
    return html(_anchor(section.title))


def _anchor(title: str) -> str:
    """Return the id of the section with this title."""
    return title.lower().replace(" ", "-")


def _finding_anchor(finding_id: str) -> str:
    """Return the id of the card of a finding."""
    return f"finding-{finding_id}"


def _targets(sections: Sequence[Section]) -> Set[str]:
    """Return what links of a page can lead to: sections and cards of findings."""
    cards = [b for s in sections for b in s.blocks if isinstance(b, Card)]
    found = {_anchor(s.title) for s in sections}
    return found | {_finding_anchor(card.finding_id) for card in cards}


def _sections(
    sections: Sequence[Section],
    of_sections: Pictures,
    of_findings: Pictures,
    folded: Set[str],
) -> Iterator[str]:
    targets = _targets(sections)
    for section in sections:
        slug = _slug(section)
        heading = f'<h2 id="{slug}">{html(section.title)}</h2>'
        is_folded = section.title in folded
        yield f'<section aria-labelledby="{slug}">'
        yield f"<details><summary>{heading}</summary>" if is_folded else heading
        drawn = of_sections.get(section.title, [])
        yield from _blocks(section.blocks, section.title, drawn, of_findings, targets)
        yield "</details></section>" if is_folded else "</section>"


def _blocks(
    blocks: Sequence[Block],
    title: str,
    drawn: Sequence[Picture],
    pictures: Pictures,
    targets: Set[str],
) -> Iterator[str]:
    """Yield blocks, and what is drawn of them below the text that they begin with."""
    text = list(takewhile(_is_text_of_its_own, blocks))
    for block in text:
        yield from _block(block, title, pictures, targets)
    if drawn:
        yield '<div class="pictures">'
        for picture in drawn:
            yield from figure(picture)
        yield "</div>"
    for block in blocks[len(text) :]:
        yield from _block(block, title, pictures, targets)


def _is_text_of_its_own(block: Block) -> bool:
    """Return whether it is a paragraph that names no table below it."""
    return isinstance(block, Paragraph) and not block.text.endswith(":")


def _block(
    block: Block, title: str, pictures: Pictures, targets: Set[str]
) -> Iterator[str]:
    """Yield a block; `title` is that of its section, for screen readers."""
    match block:
        case Paragraph(text):
            yield f"<p>{html_prose(text)}</p>"
        case Commands(lines):
            yield f"<pre><code>{chr(10).join(map(html, lines))}</code></pre>"
        case Card():
            yield from _card(block, pictures)
        case Table():
            yield from _table(block, title, targets)


def _card(card: Card, pictures: Pictures) -> Iterator[str]:
    """Yield a finding: those with pictures lie open, the others are folded."""
    drawn = pictures.get(card.finding_id, [])
    is_open = " open" if card.finding_id in pictures else ""
    yield f'<article id="{html(_finding_anchor(card.finding_id))}"><details{is_open}>'
    yield f"<summary><h3>{html(card.title)}</h3></summary>"
    yield from _blocks(card.blocks, card.title, drawn, {}, frozenset())
    yield "</details></article>"


def figure(picture: Picture, kind: str = "") -> Iterator[str]:
    """Yield a picture below its sentence; one of a `kind` has its title instead."""
    named = f' class="{kind}"' if kind else ""
    caption = picture.title if kind else picture.text
    yield f"<figure{named}><figcaption>{html(caption)}</figcaption>"
    yield from _aside(picture.title, svg(picture))
    if picture.figures is not None:
        yield '<details class="figures"><summary>Figures of this picture</summary>'
        if picture.more:
            yield f"<p>{html(picture.more)}</p>"
        yield from _table(picture.figures, picture.title)
        yield "</details>"
    yield "</figure>"


def _table(table: Table, title: str, targets: Set[str] = frozenset()) -> Iterator[str]:
    """Yield a table that can be scrolled where it is wider than the page."""
    yield from _aside(title, "\n".join(_rows(table, targets)))


def _aside(title: str, content: str) -> Iterator[str]:
    """Yield what may be wider than the page, and is scrolled by itself."""
    yield f'<div class="wide" role="group" tabindex="0" aria-label="{html(title)}">'
    yield f"{content}</div>"


def _rows(table: Table, targets: Set[str]) -> Iterator[str]:
    texts = (i for i, name in enumerate(table.header) if name and _is_text(table, i))
    named = next(texts, None)
    yield "<table><thead><tr>"
    yield "".join(_heading(table, i) for i in range(len(table.header)))
    yield "</tr></thead><tbody>"
    for row, finding_id, link in zip_longest(table.rows, table.findings, table.links):
        target = finding_id and _finding_anchor(finding_id)
        address = link or (f"#{target}" if target in targets else None)
        cells = [_cell(table, i, text, i == named) for i, text in enumerate(row)]
        if address is not None:
            place = named or 0
            cells[place] = _cell(table, place, row[place], True, address)
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _is_text(table: Table, column: int) -> bool:
    return column not in table.numeric


def _heading(table: Table, column: int) -> str:
    name = table.header[column]
    if not name:
        return "<td></td>"
    return f'<th scope="col"{_side(table, column)}>{html(name)}</th>'


def _cell(
    table: Table, column: int, text: str, is_name: bool, address: str | None = None
) -> str:
    side = _side(table, column)
    if is_name and text:
        words = html(text)
        if address is not None:
            words = f'<a href="{html(address)}">{words}</a>'
        return f'<th scope="row"{side}>{words}</th>'
    return f"<td{side}>{html(text)}</td>"


def _side(table: Table, column: int) -> str:
    return "" if _is_text(table, column) else ' class="number"'

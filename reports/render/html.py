"""The report as one HTML page, with its pictures: no script, nothing from elsewhere.

The words, figures and their order are those of the outline, as in every other form.
Light or dark is the reader's choice, and what is folded is unfolded on paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import takewhile

from hlodb.reports.judge.outcome import unjudged_growth
from hlodb.reports.model.report import Report
from hlodb.reports.outline.blocks import Block, Card, Commands, Paragraph, Table
from hlodb.reports.outline.escape import html
from hlodb.reports.outline.outline import Section, outline
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_findings, pictures_of_sections

TOP = 100

# Whatever a name in a dump may look like, a browser loads and runs nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

Pictures = Mapping[str, Sequence[Picture]]


def render(report: Report) -> str:
    """Return the page."""
    return "".join(f"{line}\n" for line in _page(report))


def _page(report: Report) -> Iterator[str]:
    sections = outline(report, TOP)
    is_unjudged = report.verdict == "pass" and unjudged_growth(report)
    yield from page(
        report.headline,
        sections,
        pictures_of_sections(report),
        pictures_of_findings(report),
        "nothing" if is_unjudged else report.verdict,
        f"hlodb {report.hlodb_version}, report {report.report_id}",
    )


def page(
    title: str,
    sections: Sequence[Section],
    of_sections: Pictures,
    of_findings: Pictures,
    shade: str,
    footer: str,
) -> Iterator[str]:
    """Yield the lines of a page; pictures are by title of a section, or by finding."""
    style = (files("hlodb.reports") / "report.css").read_text(encoding="utf-8")
    headline = html(title)
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{headline}</title>"
    yield f"<style>\n{style}</style></head>"
    yield f'<body><header class="{html(shade)}"><h1>{headline}</h1>'
    yield from _contents(sections)
    yield "</header>"
    yield "<main>"
    yield from _sections(sections, of_sections, of_findings)
    yield "</main>"
    yield f"<footer><p>{html(footer)}</p></footer></body></html>"


def _contents(sections: Sequence[Section]) -> Iterator[str]:
    yield '<nav aria-label="Sections"><ul>'
    for section in sections:
        yield f'<li><a href="#{_slug(section)}">{html(section.title)}</a></li>'
    yield "</ul></nav>"


def _slug(section: Section) -> str:
    return html(section.title.lower().replace(" ", "-"))


def _sections(
    sections: Sequence[Section], of_sections: Pictures, of_findings: Pictures
) -> Iterator[str]:
    for section in sections:
        slug = _slug(section)
        yield f'<section aria-labelledby="{slug}">'
        yield f'<h2 id="{slug}">{html(section.title)}</h2>'
        drawn = of_sections.get(section.title, [])
        yield from _blocks(section.blocks, section.title, drawn, of_findings)
        yield "</section>"


def _blocks(
    blocks: Sequence[Block], title: str, drawn: Sequence[Picture], pictures: Pictures
) -> Iterator[str]:
    """Yield blocks, and what is drawn of them below the text that they begin with."""
    text = list(takewhile(lambda block: isinstance(block, Paragraph), blocks))
    for block in text:
        yield from _block(block, title, pictures)
    for picture in drawn:
        yield from _figure(picture)
    for block in blocks[len(text) :]:
        yield from _block(block, title, pictures)


def _block(block: Block, title: str, pictures: Pictures) -> Iterator[str]:
    """Yield a block; `title` is what it stands under, for those who hear the page."""
    match block:
        case Paragraph(text):
            yield f"<p>{html(text)}</p>"
        case Commands(lines):
            yield f"<pre><code>{chr(10).join(map(html, lines))}</code></pre>"
        case Card():
            yield from _card(block, pictures)
        case Table():
            yield from _table(block, title)


def _card(card: Card, pictures: Pictures) -> Iterator[str]:
    """Yield a finding: those with pictures lie open, the others are folded."""
    drawn = pictures.get(card.finding_id, [])
    is_open = " open" if card.finding_id in pictures else ""
    yield f'<article id="finding-{html(card.finding_id)}"><details{is_open}>'
    yield f"<summary><h3>{html(card.title)}</h3></summary>"
    yield from _blocks(card.blocks, card.title, drawn, {})
    yield "</details></article>"


def _figure(picture: Picture) -> Iterator[str]:
    yield f'<figure tabindex="0"><figcaption>{html(picture.text)}</figcaption>'
    yield svg(picture)
    if picture.figures is not None:
        yield '<details class="figures"><summary>Figures of this picture</summary>'
        yield from _table(picture.figures, picture.title)
        yield "</details>"
    yield "</figure>"


def _table(table: Table, title: str) -> Iterator[str]:
    """Yield a table that can be scrolled where it is wider than the page."""
    texts = (i for i, name in enumerate(table.header) if name and _is_text(table, i))
    named = next(texts, None)
    yield f'<div class="wide" role="group" tabindex="0" aria-label="{html(title)}">'
    yield "<table><thead><tr>"
    yield "".join(_heading(table, i) for i in range(len(table.header)))
    yield "</tr></thead><tbody>"
    for row in table.rows:
        cells = (_cell(table, i, text, i == named) for i, text in enumerate(row))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _is_text(table: Table, column: int) -> bool:
    return column not in table.numeric


def _heading(table: Table, column: int) -> str:
    name = table.header[column]
    if not name:
        return "<td></td>"
    return f'<th scope="col"{_side(table, column)}>{html(name)}</th>'


def _cell(table: Table, column: int, text: str, is_name: bool) -> str:
    side = _side(table, column)
    if is_name and text:
        return f'<th scope="row"{side}>{html(text)}</th>'
    return f"<td{side}>{html(text)}</td>"


def _side(table: Table, column: int) -> str:
    return "" if _is_text(table, column) else ' class="number"'

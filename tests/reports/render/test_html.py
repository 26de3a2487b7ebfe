"""The page: well formed, harmless, and with the same words as every other form."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Block, Card, Commands, Paragraph, Table
from hlodb.reports.document.report import SAID_FIRST, outline
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.reports.render.html import TOP
from hlodb.schema.warehouse import connect
from hlodb.text import visible
from tests.reports.pages import MOST_BYTES, Element, read_page, rows
from tests.reports.situations import EACH, WORK, night
from tests.reports.worlds import Program, World, make

HOSTILE = (
    "\"'><img src=x onerror=alert(1)></title></style></svg>&amp;<!--\n\x1b[2J\u202e"
)


# Backwards: test_formats.py, which runs at the same time, makes the reports from the
# first on, and each takes what the other has made.
@pytest.fixture(params=EACH[::-1])
def report(request: pytest.FixtureRequest, reported: Callable[[str], Report]) -> Report:
    return reported(request.param)


@pytest.fixture
def page(report: Report) -> Element:
    return read_page(renderer("html")(report))


def test_a_page_says_what_it_is(page: Element, report: Report) -> None:
    (html,) = page.all("html")
    (head,), (h1,) = page.all("head"), page.all("h1")
    (title,) = head.all("title")
    assert html.attributes == {"lang": "en"}
    assert title.text == h1.text == visible(report.headline)


def test_headings_leave_out_no_level(page: Element) -> None:
    levels = [int(h.name[1]) for h in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_what_is_referred_to_is_there_once(page: Element) -> None:
    ids = [e.attributes["id"] for e in page.all() if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    named = ("aria-labelledby", "aria-describedby")
    wanted = {e.attributes[n] for e in page.all() for n in named if n in e.attributes}
    wanted |= {e.attributes["href"].removeprefix("#") for e in page.all("a")}
    assert wanted <= set(ids)


def test_nothing_is_loaded_and_our_script_alone_runs(page: Element) -> None:
    elements = list(page.all())
    assert {e.name for e in elements} <= ELEMENTS
    names = {name for e in elements for name in e.attributes}
    assert {name for name in names if not name.startswith("data-")} <= ATTRIBUTES
    assert {e.attributes["href"][0] for e in page.all("a")} <= {"#"}
    ids = {e.attributes["id"] for e in page.all("pattern")}
    painted = (e for e in elements if e.attributes.get("fill", "").startswith("url"))
    assert {e.attributes["fill"] for e in painted} <= {f"url(#{one})" for one in ids}
    (style,), (script,) = page.all("style"), page.all("script")
    assert re.findall(r"url|import|expression|@font", style.text) == []
    banned = (
        r"eval|innerHTML|document\.write|new Function|fetch|XMLHttp|import\b|https?:"
    )
    used = script.text.replace("http://www.w3.org/2000/svg", "").split("const SVG")
    assert re.findall(banned, "".join(used[1:])) == []
    (policy,) = (e for e in page.all("meta") if "http-equiv" in e.attributes)
    assert policy.attributes == {
        "http-equiv": "Content-Security-Policy",
        "content": (
            f"default-src 'none'; style-src '{_digest(style)}';"
            f" script-src '{_digest(script)}'"
        ),
    }


def _digest(element: Element) -> str:
    digest = hashlib.sha256(element.text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


ELEMENTS = {
    "page", "html", "head", "meta", "title", "style", "body", "header", "h1", "h2",
    "h3", "nav", "ul", "li", "a", "main", "section", "article", "details", "summary",
    "p", "pre", "code", "div", "table", "thead", "tbody", "tr", "th", "td", "figure",
    "figcaption", "svg", "desc", "text", "line", "rect", "path", "circle", "pattern",
    "footer", "span", "g", "script",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "open",
    "role", "tabindex", "scope", "aria-label", "aria-labelledby", "aria-describedby",
    "aria-hidden",
    "viewbox", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "d", "width",
    "height", "patternunits", "preserveaspectratio", "fill", "fill-opacity", "stroke",
    "stroke-width", "stroke-dasharray", "text-anchor", "font-size", "font-family",
}  # fmt: skip


def test_what_is_said_in_short_stands_first_and_the_rest_is_folded(
    page: Element, report: Report
) -> None:
    (main,) = page.all("main")
    first = [e for e in main.parts if isinstance(e, Element)]
    titles = [s.title for s in outline(report, TOP)]
    if SAID_FIRST in titles:
        assert first[0].attributes["class"] == "first report"
        (heading,) = first[0].all("h2")
        assert heading.text == SAID_FIRST
    folded = [d for s in first for d in s.parts if is_details(d)]
    shown = [next(iter(d.all("h2"))).text for d in folded if isinstance(d, Element)]
    assert shown == [t for t in titles if t not in (SAID_FIRST, "Findings")]


def is_details(part: Element | str) -> bool:
    return isinstance(part, Element) and part.name == "details"


def test_findings_are_linked_from_their_rows(page: Element) -> None:
    cards = {e.attributes["id"] for e in page.all("article")}
    (main,) = page.all("main")
    assert {a.attributes["href"].removeprefix("#") for a in main.all("a")} == cards


def test_tables_name_their_columns_and_rows(page: Element) -> None:
    for table in page.all("table"):
        header, *body = table.all("tr")
        assert {c.attributes["scope"] for c in header.all("th")} == {"col"}
        for row in body:
            assert [c.attributes["scope"] for c in row.all("th")] in (["row"], [])
        assert len({len(cells) for cells in rows(table)}) == 1
        assert all(c.text for c in table.all("th"))


def test_pictures_say_what_they_show(page: Element) -> None:
    for figure in page.all("figure"):
        svg, *maps = figure.all("svg")
        assert all(each.attributes["class"] == "map" for each in maps)
        (desc,) = svg.all("desc")
        title, *parts = svg.all("title")
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-labelledby"] == title.attributes["id"]
        assert svg.attributes["aria-describedby"] == desc.attributes["id"]
        assert title.text
        assert all("id" not in part.attributes and part.text for part in parts)
        (caption,) = figure.all("figcaption")
        assert desc.text == caption.text
        assert len(caption.text.split()) <= 25, caption.text


def test_the_words_are_those_of_the_outline(page: Element, report: Report) -> None:
    (main,) = page.all("main")
    wanted = [
        text
        for section in outline(report, TOP)
        for text in (section.title, *_words(section.blocks))
    ]
    assert list(_told(main)) == [visible(text) for text in wanted]


def test_every_figure_of_a_picture_stands_in_the_text(page: Element) -> None:
    """What stands beside bars and in keys can also be read where no picture is."""
    text = page.all("h1", "h3", "p", "td", "th", "figcaption")
    told = {amount for element in text for amount in amounts(element.text)}
    labels = (t for t in page.all("text") if t.attributes["class"] == "label")
    assert {amount for label in labels for amount in amounts(label.text)} <= told


def amounts(text: str) -> list[str]:
    return re.findall(r"[\d,.]+ (?:B|[KMGTPE]iB)\b", text)


def test_a_page_is_not_too_large(report: Report) -> None:
    assert len(renderer("html")(report).encode()) < MOST_BYTES


@pytest.mark.slow
def test_names_cannot_leave_their_place(tmp_path: Path) -> None:
    """A page of hostile names has the elements of a page of plain ones."""
    plain, hostile = (_page_of_names(tmp_path, name) for name in ("plain", HOSTILE))
    assert _bones(hostile) == _bones(plain)
    assert visible(HOSTILE) in hostile.text
    assert HOSTILE not in hostile.text


def _page_of_names(folder: Path, name: str) -> Element:
    def program(*sizes: int) -> Program:
        buffers = [
            replace(WORK, name=f"{name}{n}", path=f"jit(f)/{name}/{n}", size=size)
            for n, size in enumerate(sizes)
        ]
        return Program(name, tuple(buffers))

    def named(world: World, run: str) -> World:
        return replace(world, name=run, series=name, commit=name, device=name)

    path = make(
        folder / f"{len(name)}.duckdb",
        named(night(1, program(4 << 20)), name),
        named(night(2, program(4 << 20, 2 << 20)), f"{name} 2"),
    )
    with connect(path) as connection:
        report = build_report(connection, Request(), Settings())
    return read_page(renderer("html")(report))


def _bones(page: Element) -> list[tuple[str, tuple[str, ...]]]:
    return [(e.name, tuple(e.attributes)) for e in page.all()]


def _words(blocks: list[Block] | tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph(text):
                yield text
            case Commands(lines):
                yield from lines
            case Card(title, parts, _):
                yield title
                yield from _words(parts)
            case Table(header, found, _):
                for row in (header, *found):
                    yield from row


def _told(element: Element) -> Iterator[str]:
    """Yield the words of a page without its pictures and their figures."""
    if element.name == "figure":
        return
    if element.name in ("h2", "h3", "p", "th", "td"):
        yield element.text
    elif element.name == "code":
        yield from element.text.split("\n")
    else:
        for part in element.parts:
            if isinstance(part, Element):
                yield from _told(part)

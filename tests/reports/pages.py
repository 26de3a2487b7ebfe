"""Pages taken apart: their elements, tables and words, by the parser of Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

MOST_BYTES = 1_000_000
"""Of a page: somebody opens it from a mail or an artefact."""

VOID = ("meta", "br", "hr", "img", "input", "link")


@dataclass
class Element:
    """An element of a page; `parts` are its elements and texts, in their order."""

    name: str
    attributes: dict[str, str]
    parts: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(p if isinstance(p, str) else p.text for p in self.parts)

    def all(self, *names: str) -> Iterator[Element]:
        """Yield the element and its descendants, of these names or of any."""
        if not names or self.name in names:
            yield self
        for part in self.parts:
            if isinstance(part, Element):
                yield from part.all(*names)


class _Reader(HTMLParser):
    """Builds the elements; a tag that does not fit is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Element("page", {})
        self._open = [self.page]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = self._add(tag, attrs)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag, f"{self.getpos()}: </{tag}>"

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"{self.getpos()}: a comment, {data!r}")

    def close(self) -> None:
        super().close()
        assert self._open == [self.page], f"<{self._open[-1].name}> is left open"

    def _add(self, tag: str, attrs: list[tuple[str, str | None]]) -> Element:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{self.getpos()}: twice in {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].parts.append(element)
        return element


def read_page(text: str) -> Element:
    """Return a page taken apart; AssertionError where its tags do not fit together."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page


def rows(table: Element) -> list[list[str]]:
    """Return the texts of a table, its header first."""
    return [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]

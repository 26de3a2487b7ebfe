"""E-mails as the standard library reads them back: two parts that say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from email import message_from_string
from email.message import EmailMessage
from email.policy import SMTP, default
from html.parser import HTMLParser

import pytest

from hlodb.reports.model.report import Report
from hlodb.reports.render.email import SUBJECT_CHARACTERS, render
from hlodb.reports.render.message import MOST_ROWS
from hlodb.text import visible
from tests.reports.situations import EACH

Reported = Callable[[str], Report]


class Page(HTMLParser):
    """The cells of the table, the links and all tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str | None] = []
        self.tags: set[str] = set()
        self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "a":
            self.links.append(dict(attrs)["href"])
        self.in_cell = tag in ("td", "th")

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = False

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.rows[-1][-1] += data


def parsed(text: str) -> tuple[EmailMessage, str, Page]:
    """Return a message, its text and its page."""
    message = message_from_string(text, EmailMessage, policy=default)
    assert message.defects == []
    assert message.get_content_type() == "multipart/alternative"
    parts = [part for part in message.iter_parts() if isinstance(part, EmailMessage)]
    assert [p.get_content_type() for p in parts] == ["text/plain", "text/html"]
    assert [p.defects for p in parts] == [[], []]
    text, page = (part.get_content() for part in parts)
    return message, text, Page(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_both_parts_say_what_the_report_says(reported: Reported, name: str) -> None:
    report = reported(name)
    written = render(report)
    message, text, page = parsed(written)
    subject = message["Subject"]
    assert len(subject) <= SUBJECT_CHARACTERS
    assert subject[:50] == visible(report.headline)[:50]
    assert text.startswith(visible(report.headline))
    rows = page.rows[1:]
    assert len(rows) <= MOST_ROWS
    for row in rows:
        assert all(cell in text for cell in row)
    moved = [f for f in report.findings if f.scope == "candidate" and f.delta_bytes]
    assert len(rows) == min(len(moved), MOST_ROWS)
    assert page.tags <= {
        *("html", "body", "h1", "p", "pre"),
        *("table", "tr", "th", "td"),
    }
    assert max(map(len, written.splitlines())) <= 998
    assert render(report) == written


@pytest.mark.slow
def test_it_can_be_sent(reported: Reported) -> None:
    """As `{ echo To: …; cat FILE; } | sendmail -t` reads it, and SMTP wants it."""
    written = "To: team@ci.example\n" + render(reported("one_regression"))
    message, _, _ = parsed(written)
    assert message["To"] == "team@ci.example"
    assert {*message.keys()} == {
        *("To", "Subject", "Auto-Submitted", "X-Hlodb-Verdict", "X-Hlodb-Report"),
        *("MIME-Version", "Content-Type"),
    }
    assert message.as_bytes(policy=SMTP).isascii()


@pytest.mark.slow
def test_a_link_leads_to_the_whole_report(reported: Reported) -> None:
    report = reported("no_change")
    settings = {**report.settings, "link": 'https://ci.example/?a=1&b="<2>'}
    _, text, page = parsed(render(replace(report, settings=settings)))
    assert page.links == ['https://ci.example/?a=1&b="<2>']
    assert text.endswith('\nhttps://ci.example/?a=1&b="<2>\n')

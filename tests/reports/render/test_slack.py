"""Messages to Slack: within its limits, and nothing in a name mentions anybody."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hlodb.reports.judge.report import Report
from hlodb.reports.render.slack import (
    HEADER_CHARACTERS,
    SECTION_CHARACTERS,
    render,
)
from tests.reports.situations import EACH

Reported = Callable[[str], Report]


def texts(message: dict[str, Any]) -> list[str]:
    """Return all that Slack reads as mrkdwn."""
    held = [b["text"] for b in message["blocks"] if b["type"] == "section"]
    held += [e for b in message["blocks"] for e in b.get("elements", [])]
    assert {text["type"] for text in held} == {"mrkdwn"}
    return [message["text"], *(text["text"] for text in held)]


@pytest.mark.parametrize("name", EACH)
def test_a_message_keeps_the_limits_of_slack(reported: Reported, name: str) -> None:
    message = json.loads(render(reported(name)))
    first, *sections, last = message["blocks"]
    assert (first["type"], last["type"]) == ("header", "context")
    assert first["text"]["type"] == "plain_text"
    assert 0 < len(first["text"]["text"]) <= HEADER_CHARACTERS
    assert len(sections) <= 2
    for section in sections:
        assert 0 < len(section["text"]["text"]) <= SECTION_CHARACTERS
    for text in texts(message):
        assert text.count("`") % 2 == 0
        assert "<" not in text


def test_a_link_leads_to_the_whole_report(reported: Reported) -> None:
    report = reported("no_change")
    settings = {**report.settings, "link": "https://ci.example/?a=1&b=<2>|3"}
    message = json.loads(render(replace(report, settings=settings)))
    assert texts(message)[-1] == (
        "night-2 compared with night-1 ·"
        " <https://ci.example/?a=1&amp;b=&lt;2&gt;%7C3|the whole report>"
    )

"""Escape names of programs and instructions for each markup language."""

from __future__ import annotations

import re
from html import escape

from hlodb.text import visible

_COMMAND = re.compile(r"`(hlodb [^`]*)`")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~#!$]")


def markdown(text: str) -> str:
    """Return `text` for a Markdown cell: one line, nothing in it is markup.

    An @ becomes its entity, so that no name notifies anybody.
    """
    escaped = _MARKDOWN.sub(lambda m: "\\" + m.group(), text.replace("&", "&amp;"))
    return visible(escaped.replace("\\<", "&lt;").replace("@", "&#64;"))


def html(text: str) -> str:
    """Return `text` for HTML, also between quotes: one line without markup."""
    return visible(escape(text))


def html_prose(text: str) -> str:
    """Return a sentence for HTML, with the commands of hlodb in it as code."""
    return _COMMAND.sub(r"<code>\1</code>", html(text))


def slack(text: str) -> str:
    """Return `text` for a message to Slack, also within backticks: one line, no markup.

    What Slack reads as a mention, a link or a channel begins with `<`.
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return visible(escaped).replace("`", "'")


def workflow_message(text: str) -> str:
    """Return `text` as the message of a GitHub workflow command, on one line."""
    return visible(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    """Return `text` as a property of a GitHub workflow command."""
    return workflow_message(text).replace(":", "%3A").replace(",", "%2C")


def middle_cut(text: str, longest: int) -> str:
    """Return `text`, without its middle where it is longer than `longest`."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"

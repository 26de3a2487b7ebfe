"""Names of programs and instructions, made harmless for where they are written."""

from __future__ import annotations

import re

from hlodb.queries.render import visible

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~#!$]")


def markdown(text: str) -> str:
    """Give `text` for a Markdown cell: one line, nothing in it is markup.

    An @ becomes its entity, so that no name notifies anybody.
    """
    escaped = _MARKDOWN.sub(lambda m: "\\" + m.group(), text.replace("&", "&amp;"))
    return visible(escaped.replace("\\<", "&lt;").replace("@", "&#64;"))


def workflow_message(text: str) -> str:
    """Give `text` as the message of a GitHub workflow command, on one line."""
    return visible(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    """Give `text` as a property of a GitHub workflow command."""
    return workflow_message(text).replace(":", "%3A").replace(",", "%2C")

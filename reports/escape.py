"""Names of programs and instructions, made harmless for where they are written."""

from __future__ import annotations

import json
import re
from typing import Any

from hlodb.queries.render import visible

# What `visible` replaces too; the control characters below are JSON's own to escape.
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~#!$]")


def markdown(text: str) -> str:
    """Give `text` for a Markdown cell: one line, nothing in it is markup.

    An @ becomes its entity, so that no name notifies anybody.
    """
    escaped = _MARKDOWN.sub(lambda m: "\\" + m.group(), text.replace("&", "&amp;"))
    return visible(escaped.replace("\\<", "&lt;").replace("@", "&#64;"))


def json_text(value: Any, indent: int | None = None) -> str:
    """Give a value as JSON that a terminal can show: `\\u202e` for what does not print.

    Whoever parses it gets every character as it was.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIDDEN.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def workflow_message(text: str) -> str:
    """Give `text` as the message of a GitHub workflow command, on one line."""
    return visible(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    """Give `text` as a property of a GitHub workflow command."""
    return workflow_message(text).replace(":", "%3A").replace(",", "%2C")

"""Colour pictures by attributes, for pages whose policy bars every style.

They are those of the style sheet for light pages, read from it; where a browser takes
the style sheet, its rules win.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_ATTRIBUTE = re.compile(
    r"fill|stroke|stroke-width|stroke-dasharray|\w+-opacity"
    r"|text-anchor|font-size"
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SELECTOR = re.compile(r"(?:svg )?([a-z]*)((?:\.[\w-]+)*)")

ROOT = {
    "fill": "currentColor",
    "font-family": "system-ui, sans-serif",
    "font-size": "13",
}
"""Attributes that all parts of a picture inherit; text has the colour of the page."""


@cache
def paint(name: str, kind: str) -> dict[str, str]:
    """Return the attributes of an element `name` of the classes `kind`."""
    classes = set(kind.split())
    found: dict[str, str] = {}
    for element, wanted, declared in _rules():
        if wanted and element in ("", name) and wanted <= classes:
            found |= declared
    return found


@cache
def _rules() -> list[tuple[str, frozenset[str], dict[str, str]]]:
    """Return element, classes and declarations of each rule, the weightiest last."""
    text = (files("hlodb.reports") / "report.css").read_text(encoding="utf-8")
    text = text.split("@media print")[0]
    light = dict(re.findall(r"(--[\w-]+): (#\w+);", text.split("@media")[0]))
    rules = list(_read_rules(text, light))
    return sorted(rules, key=lambda rule: (len(rule[1]), rule[0] != ""))


def _read_rules(
    text: str, colours: dict[str, str]
) -> Iterator[tuple[str, frozenset[str], dict[str, str]]]:
    for selectors, body in _RULE.findall(text):
        declared = {}
        for name, value in re.findall(r"([\w-]+): ([^;]+);", body):
            if _ATTRIBUTE.fullmatch(name):
                # Text inherits the size and colour of the page.
                written = re.sub(r"var\((--[\w-]+)\)", lambda m: colours[m[1]], value)
                declared[name] = written.removesuffix("px")
        for selector in selectors.split(","):
            match = _SELECTOR.fullmatch(selector.strip())
            if declared and match:
                classes = frozenset(match[2].split(".")[1:])
                yield match[1], classes, declared

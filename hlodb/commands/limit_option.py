"""The option --limit of `hlodb ingest`: how much a dump may make hlodb read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, replace

import click

from hlodb.errors import UsageError
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, HIGHEST, Limits
from hlodb.text import nearest

_NAMES = asdict(DEFAULT_LIMITS)
_AMOUNT = re.compile(r"([0-9]{1,18})([KMGT]?)", re.IGNORECASE)
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Change a limit that protects against hostile input: {', '.join(_NAMES)};"
    " K, M and G are powers of 1024.",
)


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the limits that NAME=VALUE texts change.

    Raises UsageError for unknown names and what is no amount.
    """
    changed: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--limit takes NAME=VALUE, not {text!r}")
        if name not in _NAMES:
            hint = nearest(name, _NAMES)
            raise UsageError(
                f"there is no limit {name!r}, only {', '.join(_NAMES)}{hint}"
            )
        amount = _AMOUNT.fullmatch(value)
        if amount is None:
            raise UsageError(
                f"--limit {name} takes a number such as 512M, not {value!r}"
            )
        changed[name] = int(amount[1]) * _FACTORS[amount[2].upper()]
        if changed[name] > HIGHEST.get(name, changed[name]):
            raise UsageError(f"--limit {name} can be {HIGHEST[name]} at most")
    return replace(DEFAULT_LIMITS, **changed)

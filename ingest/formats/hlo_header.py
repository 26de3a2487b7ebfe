"""The header of a module: its name, and what it says beyond that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from hlodb.ingest.formats.scan import (
    is_balanced,
    split_commas,
    whole_number,
    without_comments,
)
from hlodb.ingest.records import Alias

_ALIAS = re.compile(
    r"(\{[\d, ]*\}): \((\d{1,9})(?:, (\{[\d, ]*\}))?(?:, (may-alias|must-alias))?\)"
)
_DONOR = re.compile(r"\((\d{1,9}), (\{[\d, ]*\})\)")


@lru_cache(maxsize=64)
def is_closed(text: str) -> bool:
    """Tell whether a header ends with this text, or goes on in the next line."""
    return is_balanced(text)


@lru_cache(maxsize=64)
def parse_header(text: str) -> tuple[str, dict[str, str]]:
    """Give name and fields. Cached: passes of a module mostly print equal headers."""
    parts = split_commas(text.strip().removeprefix("HloModule "))
    pairs = [part.partition("=") for part in parts[1:]]
    header = {key.strip(): value for key, _, value in pairs if key}
    return parts[0] if parts else "", header


def aliases(header: Mapping[str, str]) -> list[Alias]:
    """Give the input-output aliases and buffer donors of a module.

    Before August 2020 no kind was printed; those count as may-alias.
    """
    found = [
        Alias(output, int(number), index or "{}", kind or "may-alias")
        for output, number, index, kind in _ALIAS.findall(
            header.get("input_output_alias", "")
        )
    ]
    donors = _DONOR.findall(header.get("buffer_donor", ""))
    return found + [Alias(None, int(n), index, "donor") for n, index in donors]


def entry_layout(header: Mapping[str, str]) -> str | None:
    """Give `entry_computation_layout` without its braces and index comments."""
    layout = header.get("entry_computation_layout")
    return without_comments(layout[1:-1]) if layout else None


def header_number(header: Mapping[str, str], name: str, default: int) -> int:
    """Give a whole number of the header, `default` where it is missing or odd."""
    number = whole_number(header.get(name))
    return default if number is None else number

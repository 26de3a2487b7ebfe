"""The header of a module and the stack-frame tables below it.

Frame tables come since December 2025. Their ids count from 1. The text prints a parent
as its number plus one: 1 means no parent, y > 1 means frame y - 1 (openxla
`xla/hlo/ir/hlo_module.cc`, checked against the proto). Some releases, as libtpu 0.0.34,
print the number itself, and 0 for none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from hlodb.ingest.formats.hlo_text.attributes import is_strange, printed_pairs
from hlodb.ingest.formats.scan import (
    closing,
    is_balanced,
    split_commas,
    unquote,
    whole_number,
    without_comments,
)
from hlodb.ingest.records import Alias, Frame

_ALIAS = re.compile(
    r"(\{[\d, ]*\}): \((\d{1,9})(?:, (\{[\d, ]*\}))?(?:, (may-alias|must-alias))?\)"
)
_DONOR = re.compile(r"\((\d{1,9}), (\{[\d, ]*\})\)")
_MODULE_NAME = re.compile(r"[^\s,=(){}/]++")
_TITLE = re.compile(r"HloModule ([\w.:\-]++)")
_KEY = re.compile(r"[A-Za-z_]\w*+=\S")
_WRAPPED = ("origin_recovery_table", "debug_attributes")


class Header(NamedTuple):
    """Name and fields of a module.

    `is_plain` is True for one line `HloModule name, key=value, …`. Only recovery tables
    and debug attributes, which XLA itself wraps, have more lines.
    """

    name: str
    fields: dict[str, str]
    is_plain: bool


@lru_cache(maxsize=64)
def is_closed(text: str) -> bool:
    """Return whether a header ends with this text, or goes on in the next line."""
    return _printed_header(text) is not None or is_balanced(text)


@lru_cache(maxsize=64)
def parse_header(text: str) -> Header:
    """Return name and fields. Cached: passes of a module mostly print equal headers."""
    return _printed_header(text) or _long_header(text)


def _long_header(text: str) -> Header:
    first, *parts = split_commas(text.strip().removeprefix("HloModule ")) or [""]
    pairs = [part.partition("=") for part in parts]
    fields = {key.strip(): value for key, _, value in pairs if key}
    is_wrapped = "\n" in text and not any(key in _WRAPPED for key, _, _ in pairs)
    is_plain = (
        not is_wrapped
        and not is_strange(text)
        and _MODULE_NAME.fullmatch(first) is not None
        and all(map(_KEY.match, parts))
        and len({key for key, _, _ in pairs}) == len(pairs)
    )
    return Header(first, fields, is_plain)


@lru_cache(maxsize=64)
def _printed_header(text: str) -> Header | None:
    """Return a header that XLA prints in one line; None for any other text."""
    name = _TITLE.match(text)
    fields = printed_pairs(text[name.end() :]) if name else None
    if name is None or fields is None or "\n" in text:
        return None
    if not all(map(str.isidentifier, fields)):
        return None
    return Header(name[1], fields, is_plain=True)


def aliases(header: Mapping[str, str]) -> list[Alias]:
    """Return the input-output aliases and buffer donors of a module.

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
    """Return `entry_computation_layout` without its braces and index comments."""
    layout = header.get("entry_computation_layout")
    return without_comments(layout[1:-1]) if layout else None


def entry_parameters(header: Mapping[str, str]) -> int | None:
    """Return how many parameters the entry has, None where the header does not say."""
    layout = entry_layout(header)
    end = closing(layout, 0) if layout and layout.startswith("(") else -1
    return len(split_commas(layout[1:end])) if layout and end > 0 else None


def header_number(header: Mapping[str, str], name: str, default: int) -> int:
    """Return a whole number of the header, `default` where it is missing or odd."""
    number = whole_number(header.get(name))
    return default if number is None else number


_TITLES = frozenset(("FileNames", "FunctionNames", "FileLocations", "StackFrames"))
_NAME = re.compile(r'(\d{1,9}) ("(?>(?:[^"\\]++|\\.)*)")\s*$')
_FIELDS = re.compile(r"(\d{1,9}) \{([^{}]*)\}\s*$")
_PAIR = re.compile(r"\b(\w+)=(-?\d{1,9})(?!\d)")


class FrameTables(NamedTuple):
    """The frames of a module, and the indexes of lines that are not of the tables."""

    frames: tuple[Frame, ...]
    odd_lines: tuple[int, ...]


def is_title(line: str) -> bool:
    """Return whether a line begins one of the tables."""
    return line.strip() in _TITLES


@lru_cache(maxsize=64)
def parse_frame_tables(text: str) -> FrameTables:
    """Return the frames that the tables hold, parent ids as the proto has them.

    Cached: every pass of a module prints the same tables.
    """
    names: dict[str, dict[int, str]] = {title: {} for title in _TITLES}
    rows: dict[str, dict[int, dict[str, int]]] = {title: {} for title in _TITLES}
    odd: list[int] = []
    title = ""
    for at, line in enumerate(text.split("\n")):
        line = line.strip()
        if line in _TITLES:
            title = line
        elif title and (name := _NAME.match(line)):
            names[title][int(name.group(1))] = unquote(name.group(2))
        elif title and (row := _FIELDS.match(line)):
            pairs = {k: int(v) for k, v in _PAIR.findall(row.group(2))}
            rows[title][int(row.group(1))] = pairs
        elif line:
            odd.append(at)
    stack = rows["StackFrames"]
    # Where parents are numbered plainly, the outermost frame has parent 0.
    is_plain = any(row.get("parent_frame_id") == 0 for row in stack.values())
    no_parent = 0 if is_plain else 1
    frames = [_frame(n, row, names, rows, no_parent) for n, row in stack.items()]
    return FrameTables(tuple(frames), tuple(odd))


def _frame(
    number: int,
    row: dict[str, int],
    names: dict[str, dict[int, str]],
    rows: dict[str, dict[int, dict[str, int]]],
    no_parent: int,
) -> Frame:
    place = rows["FileLocations"].get(row.get("file_location_id", 0), {})
    parent = row.get("parent_frame_id", no_parent) - no_parent
    return Frame(
        number,
        parent if parent > 0 else None,
        names["FunctionNames"].get(place.get("function_name_id", 0), ""),
        names["FileNames"].get(place.get("file_name_id", 0), ""),
        place.get("line", 0),
        place.get("column", 0),
    )

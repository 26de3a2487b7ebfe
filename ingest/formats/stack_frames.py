"""The stack-frame tables between header and first computation (since December 2025).

Ids count from 1. The text prints a parent as its number plus one: 1 means no parent,
y > 1 means frame y - 1 (openxla `xla/hlo/ir/hlo_module.cc`, checked against the proto).
Some releases, as libtpu 0.0.34, print the number itself, and 0 for none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hlodb.ingest.formats.scan import unquote
from hlodb.ingest.records import Frame

_TITLES = frozenset(("FileNames", "FunctionNames", "FileLocations", "StackFrames"))
_NAME = re.compile(r'(\d{1,9}) ("(?:[^"\\]++|\\.)*+")\s*$')
_FIELDS = re.compile(r"(\d{1,9}) \{([^{}]*)\}\s*$")
_PAIR = re.compile(r"\b(\w+)=(-?\d{1,9})(?!\d)")


class FrameTables(NamedTuple):
    """The frames of a module, and the indexes of lines that are not of the tables."""

    frames: tuple[Frame, ...]
    odd_lines: tuple[int, ...]


def is_title(line: str) -> bool:
    """Tell whether a line begins one of the tables."""
    return line.strip() in _TITLES


@lru_cache(maxsize=64)
def parse_frame_tables(text: str) -> FrameTables:
    """Give the frames that the tables hold, parent ids as the proto has them.

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

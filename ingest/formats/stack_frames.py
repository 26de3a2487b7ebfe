"""The stack-frame tables between header and first computation (since December 2025).

Ids count from 1. The text prints a parent as its number plus one: 1 means no parent,
y > 1 means frame y - 1 (openxla `xla/hlo/ir/hlo_module.cc`, checked against the proto).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hlodb.ingest.formats.scan import unquote
from hlodb.ingest.records import Frame, Reject

_TITLES = frozenset(("FileNames", "FunctionNames", "FileLocations", "StackFrames"))
_NAME = re.compile(r'(\d+) ("(?:[^"\\]|\\.)*+")\s*$')
_FIELDS = re.compile(r"(\d+) \{([^{}]*)\}\s*$")
_PAIR = re.compile(r"(\w+)=(-?\d+)")


@dataclass(slots=True)
class FrameTables:
    """Takes the tables' lines one by one; `frames()` puts them together."""

    title: str = ""
    names: dict[str, dict[int, str]] = field(default_factory=dict)
    rows: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)

    def takes(self, line: str) -> bool:
        """Read a line of the tables; False where it is none."""
        stripped = line.strip()
        if stripped in _TITLES:
            self.title = stripped
            return True
        if not self.title:
            return False
        if name := _NAME.match(stripped):
            table = self.names.setdefault(self.title, {})
            table[int(name.group(1))] = unquote(name.group(2))
            return True
        if row := _FIELDS.match(stripped):
            pairs = {k: int(v) for k, v in _PAIR.findall(row.group(2))}
            self.rows.setdefault(self.title, {})[int(row.group(1))] = pairs
            return True
        return False

    def frames(self) -> tuple[Frame, ...]:
        """Give the frames with parent ids as the proto has them."""
        return tuple(
            self._frame(number, row)
            for number, row in self.rows.get("StackFrames", {}).items()
        )

    def _frame(self, number: int, row: dict[str, int]) -> Frame:
        place = self.rows.get("FileLocations", {}).get(
            row.get("file_location_id", 0), {}
        )
        parent = row.get("parent_frame_id", 1) - 1
        return Frame(
            number,
            parent if parent > 0 else None,
            self.names.get("FunctionNames", {}).get(
                place.get("function_name_id", 0), ""
            ),
            self.names.get("FileNames", {}).get(place.get("file_name_id", 0), ""),
            place.get("line", 0),
            place.get("column", 0),
        )

"""A module of HLO text while it is being read, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hlodb.ingest.formats.hlo_blocks import BlockCache, Head
from hlodb.ingest.records import Computation, Frame, HloModule


@dataclass(slots=True)
class ModuleParts:
    """What was read of a module; `parts` are its instructions so far, `count` many."""

    name: str = ""
    header: dict[str, str] = field(default_factory=dict)
    computations: list[Computation] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    count: int = 0
    lines: list[int] = field(default_factory=list)
    frames: tuple[Frame, ...] = ()
    body_line: int = 0

    def is_empty(self) -> bool:
        """Tell whether there is no module yet."""
        return not (self.name or self.computations)

    def has_entry(self) -> bool:
        """Tell whether a computation is marked as entry."""
        return any(c.is_entry for c in self.computations)

    def begin_body(self, line: int) -> None:
        """Note the line of the first computation."""
        self.body_line = self.body_line or line

    def add(self, items: Any, lines: Iterable[int]) -> None:
        """Add instructions, as a cache keeps them, that begin at `lines`."""
        self.parts.append(items)
        self.count += len(items)
        self.lines += lines

    def end_computation(self, head: Head, start: int, thread: str | None) -> None:
        """Make the instructions from number `start` on a computation."""
        self.computations.append(
            Computation(head.name, head.is_entry, start, self.count, thread)
        )

    def joined(self, cache: BlockCache[Any]) -> HloModule:
        """Give the module; without entry its last computation counts as that."""
        if self.computations and not self.has_entry():
            self.computations[-1] = self.computations[-1]._replace(is_entry=True)
        return HloModule(
            self.name or f"module_{self.computations[-1].name}",
            self.header,
            tuple(self.computations),
            cache.join(self.parts),
            self.lines,
            self.frames,
            self.body_line,
        )

"""Computations of HLO text that are read ahead, many at once.

Those are plain that print a head, instructions of one line each and a closing line; any
other has to be read line by line.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from hlodb.ingest.formats.hlo_blocks import Block, BlockCache

# The closing line of a computation, the line below where it is blank, and then the
# next line where it may be a head.
_CLOSING = re.compile(
    r'\n\}(?:, execution_thread="((?:[^"\\\n]++|\\.)*+)")?[^\S\n]*+(?://.*+)?'
    r"(?:\Z|(\n\n?+)(?=(.*\{\n)?))"
)
_AHEAD = 4_000_000
"""Characters that are read ahead at once."""


class Place(NamedTuple):
    """Where a computation stands that was read ahead, and its execution thread.

    What follows it is at `end`, `closing_lines` below its last instruction.
    """

    start: int
    thread: str | None
    end: int
    closing_lines: int


class ReadAhead:
    """The computations of a text that are read already; places only go forward."""

    def __init__(self, text: str, cache: BlockCache[Any]) -> None:
        self._text = text
        self._cache = cache
        self._known: deque[tuple[Place, Block[Any] | None]] = deque()
        self._end = 0

    def plain(self, at: int) -> Iterator[tuple[Place, Block[Any]]]:
        """Give the plain computations that follow one another from `at` on."""
        if at >= self._end:
            self._look(at)
        known = self._known
        while known and known[0][0].start < at:
            known.popleft()
        while known and known[0][0].start == at:
            place, block = known.popleft()
            if block is None:  # It has to be read line by line.
                return
            yield place, block
            at = place.end

    def _look(self, at: int) -> None:
        """Read what may be computations from `at` on."""
        start, stop = at, at + _AHEAD
        texts: list[str] = []
        places: list[Place] = []
        for closing in _CLOSING.finditer(self._text, start):
            thread, breaks, head = closing.groups()
            texts.append(self._text[start : closing.start()])
            end = closing.end()
            places.append(Place(start, thread, end, len(breaks or "\n")))
            start = end
            if head is None or start >= stop:
                break
        self._end = max(start, at + 1)
        self._known = deque(zip(places, self._cache.blocks(texts), strict=True))

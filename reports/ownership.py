"""Which value owns which bytes where several share them in place."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

from hlodb.reports.facts import Buffer


def owned_bytes(buffers: Iterable[Buffer]) -> dict[int, int]:
    """Return each counted buffer's own bytes, by the buffer's `id`.

    An allocation counts whole. Of temporary values that share bytes in place the newest
    (greatest start_step, then value_id) owns them, so that every byte counts once and
    the bytes of a colour add up to its most live temporary bytes.
    """
    owned: dict[int, int] = {}
    arenas: dict[int, list[Buffer]] = defaultdict(list)
    for buffer in filter(lambda b: b.is_counted, buffers):
        if buffer.kind == "temp":
            arenas[buffer.allocation_id].append(buffer)
        else:
            owned[id(buffer)] = buffer.size_bytes
    for tenants in arenas.values():
        covered = _Covered()
        for buffer in sorted(tenants, key=_age, reverse=True):
            low = buffer.offset_bytes
            owned[id(buffer)] = covered.add(low, low + buffer.size_bytes)
    return owned


def _age(buffer: Buffer) -> tuple[int, int]:
    return (buffer.start_step or 0, buffer.value_id or 0)


class _Covered:
    """A set of addresses, as sorted stretches that do not touch."""

    def __init__(self) -> None:
        self.lows: list[int] = []
        self.highs: list[int] = []

    def add(self, low: int, high: int) -> int:
        """Add the addresses [low, high) and give how many of them are new."""
        if high <= low:
            return 0
        first = bisect_left(self.highs, low)
        last = first
        known = 0
        start, end = low, high
        while last < len(self.lows) and self.lows[last] <= high:
            overlap = min(high, self.highs[last]) - max(low, self.lows[last])
            known += max(0, overlap)
            start = min(start, self.lows[last])
            end = max(end, self.highs[last])
            last += 1
        self.lows[first:last] = [start]
        self.highs[first:last] = [end]
        return high - low - known

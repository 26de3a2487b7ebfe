"""A series of numbers as one line of blocks."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int]) -> str:
    """Return one character per value, from ▁ to █; ▁ if all are equal."""
    low, high = min(values, default=0), max(values, default=0)
    if high == low:
        return _BLOCKS[0] * len(values)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[(v - low) * top // (high - low)] for v in values)

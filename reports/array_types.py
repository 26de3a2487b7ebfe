"""Reads array types such as f32[16,128]: element type and number of elements."""

from __future__ import annotations

import re
from functools import cache
from math import prod

_ARRAY = re.compile(r"([a-z]\w*)\[([\d,<=?]*)\]")


def element_type(array_type: str | None) -> str | None:
    """Give f32 for f32[16,128]; None for a tuple or nothing."""
    parsed = _parse(array_type)
    return parsed[0] if parsed else None


def element_count(array_type: str | None) -> int | None:
    """Give 2048 for f32[16,128] and 1 for f32[]; None for a tuple or nothing."""
    parsed = _parse(array_type)
    return parsed[1] if parsed else None


@cache
def _parse(array_type: str | None) -> tuple[str, int] | None:
    match = _ARRAY.fullmatch(array_type or "")
    if not match:
        return None
    dimensions = [int(d.lstrip("<=?") or 0) for d in match[2].split(",") if d]
    return match[1], prod(dimensions)

"""One step of a ladder of keys, and how alike two counts are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, NamedTuple, TypeVar

Thing = TypeVar("Thing")


class Rung(NamedTuple, Generic[Thing]):
    """One step of a ladder; what has no key (None) does not stand on it."""

    method: str
    confidence: float
    key: Callable[[Thing], Hashable | None]


def similarity(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Return the share of equal things: Σ min ÷ Σ max of counts (0 to 1)."""
    kinds = a.keys() | b.keys()
    most = sum(max(a.get(kind, 0), b.get(kind, 0)) for kind in kinds)
    least = sum(min(a.get(kind, 0), b.get(kind, 0)) for kind in kinds)
    return least / most if most else 1.0

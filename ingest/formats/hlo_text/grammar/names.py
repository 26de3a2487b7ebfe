"""The names that XLA gives where some are equal: `a`, `a.1`, `a.2`.

As openxla `name_uniquer.cc` does it: the number behind the last dot is no part of the
name proper, and one that is taken becomes the next that is free.
"""

from __future__ import annotations

import re
from collections import defaultdict

_NUMBERED = re.compile(r"(.+)\.([+\-]?[0-9]+)", re.DOTALL)
_MOST_DIGITS = 18


class UniqueNames:
    """The names that are taken."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = defaultdict(set)
        self._next: dict[str, int] = defaultdict(int)

    def take(self, name: str) -> str:
        """Return `name`, or what XLA makes of it because it is taken."""
        numbered = _NUMBERED.fullmatch(name)
        if numbered and len(numbered[2]) > _MOST_DIGITS:
            numbered = None
        proper, number = (numbered[1], int(numbered[2])) if numbered else (name, 0)
        taken = self._taken[proper]
        if number in taken:
            number = self._next[proper]
            while number in taken:
                number += 1
            self._next[proper] = number + 1
        taken.add(number)
        if number == 0:
            return f"{proper}.0" if numbered else proper
        return f"{proper}.{number}"

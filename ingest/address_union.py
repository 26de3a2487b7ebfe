"""Bytes that any of many slots holds, kept while slots come and go."""

from __future__ import annotations

from collections.abc import Sequence


class AddressUnion:
    """Stretches of addresses, each held by any number of slots: a segment tree.

    The stretches are the leaves. A node knows how many slots hold all that is below it,
    but not all below its parent, and how many bytes below it are held.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        """Begin with stretches of these sizes that nobody holds."""
        self._leaves = 1 << max(0, len(widths) - 1).bit_length()
        self._widths = [0] * 2 * self._leaves
        self._widths[self._leaves : self._leaves + len(widths)] = widths
        for node in range(self._leaves - 1, 0, -1):
            self._widths[node] = self._widths[2 * node] + self._widths[2 * node + 1]
        self._holders = [0] * 2 * self._leaves
        self._held = [0] * 2 * self._leaves

    @property
    def size(self) -> int:
        """Bytes that are held by anyone."""
        return self._held[1]

    def hold(self, first: int, end: int, sign: int) -> None:
        """Add a holder of the stretches from `first` up to `end`, or take one away."""
        if first == end:
            return
        low, high = first + self._leaves, end + self._leaves
        while low < high:
            if low & 1:
                self._holders[low] += sign
                self._renew(low)
                low += 1
            if high & 1:
                high -= 1
                self._holders[high] += sign
                self._renew(high)
            low, high = low >> 1, high >> 1
        for node in (first + self._leaves, end - 1 + self._leaves):
            while node := node >> 1:
                self._renew(node)

    def _renew(self, node: int) -> None:
        if self._holders[node]:
            self._held[node] = self._widths[node]
        elif node < self._leaves:
            self._held[node] = self._held[2 * node] + self._held[2 * node + 1]
        else:
            self._held[node] = 0

"""What an assignment means for memory, worked out step by step and byte by byte.

Levels change only where a live range begins or has just ended, so each stretch between
two such steps is looked at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tests.oracle.dump import Allocation, Module, Place, Value


def union(places: Iterable[tuple[int, int]]) -> int:
    """Return how many bytes some intervals cover."""
    covered, reached = 0, 0
    for start, end in sorted(places):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def is_standing(allocation: Allocation) -> bool:
    """Return whether it counts at every step: none of its values has a live range."""
    return allocation.kind not in ("temp", "thread_local") and all(
        place.value.start is None for place in allocation.places
    )


def held_bytes(allocation: Allocation, step: int, without: Container[int] = ()) -> int:
    """Return the bytes of an allocation in use at a step, without some values."""
    if allocation.kind == "thread_local":
        return 0
    rest = [place for place in allocation.places if place.value.number not in without]
    if is_standing(allocation):
        return allocation.size if rest or not allocation.places else 0
    live = [place for place in rest if place.value.is_live(step)]
    if allocation.kind == "temp":
        return union((place.offset, place.end) for place in live)
    return allocation.size if live else 0


@dataclass(frozen=True)
class Stretch:
    """Steps at which nothing begins or ends, and what each allocation holds."""

    first: int
    last: int
    held: dict[int, int]
    live: int
    temp_live: int


def freed_bytes(
    stretch: Stretch, touched: Iterable[Allocation], values: Container[int]
) -> int:
    """Return the bytes of some allocations that only these values use."""
    return sum(
        stretch.held[allocation.number] - held_bytes(allocation, stretch.first, values)
        for allocation in touched
        if stretch.held[allocation.number]
    )


@dataclass(frozen=True)
class Owned:
    """A value at the peak; `value` is None for bytes that no value covers."""

    allocation: Allocation
    place: Place | None
    owned: int
    padding: int
    shares_with: int | None

    @property
    def value(self) -> Value | None:
        """Return the value that owns the bytes."""
        return self.place.value if self.place else None


@dataclass(eq=False)
class Space:
    """One memory space of a module."""

    module: Module
    color: int
    leverages: dict[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def allocations(self) -> list[Allocation]:
        """Return the allocations of the space."""
        return [a for a in self.module.allocations if a.color == self.color]

    def of_kind(self, kind: str) -> list[Allocation]:
        """Return the allocations of a kind."""
        return [a for a in self.allocations if a.kind == kind]

    def size(self, kind: str | None = None) -> int:
        """Return the bytes that are reserved, for a kind or in all."""
        return sum(a.size for a in self.allocations if kind in (None, a.kind))

    @property
    def has_ranges(self) -> bool:
        """Return whether the module has live ranges."""
        return any(value.start is not None for value in self.module.values.values())

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Return the whole schedule in stretches; none without live ranges."""
        if not self.has_ranges or self.module.last_step is None:
            return []
        cuts = {0}
        for allocation in self.allocations:
            cuts |= _cuts(allocation)
        firsts = sorted(cut for cut in cuts if cut <= self.module.last_step)
        lasts = [first - 1 for first in firsts[1:]] + [self.module.last_step]
        held = {a.number: _levels(a, firsts) for a in self.allocations}
        temps = {a.number for a in self.of_kind("temp")}
        found = []
        for at, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
            now = {number: levels[at] for number, levels in held.items()}
            temp = sum(level for number, level in now.items() if number in temps)
            found.append(Stretch(first, last, now, sum(now.values()), temp))
        return found

    @property
    def step_count(self) -> int:
        """Return the number of steps, with the one behind the last instruction."""
        return (self.module.last_step or 0) + 1

    @cached_property
    def peak(self) -> int | None:
        """Return the most live bytes."""
        return max((s.live for s in self.stretches), default=None)

    @cached_property
    def peak_step(self) -> int | None:
        """Return the first step that reaches the peak."""
        return next((s.first for s in self.stretches if s.live == self.peak), None)

    @cached_property
    def temp_peak(self) -> int | None:
        """Return the most live bytes of temporary allocations."""
        return max((s.temp_live for s in self.stretches), default=None)

    def at(self, step: int) -> Stretch:
        """Return the stretch that a step is in."""
        return next(s for s in self.stretches if s.first <= step <= s.last)

    def level(self, step: int) -> int:
        """Return the live bytes at a step."""
        return self.at(step).live

    def without(self, values: Container[int], share: int = 1) -> tuple[int, int]:
        """Return the peak without some values, and the first step that reaches it.

        `share` 2 takes only half of the bytes that are freed, rounded down.
        """
        touched = self.touched(values)

        def level(stretch: Stretch) -> int:
            return stretch.live - freed_bytes(stretch, touched, values) // share

        return self._highest(level)

    def touched(self, values: Container[int]) -> list[Allocation]:
        """Return the allocations that hold some of these values."""
        return [
            allocation
            for allocation in self.allocations
            if any(place.value.number in values for place in allocation.places)
        ]

    def without_value(self, allocation: Allocation, value: Value) -> tuple[int, int]:
        """Return the peak without one value, and the first step that reaches it."""
        found = self.leverages.get(value.number)
        if found is None:
            is_always = is_standing(allocation)

            def level(stretch: Stretch) -> int:
                if not (is_always or value.is_live(stretch.first)):
                    return stretch.live
                rest = held_bytes(allocation, stretch.first, (value.number,))
                return stretch.live - stretch.held[allocation.number] + rest

            found = self.leverages[value.number] = self._highest(level)
        return found

    def _highest(self, level: Callable[[Stretch], int]) -> tuple[int, int]:
        """Return the greatest level, and the first step that reaches it.

        No level is above the live bytes, so that low stretches need no look.
        """
        best, first = -1, 0
        for stretch in self.descending:
            if stretch.live < best:
                break
            found = level(stretch)
            if found > best or (found == best and stretch.first < first):
                best, first = found, stretch.first
        return best, first

    @cached_property
    def descending(self) -> list[Stretch]:
        """Return the stretches, those with the most live bytes first."""
        return sorted(self.stretches, key=lambda s: (-s.live, s.first))

    def leverage(self, allocation: Allocation, value: Value) -> int:
        """Return how far the peak falls without a value."""
        return (self.peak or 0) - self.without_value(allocation, value)[0]

    @cached_property
    def owners(self) -> list[Owned]:
        """Return what is live at the peak, and the bytes that each value owns."""
        step = self.peak_step
        if step is None:
            return []
        found = []
        for allocation in self.allocations:
            if allocation.kind == "thread_local":
                continue
            standing = is_standing(allocation)
            live = [p for p in allocation.places if standing or p.value.is_live(step)]
            owned = owned_bytes(live)
            found += [
                Owned(allocation, place, *owned[place.value.number]) for place in live
            ]
            covered = sum(share[0] for share in owned.values())
            if allocation.kind != "temp" and (live or standing):
                rest = allocation.size - covered
                if rest > 0:
                    found.append(Owned(allocation, None, rest, 0, None))
        return found


def owned_bytes(live: list[Place]) -> dict[int, tuple[int, int, int | None]]:
    """Return for each value its own bytes, the padding among them, and a sharer.

    Of those that share a byte the newest owns it. The sharer is the value that owns
    most of the bytes that a value lost.
    """
    cuts = sorted({p.offset for p in live} | {p.end for p in live})
    owned = {p.value.number: 0 for p in live}
    padding = dict(owned)
    lost: dict[int, list[tuple[int, int]]] = {number: [] for number in owned}
    for start, end in itertools.pairwise(cuts):
        here = [p for p in live if p.offset <= start < p.end]
        if not here:
            continue
        newest = max(here, key=lambda p: (p.value.start or 0, p.value.number))
        owned[newest.value.number] += end - start
        array_end = newest.offset + newest.value.logical_bytes
        padding[newest.value.number] += max(0, end - max(start, array_end))
        for place in here:
            if place is not newest:
                lost[place.value.number].append((end - start, newest.value.number))
    return {
        number: (
            owned[number],
            padding[number],
            max(lost[number], default=(0, None))[1],
        )
        for number in owned
    }


def _cuts(allocation: Allocation) -> set[int]:
    values = [p.value for p in allocation.places if p.value.start is not None]
    return {v.start or 0 for v in values} | {(v.end or 0) + 1 for v in values}


def _levels(allocation: Allocation, firsts: list[int]) -> list[int]:
    own = _cuts(allocation)
    levels: list[int] = []
    for first in firsts:
        if levels and first not in own:
            levels.append(levels[-1])
        else:
            levels.append(held_bytes(allocation, first))
    return levels


def arena_levels(space: Space, arena: Allocation) -> list[tuple[int, int, int]]:
    """Return first step, last step and live bytes of one arena, stretch by stretch."""
    return [(s.first, s.last, s.held[arena.number]) for s in space.stretches]


def arena_peak(space: Space, arena: Allocation) -> tuple[int, int] | None:
    """Return the most live bytes of an arena, and the first step that reaches them.

    None for an arena where nothing has a live range.
    """
    if all(place.value.start is None for place in arena.places):
        return None
    levels = arena_levels(space, arena)
    peak = max(level for _, _, level in levels)
    return peak, next(first for first, _, level in levels if level == peak)

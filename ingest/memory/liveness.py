"""How many bytes of one allocation are live at each step, and where values clash.

A live range includes both its ends, so at the step where an operand dies and its
in-place result is born both are live, on the same bytes: those count once.

XLA prints that a value which a conditional reads lives until the conditional, through
all its branches. On TPU its bytes are another's as soon as the branch has read it for
the last time, or from the start in branches that don't read it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import NO_ID, Ints, Longs
from hlodb.ingest.modules.graph import Graph
from hlodb.ingest.records import BufferAssignment, Packed, Position, Use, column_of

_MANY = 10_000


class Branches:
    """Which branches an instruction stands in, by numbers of a module's graph."""

    def __init__(self, graph: Graph, kinds: Sequence[str | None]) -> None:
        calls = graph.calls
        pairs = zip(calls.computation_ids.tolist(), calls.callers.tolist(), strict=True)
        self.callers = {called: caller for called, caller in pairs if called != NO_ID}
        self.branches = {n for n in self.callers if kinds[n] == "branch"}
        self.conditionals = {self.callers[branch] for branch in self.branches}
        self.computation_ids = graph.computation_ids

    def around(self, instruction: int) -> dict[int, int]:
        """Return the branch that an instruction stands in, by conditional."""
        found: dict[int, int] = {}
        passed: set[int] = set()
        computation = int(self.computation_ids[instruction])
        while computation in self.callers and computation not in passed:
            passed.add(computation)
            caller = self.callers[computation]
            if computation in self.branches:
                found[caller] = computation
            computation = int(self.computation_ids[caller])
        return found


def contradictions(
    conflicts: Iterable[Conflict],
    assignment: BufferAssignment,
    number: Mapping[str, int],
    branches: Branches,
) -> list[Conflict]:
    """Leave out conflicts with a value that only a conditional's live range holds.

    That is the older one where a conditional reads it and nothing that may run after
    the newer one begins: no instruction with a greater step, but those in other
    branches of the same conditional. `number` gives instructions by name.
    """
    found = list(conflicts)
    if not (found and branches.conditionals):
        return found
    given, touching = _readers(found, assignment, number, branches)
    steps = {name: at for at, name in reversed([*enumerate(assignment.schedule)])}
    maker = {value.value_id: value.instruction for value in assignment.values}

    def is_needed(conflict: Conflict) -> bool:
        newer = number.get(maker[conflict.other_value_id])
        if newer is None or conflict.value_id not in given:
            return True
        here = branches.around(newer)
        return any(
            name not in number or not _exclude(here, branches.around(number[name]))
            for name in touching[conflict.value_id]
            if steps.get(name, -1) > conflict.from_step
        )

    return [conflict for conflict in found if is_needed(conflict)]


def _readers(
    conflicts: Iterable[Conflict],
    assignment: BufferAssignment,
    number: Mapping[str, int],
    branches: Branches,
) -> tuple[set[int], dict[int, set[str]]]:
    """Return the older values that conditionals read, and the others related to each.

    That is what reads it and where it stands, such as the result of a branch.
    """
    older = {conflict.value_id for conflict in conflicts}
    given: set[int] = set()
    touching: dict[int, set[str]] = defaultdict(set)
    for place in chain[Position | Use](assignment.positions, assignment.uses):
        if place.value_id not in older:
            continue
        if number.get(place.instruction) in branches.conditionals:
            given.add(place.value_id)
        else:
            touching[place.value_id].add(place.instruction)
    return given, touching


def _exclude(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Return whether two instructions stand in different branches of a conditional."""
    return any(other.get(caller, branch) != branch for caller, branch in one.items())


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


CONFLICTS_LISTED = 1000
"""How many conflicts of one allocation are listed; a broken dump may hold millions."""


class Slot(NamedTuple):
    """A value in its place: bytes `low` up to `high`, steps `start` through `end`."""

    start: int
    end: int
    low: int
    high: int
    value_id: int


class Conflict(NamedTuple):
    """Two values that claim the same bytes at the same time.

    Addresses overlap by `overlap_bytes`, and ranges strictly (a.start < b.end and
    b.start < a.end): touching at one step is what in-place updates do.
    """

    allocation_id: int
    value_id: int
    other_value_id: int
    overlap_bytes: int
    from_step: int
    to_step: int


class Changes(NamedTuple):
    """By how many bytes something changes at steps, which may be there several times.

    64 bits hold the sums too, even where those of some changes overflow on the way.
    """

    steps: Longs
    sizes: Longs


def changes_of(by_step: Mapping[int, int]) -> Changes:
    """Return changes that are given by step."""
    count = len(by_step)
    return Changes(
        np.fromiter(by_step.keys(), np.int64, count),
        np.fromiter(by_step.values(), np.int64, count),
    )


def summed(changes: Sequence[Changes]) -> Changes:
    """Return the sum of changes by step, in the order of steps."""
    last = max((int(c.steps.max(initial=0)) for c in changes), default=0)
    if last > _MANY + 4 * sum(len(c.steps) for c in changes):
        every = _end_to_end([c.steps for c in changes])
        steps, at = np.unique(every, return_inverse=True)
        sizes = np.zeros(len(steps), np.int64)
        np.add.at(sizes, at, _end_to_end([c.sizes for c in changes]))
        return Changes(steps, sizes)
    sizes = np.zeros(last + 1, np.int64)
    is_there = np.zeros(last + 1, np.bool_)
    for change in changes:
        np.add.at(sizes, change.steps, change.sizes)
        is_there[change.steps] = True
    steps = np.flatnonzero(is_there)
    return Changes(steps, sizes[steps])


def _end_to_end(parts: Sequence[Longs]) -> Longs:
    return np.concatenate([np.empty(0, np.int64), *parts])


def longs(rows: Sequence[Any], name: str) -> NDArray[Any]:
    """Return numbers as an array: in 4 bytes where they are packed so, else in 8."""
    column = column_of(rows, name)
    return np.asarray(column, None if isinstance(column, array) else np.int64)


def live_changes(slots: Sequence[Slot], are_sound: bool | None = None) -> list[Changes]:
    """Return the changes of an allocation's live bytes.

    Live bytes at a step are the union of the addresses of the values live at it. Near
    linear where no two values conflict, which holds in every sound dump; `are_sound`
    tells so where it is known.
    """
    if are_sound is None:
        are_sound = is_sound(slots)
    return _sound_changes(slots) if are_sound else _union_changes(slots)


def is_sound(slots: Sequence[Slot]) -> bool:
    """Return whether no two values conflict.

    A sweep over steps: the addresses held are kept sorted, so that a newcomer can only
    clash with its two neighbours. A value that lives for one step comes before others
    that start there, and is never held: it clashes with none that ends or starts there.
    """
    if len(slots) < 2:
        return True
    held: list[tuple[int, int]] = []
    leaving: list[tuple[int, int, int]] = []
    for start, end, low, high, _ in _in_order(slots, *Slot._fields):
        while leaving and leaving[0][0] <= start:
            del held[bisect_left(held, heappop(leaving)[1:])]
        at = bisect_left(held, (low, high))
        below_reaches = at > 0 and held[at - 1][1] > low
        above_reaches = at < len(held) and held[at][0] < high
        if high > low and (below_reaches or above_reaches):
            return False
        if high > low and end > start:
            held.insert(at, (low, high))
            heappush(leaving, (end, low, high))
    return True


def _sound_changes(slots: Sequence[Slot]) -> list[Changes]:
    """Add sizes up, less what values share at the step where one ends as others start.

    Without conflicts, sharing happens nowhere else.
    """
    starts, ends, lows, highs = (
        longs(slots, name) for name in ("start", "end", "low", "high")
    )
    sizes = highs - lows
    shares: dict[int, int] = defaultdict(int)
    starting = groupby(_in_order(slots, "start"), key=attrgetter("start"))
    begin, new = next(starting, (0, iter(())))
    for step, old in groupby(_in_order(slots, "end"), key=attrgetter("end")):
        touching = list(old)
        while begin < step:
            begin, new = next(starting, (step + 1, iter(())))
        if begin == step:
            touching += (slot for slot in new if slot.end > step)
        shared = _shared_bytes(touching)
        if shared:
            shares[step] -= shared
            shares[step + 1] += shared
    return [Changes(starts, sizes), Changes(ends + 1, -sizes), changes_of(shares)]


def _in_order(slots: Sequence[Slot], *names: str) -> Iterable[Slot]:
    """Return slots ordered by these fields, the first of them before the others."""
    if not isinstance(slots, Packed):
        return sorted(slots, key=attrgetter(*names))
    columns = [np.asarray(slots.column(name)) for name in reversed(names)]
    return _taken(slots, np.lexsort(columns).astype(np.int32))


def _taken(slots: Packed[Slot], places: Ints) -> Iterator[Slot]:
    """Yield the slots at these places, some of which are copied at once."""
    for start in range(0, len(places), _MANY):
        yield from slots.taken(places[start : start + _MANY].tolist())


def _shared_bytes(slots: list[Slot]) -> int:
    """Return by how much the sum of sizes exceeds the union of addresses."""
    if len(slots) < 2:
        return 0
    shared, reach = 0, 0
    for low, high in sorted((slot.low, slot.high) for slot in slots):
        shared += max(0, min(reach, high) - low)
        reach = max(reach, high)
    return shared


def _union_changes(slots: Sequence[Slot]) -> list[Changes]:
    """Hold the union of addresses while slots come and go."""
    edges = sorted({edge for slot in slots for edge in (slot.low, slot.high)})
    place = {edge: number for number, edge in enumerate(edges)}
    union = AddressUnion([high - low for low, high in pairwise(edges)])
    changes: dict[int, int] = defaultdict(int)
    events = [(slot.start, 1, slot) for slot in slots]
    events += [(slot.end + 1, -1, slot) for slot in slots]
    for step, sign, slot in sorted(events):
        before = union.size
        union.hold(place[slot.low], place[slot.high], sign)
        changes[step] += union.size - before
    return [changes_of(changes)]


def conflicts(allocation_id: int, slots: Sequence[Slot]) -> list[Conflict]:
    """List the pairs of values that conflict, by step; at most `CONFLICTS_LISTED`.

    The sweep of `is_sound`, with what is held in layers, each without overlaps: a value
    lies in the first where it clashes with none. Layers are few, for the n-th means
    n conflicts of its value, and n - 1 of one below.
    """
    if is_sound(slots):
        return []
    ordered = sorted(slot for slot in slots if slot.high > slot.low)
    layers: list[list[tuple[int, int, int]]] = []
    layer_of: dict[int, int] = {}
    leaving: list[tuple[int, int]] = []
    found: list[Conflict] = []
    for at, new in enumerate(ordered):
        while leaving and leaving[0][0] <= new.start:
            _, gone = heappop(leaving)
            old, layer = ordered[gone], layers[layer_of.pop(gone)]
            del layer[bisect_left(layer, (old.low, old.high, gone))]
        clashing = [_overlapping(layer, new) for layer in layers]
        for number in sorted(chain(*clashing)):
            found.append(_conflict(allocation_id, ordered[number], new))
            if len(found) == CONFLICTS_LISTED:
                return found
        if new.end > new.start:
            heappush(leaving, (new.end, at))
            place = clashing.index([]) if [] in clashing else len(layers)
            if place == len(layers):
                layers.append([])
            insort(layers[place], (new.low, new.high, at))
            layer_of[at] = place
    return found


def _overlapping(held: Sequence[tuple[int, int, int]], new: Slot) -> list[int]:
    """Return the numbers of those that `new` overlaps; none overlaps another."""
    first = bisect_left(held, (new.low,))
    if first and held[first - 1][1] > new.low:
        first -= 1
    end = bisect_left(held, (new.high,))
    return [number for _, _, number in held[first:end]]


def _conflict(allocation_id: int, old: Slot, new: Slot) -> Conflict:
    return Conflict(
        allocation_id,
        old.value_id,
        new.value_id,
        min(old.high, new.high) - max(old.low, new.low),
        max(old.start, new.start),
        min(old.end, new.end),
    )


def padding_bytes(slots: Iterable[Slot], logical_bytes: Mapping[int, int]) -> int:
    """Return the bytes that values live at one step hold beyond their logical size.

    A value's padding is what lies in its place behind its first logical bytes. A byte
    that several values share counts for the newest of them: the one that starts last,
    of these the one with the highest id. A value of unknown logical size has none.
    """
    held = [slot for slot in slots if slot.high > slot.low]
    if not held:
        return 0
    if len(held) == 1:
        [slot] = held
        size = slot.high - slot.low
        return max(0, size - logical_bytes.get(slot.value_id, size))
    data_end = {
        slot: slot.low + logical_bytes.get(slot.value_id, slot.high - slot.low)
        for slot in held
    }
    edges = {edge for slot in held for edge in (slot.low, slot.high, data_end[slot])}
    waiting = sorted(held, key=lambda slot: slot.low, reverse=True)
    newest: list[tuple[int, int, Slot]] = []
    total = 0
    for low, high in pairwise(sorted(edges)):
        while waiting and waiting[-1].low <= low:
            slot = waiting.pop()
            heappush(newest, (-slot.start, -slot.value_id, slot))
        while newest and newest[0][2].high <= low:
            heappop(newest)
        if newest and data_end[newest[0][2]] <= low:
            total += high - low
    return total

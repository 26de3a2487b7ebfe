"""What a buffer assignment means for memory: peaks, fragmentation, timeline.

Nothing is summed over memory spaces. Live bytes follow from live ranges and placements,
not from the peak that XLA prints: it mixes memory spaces, leaves padding out and takes
a tuple element for its pointer table.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import NO_ID, Longs
from hlodb.ingest.formats.sections import rows
from hlodb.ingest.memory.liveness import (
    Changes,
    Conflict,
    Slot,
    changes_of,
    conflicts,
    live_changes,
    longs,
    padding_bytes,
    summed,
)
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Packed,
    TextColumn,
    Texts,
    Value,
    column_of,
    end_to_end,
)

_MANY = 10_000
"""Values of one allocation that are held as rows at once."""


class ColorProfile(NamedTuple):
    """The memory of one memory space.

    `reserved_bytes` is the size of all its allocations, and the sum of the five that
    follow: one kind per allocation (`allocation_kind`). Live figures are None where the
    assignment has no live ranges.
    """

    color: int
    reserved_bytes: int
    parameter_bytes: int
    constant_bytes: int
    live_out_bytes: int
    thread_local_bytes: int
    temp_bytes: int
    temp_live_peak_bytes: int | None = None
    live_peak_bytes: int | None = None
    peak_step: int | None = None
    fragmentation_bytes: int | None = None
    fragmentation_ratio: float | None = None
    padding_bytes: int | None = None


class TimelineSegment(NamedTuple):
    """Steps of equal use, both ends included; `live_bytes` includes the temps."""

    color: int
    from_step: int
    to_step: int
    live_bytes: int
    temp_live_bytes: int


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What is derived from one buffer assignment, ordered by memory space and step."""

    profiles: list[ColorProfile]
    timeline: Sequence[TimelineSegment]
    conflicts: list[Conflict]


def allocation_kind(allocation: Allocation) -> str:
    """Return the one kind an allocation counts as.

    `parameter`, `constant`, `thread_local`, `live_out` or `temp`: the first that
    applies, because a donated parameter is live out too.
    """
    if allocation.parameter_number is not None:
        return "parameter"
    if allocation.is_constant:
        return "constant"
    if allocation.is_thread_local:
        return "thread_local"
    return "live_out" if allocation.is_live_out else "temp"


def memory_facts(
    assignment: BufferAssignment,
    logical_bytes: Mapping[int, int],
    keys: RangeKeys | None = None,
) -> MemoryFacts:
    """Derive profile and timeline of every memory space, and the contradictions.

    `logical_bytes` maps value ids to unpadded sizes, `keys` are its `range_keys` where
    they are known. At a step, live bytes are

    * of a temp allocation the union of the addresses of its values live then,
    * of a parameter, constant or live-out its size while any of its values is live, or
      for the whole schedule where none of its values has a live range,
    * of a thread-local allocation nothing: it is reserved, and in no timeline.

    A temp value without live range is never live. Fragmentation is the size of the
    space's temps less the most of them that is live at once; its ratio is to the size
    (None without temps). `peak_step` is the first step of the largest live bytes, and
    `padding_bytes` what the values live at it hold beyond their logical sizes
    (`liveness.padding_bytes`), thread-local ones left out.
    """
    last_step = _last_step(assignment)
    if keys is None:
        keys = range_keys(assignment.values, assignment.live_ranges)
    placed = _Placed(assignment, keys)
    spaces: dict[int, _Space] = defaultdict(_Space)
    for allocation in assignment.allocations:
        spaces[allocation.color].add(allocation, placed, last_step)
    profiles: list[ColorProfile] = []
    timelines: list[Sequence[TimelineSegment]] = []
    for color, space in sorted(spaces.items()):
        segments = _timeline(color, space, last_step)
        profiles.append(_profile(color, space, segments, placed, logical_bytes))
        timelines.append(segments)
    clashing = [c for _, space in sorted(spaces.items()) for c in space.conflicts]
    return MemoryFacts(profiles, end_to_end(timelines), clashing)


@dataclass(slots=True)
class _Space:
    """The allocations of one memory space, and how they change its live bytes.

    `other` has the changes by all that are no temps, by step.
    """

    allocations: list[Allocation] = field(default_factory=list)
    temp: list[Changes] = field(default_factory=list)
    other: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, allocation: Allocation, placed: _Placed, last_step: int) -> None:
        """Add an allocation and the conflicts of its values."""
        kind = allocation_kind(allocation)
        slots = placed.slots(allocation.allocation_id)
        clashing = conflicts(allocation.allocation_id, slots)
        self.allocations.append(allocation)
        self.conflicts += clashing
        if kind == "temp":
            self.temp += live_changes(slots, not clashing)
        elif kind != "thread_local":
            _add_whole(self.other, allocation.size_bytes, slots, last_step)


def _last_step(assignment: BufferAssignment) -> int:
    """Return the last step at which anything lives, or -1 without live ranges.

    It is one past the last instruction: what is live out lives on there.
    """
    if not assignment.live_ranges:
        return -1
    last: int = max(column_of(assignment.live_ranges, "end_step"))
    return max(last, assignment.schedule_end or 0)


class _Placed:
    """The values of an assignment in their places, allocation by allocation."""

    def __init__(self, assignment: BufferAssignment, keys: RangeKeys) -> None:
        rows, ranges = assignment.placements, assignment.live_ranges
        owners, value_ids, lows, sizes = (
            longs(rows, name)
            for name in ("allocation_id", "value_id", "offset_bytes", "size_bytes")
        )
        values = last_equal(value_ids, longs(assignment.values, "value_id"))
        lives = np.append(last_equal(*keys), NO_ID)[values].astype(np.int32)
        order = np.argsort(owners, kind="stable").astype(np.int32)
        in_order = owners[order]
        alive = order[lives[order] != NO_ID]
        always = order[~np.isin(in_order, owners[alive])]
        steps = [
            longs(ranges, name)[lives[alive]] for name in ("start_step", "end_step")
        ]
        columns = (lows, lows + sizes, value_ids)
        self._alive = _slots(steps, [column[alive] for column in columns])
        steps = [np.zeros_like(always)] * 2
        self._always = _slots(steps, [column[always] for column in columns])
        self._alive_of, self._always_of = _parts(owners[alive]), _parts(owners[always])

    def slots(self, allocation_id: int) -> Sequence[Slot]:
        """Return the values of an allocation that have a live range."""
        found = self._alive[slice(*self._alive_of.get(allocation_id, (0, 0)))]
        return found if len(found) > _MANY else list(found)

    def slots_at(self, allocation: Allocation, step: int) -> Sequence[Slot]:
        """Return the values of an allocation that live at a step.

        Where none has a live range, all of them live for the whole schedule, but those
        of temps and thread-local allocations never.
        """
        known = self.slots(allocation.allocation_id)
        if known or allocation_kind(allocation) in ("temp", "thread_local"):
            return [slot for slot in known if slot.start <= step <= slot.end]
        number = allocation.allocation_id
        return self._always[slice(*self._always_of.get(number, (0, 0)))]


def _parts(owners: NDArray[Any]) -> dict[int, tuple[int, int]]:
    """Return where the run of each owner begins and ends."""
    firsts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
    edges = pairwise([*firsts.tolist(), len(owners)])
    return dict(zip(owners[firsts].tolist(), edges, strict=True))


def _slots(
    steps: Sequence[NDArray[Any]], places: Sequence[NDArray[Any]]
) -> Sequence[Slot]:
    columns = [*steps, *places]
    if len(columns[0]) < _MANY:
        return rows(Slot, *(column.tolist() for column in columns))
    return Packed(Slot, list(map(_packed, columns)))


def _packed(column: NDArray[Any]) -> array[int]:
    found = array("i" if column.dtype == np.int32 else "q")
    found.frombytes(column.tobytes())
    return found


class RangeKeys(NamedTuple):
    """Numbers of values and of live ranges, equal where they belong together."""

    of_values: Longs
    of_ranges: Longs


def range_keys(values: Sequence[Value], ranges: Sequence[LiveRange]) -> RangeKeys:
    """Return numbers of values and of live ranges, equal where they belong together."""
    parts = [
        [column_of(rows, name) for rows in (values, ranges)]
        for name in ("instruction", "shape_index")
    ]
    names, indexes = (_numbered(*columns) for columns in parts)
    # A range prints the index always, a value only where its instruction is a tuple.
    used = used_numbers(np.concatenate(indexes.numbers)).tolist()
    wholes = [at for at in used if indexes.texts[at] in (None, "", "{}")]
    keys = []
    for name, index in zip(names.numbers, indexes.numbers, strict=True):
        plain = np.where(np.isin(index, wholes), len(indexes.texts), index)
        keys.append(name.astype(np.int64) * (len(indexes.texts) + 1) + plain)
    return RangeKeys(*keys)


class _Numbered(NamedTuple):
    """Columns as numbers of texts."""

    numbers: list[NDArray[Any]]
    texts: Sequence[str | None]


def _numbered(*columns: Sequence[str | None]) -> _Numbered:
    """Return columns as numbers of the same texts."""
    packed = [c for c in columns if isinstance(c, TextColumn)]
    if len(packed) == len(columns) and len({id(c.by_number) for c in packed}) == 1:
        numbers = [np.asarray(c.numbers) for c in packed]
        return _Numbered(numbers, packed[0].by_number)
    texts = Texts()
    found = [
        np.fromiter(map(texts.__getitem__, column), np.int64, len(column))
        for column in columns
    ]
    return _Numbered(found, texts.by_number)


def used_numbers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the different numbers of a column in order; they count from 0."""
    return np.flatnonzero(np.bincount(numbers))


def last_equal(keys: Longs, among: Longs) -> Longs:
    """Return where each key is among others, the last time; NO_ID for nowhere."""
    if not len(among):
        return np.full(len(keys), NO_ID, np.int64)
    order = np.argsort(among, kind="stable")
    ordered = among[order]
    at = np.searchsorted(ordered, keys, side="right") - 1
    return np.where((at >= 0) & (ordered[at] == keys), order[at], NO_ID)


def _timeline(color: int, space: _Space, last_step: int) -> Sequence[TimelineSegment]:
    """Return live bytes of a space from step 0 to the last, run-length encoded."""
    ends = Changes(np.array([0, last_step + 1]), np.zeros(2, np.int64))
    temp = summed([*space.temp, ends])
    whole = summed([*space.temp, changes_of(space.other), ends])
    live = np.cumsum(whole.sizes)
    temp_live = np.cumsum(temp.sizes)
    temp_live = temp_live[np.searchsorted(temp.steps, whole.steps, side="right") - 1]
    # A segment begins where either changes; the last step is behind all of them.
    is_first = np.ones(len(live) - 1, np.bool_)
    is_first[1:] = (np.diff(live) != 0)[:-1] | (np.diff(temp_live) != 0)[:-1]
    first = np.flatnonzero(is_first)
    edges = whole.steps[np.append(first, len(live) - 1)]
    starts, stops = edges[:-1], edges[1:] - 1
    columns = (np.full(len(first), color), starts, stops, live[first], temp_live[first])
    return Packed(TimelineSegment, list(map(_packed, columns)))


def _add_whole(
    changes: dict[int, int], size: int, slots: Sequence[Slot], last_step: int
) -> None:
    """Count an allocation whole while a value in it lives, or always if none does."""
    free_from = -1
    spans = sorted((slot.start, slot.end) for slot in slots)
    for start, end in spans or [(0, last_step)]:
        if start > free_from:
            changes[start] += size
            changes[end + 1] -= size
        elif end >= free_from:
            changes[free_from] += size
            changes[end + 1] -= size
        free_from = max(free_from, end + 1)


def _profile(
    color: int,
    space: _Space,
    segments: Sequence[TimelineSegment],
    placed: _Placed,
    logical_bytes: Mapping[int, int],
) -> ColorProfile:
    reserved: dict[str, int] = defaultdict(int)
    for allocation in space.allocations:
        reserved[allocation_kind(allocation)] += allocation.size_bytes
    profile = ColorProfile(
        color=color,
        reserved_bytes=sum(reserved.values()),
        parameter_bytes=reserved["parameter"],
        constant_bytes=reserved["constant"],
        live_out_bytes=reserved["live_out"],
        thread_local_bytes=reserved["thread_local"],
        temp_bytes=reserved["temp"],
    )
    if not segments:
        return profile
    live = column_of(segments, "live_bytes")
    at = int(np.argmax(live))
    peak_step = segments[at].from_step
    temp_peak = max(column_of(segments, "temp_live_bytes"))
    lost = profile.temp_bytes - temp_peak
    return profile._replace(
        temp_live_peak_bytes=temp_peak,
        live_peak_bytes=live[at],
        peak_step=peak_step,
        fragmentation_bytes=lost,
        fragmentation_ratio=lost / profile.temp_bytes if profile.temp_bytes else None,
        padding_bytes=sum(
            padding_bytes(placed.slots_at(allocation, peak_step), logical_bytes)
            for allocation in space.allocations
            if allocation_kind(allocation) != "thread_local"
        ),
    )

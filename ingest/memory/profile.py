"""What a buffer assignment means for memory: peaks, fragmentation, timeline.

Nothing is summed over memory spaces. Live bytes follow from live ranges and placements,
not from the peak that XLA prints: it mixes memory spaces, leaves padding out and takes
a tuple element for its pointer table.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import NamedTuple

from hlodb.ingest.memory.liveness import (
    Conflict,
    Slot,
    conflicts,
    live_changes,
    padding_bytes,
)
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Packed,
    Placement,
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


class _Held(NamedTuple):
    """An allocation with the values in it that live, how long, and which conflict."""

    allocation: Allocation
    kind: str
    slots: Sequence[Slot]
    standing: Sequence[Slot]
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
    assignment: BufferAssignment, logical_bytes: Mapping[int, int]
) -> MemoryFacts:
    """Derive profile and timeline of every memory space, and the contradictions.

    `logical_bytes` maps value ids to unpadded sizes. At a step, live bytes are

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
    by_color: dict[int, list[_Held]] = defaultdict(list)
    for held in _held(assignment, last_step):
        by_color[held.allocation.color].append(held)
    profiles: list[ColorProfile] = []
    timelines: list[Sequence[TimelineSegment]] = []
    conflicts: list[Conflict] = []
    for color, helds in sorted(by_color.items()):
        segments = _timeline(color, helds, last_step)
        profiles.append(_profile(color, helds, segments, logical_bytes))
        timelines.append(segments)
        for held in helds:
            conflicts.extend(held.conflicts)
    return MemoryFacts(profiles, end_to_end(timelines), conflicts)


def _last_step(assignment: BufferAssignment) -> int:
    """Return the last step at which anything lives, or -1 without live ranges.

    It is one past the last instruction: what is live out lives on there.
    """
    if not assignment.live_ranges:
        return -1
    last: int = max(column_of(assignment.live_ranges, "end_step"))
    return max(last, assignment.schedule_end or 0)


def _held(assignment: BufferAssignment, last_step: int) -> Iterator[_Held]:
    lives = _range_of_value(assignment)
    starts = column_of(assignment.live_ranges, "start_step")
    ends = column_of(assignment.live_ranges, "end_step")
    placed: dict[int, array[int]] = defaultdict(lambda: array("q"))
    for at, number in enumerate(column_of(assignment.placements, "allocation_id")):
        placed[number].append(at)
    for allocation in assignment.allocations:
        kind = allocation_kind(allocation)
        inside = placed.get(allocation.allocation_id, ())
        slots = _slots(
            Slot(starts[live], ends[live], low, low + size, value_id)
            for _, value_id, low, size in _taken(assignment.placements, inside)
            if (live := lives.get(value_id)) is not None
        )
        standing: Sequence[Slot] = ()
        if not slots and kind not in ("temp", "thread_local"):
            standing = _slots(
                Slot(0, last_step, low, low + size, value_id)
                for _, value_id, low, size in _taken(assignment.placements, inside)
            )
        clashing = conflicts(allocation.allocation_id, slots)
        yield _Held(allocation, kind, slots, standing, clashing)


def _taken(rows: Sequence[Placement], places: Sequence[int]) -> Iterable[Placement]:
    if isinstance(rows, Packed) and len(places) > _MANY:
        return rows.taken(places)
    return map(rows.__getitem__, places)


def _slots(found: Iterator[Slot]) -> Sequence[Slot]:
    """Return slots as a list, or as columns where they are many."""
    first = list(islice(found, _MANY))
    if len(first) < _MANY:
        return first
    columns = [array("q", column) for column in zip(*first, strict=True)]
    while some := list(islice(found, _MANY)):
        for column, more in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(more)
    return Packed(Slot, columns)


def _range_of_value(assignment: BufferAssignment) -> dict[int, int]:
    """Return the place among the live ranges of the one of each value."""
    ranges = {key: at for at, key in enumerate(range_keys(assignment.live_ranges))}
    numbers = column_of(assignment.values, "value_id")
    pairs = zip(numbers, range_keys(assignment.values), strict=True)
    return {number: ranges[key] for number, key in pairs if key in ranges}


def range_keys(rows: Sequence[Value] | Sequence[LiveRange]) -> Iterator[Hashable]:
    """Yield what a live range and its value have in common."""
    names, indexes = column_of(rows, "instruction"), column_of(rows, "shape_index")
    return map(_range_key, names, indexes)


def _range_key(instruction: str, shape_index: str | None) -> Hashable:
    # A range prints the index always, a value only where its instruction is a tuple.
    # Most have none, and a pair takes the memory of ten numbers.
    is_whole = shape_index in (None, "", "{}")
    return instruction if is_whole else (instruction, shape_index)


def _timeline(
    color: int, helds: Iterable[_Held], last_step: int
) -> Sequence[TimelineSegment]:
    """Return live bytes of a space from step 0 to the last, run-length encoded."""
    temp: dict[int, int] = {}
    other: dict[int, int] = {}
    for held in helds:
        if held.kind == "temp":
            changes = live_changes(held.slots, not held.conflicts)
            temp = _sum(temp, changes)
        elif held.kind != "thread_local":
            other = _sum(other, _whole_changes(held, last_step))
    starts, ends, sizes, temp_sizes = (array("q") for _ in range(4))
    live, temp_live = 0, 0
    more = {0, last_step + 1, *other} - temp.keys()
    for step, following in pairwise(sorted(chain(temp, more))):
        temp_live += temp.get(step, 0)
        live += temp.get(step, 0) + other.get(step, 0)
        if sizes and sizes[-1] == live and temp_sizes[-1] == temp_live:
            ends[-1] = following - 1
            continue
        starts.append(step)
        ends.append(following - 1)
        sizes.append(live)
        temp_sizes.append(temp_live)
    colors = array("q", [color]) * len(starts)
    return Packed(TimelineSegment, [colors, starts, ends, sizes, temp_sizes])


def _sum(changes: dict[int, int], more: dict[int, int]) -> dict[int, int]:
    """Return the sum of changes; the larger table becomes it."""
    if len(changes) < len(more):
        changes, more = more, changes
    for step, change in more.items():
        changes[step] = changes.get(step, 0) + change
    return changes


def _whole_changes(held: _Held, last_step: int) -> dict[int, int]:
    """Count an allocation whole while a value in it lives, or always if none does."""
    size = held.allocation.size_bytes
    changes: dict[int, int] = defaultdict(int)
    free_from = -1
    spans = sorted((slot.start, slot.end) for slot in held.slots)
    for start, end in spans or [(0, last_step)]:
        if start > free_from:
            changes[start] += size
            changes[end + 1] -= size
        elif end >= free_from:
            changes[free_from] += size
            changes[end + 1] -= size
        free_from = max(free_from, end + 1)
    return changes


def _profile(
    color: int,
    helds: Sequence[_Held],
    segments: Sequence[TimelineSegment],
    logical_bytes: Mapping[int, int],
) -> ColorProfile:
    reserved: dict[str, int] = defaultdict(int)
    for held in helds:
        reserved[held.kind] += held.allocation.size_bytes
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
    peak = max(segments, key=lambda segment: segment.live_bytes)
    temp_peak = max(segment.temp_live_bytes for segment in segments)
    lost = profile.temp_bytes - temp_peak
    return profile._replace(
        temp_live_peak_bytes=temp_peak,
        live_peak_bytes=peak.live_bytes,
        peak_step=peak.from_step,
        fragmentation_bytes=lost,
        fragmentation_ratio=lost / profile.temp_bytes if profile.temp_bytes else None,
        padding_bytes=sum(
            padding_bytes(_live_at(held, peak.from_step), logical_bytes)
            for held in helds
        ),
    )


def _live_at(held: _Held, step: int) -> list[Slot]:
    if held.kind == "thread_local":
        return []
    slots = held.slots or held.standing
    return [slot for slot in slots if slot.start <= step <= slot.end]

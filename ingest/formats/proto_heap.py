"""What only the message knows of memory: heap events, peak buffers, flags.

A trace replays how the heap simulator placed the temporaries of one allocation. Its
events name the instruction that defines the buffer, a FREE no less than an ALLOC: when
a buffer is freed shows only in the order of the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hlodb.ingest.formats.hlo_pb2 import BufferAssignmentProto, HeapSimulatorTrace
from hlodb.ingest.formats.proto_metadata import text_of

_KINDS = ("alloc", "free", "share_with")
_FREE = 1
_SHARE = 2


class HeapTrace(NamedTuple):
    """One run of the heap simulator.

    `allocation_id` is the allocation that its first buffer lies in (the number in the
    message is older than the combination of temporaries, and wrong). A run that does
    not cover the whole module is of memory-space assignment: its times are its own.
    """

    trace_id: int
    allocation_id: int | None
    is_whole_module: bool


class HeapEvent(NamedTuple):
    """One event: `kind` is alloc, free or share_with; the last names who it shares."""

    trace_id: int
    event: int
    kind: str
    value_id: int
    computation: str
    instruction: str
    shared_value_id: int | None


class PeakBuffer(NamedTuple):
    """A value that is live at the peak of its allocation, by XLA's own account."""

    allocation_id: int
    value_id: int


class AllocationFlags(NamedTuple):
    """What the message says of an allocation beyond the text.

    `is_tuple`: it holds a table of pointers. `is_aliased`: a parameter that shares its
    buffer with an output (since 2025).
    """

    allocation_id: int
    is_tuple: bool
    is_aliased: bool


class HeapFacts(NamedTuple):
    """The heap part of one assignment, in the order of the message."""

    traces: list[HeapTrace]
    events: list[HeapEvent]
    peak_buffers: list[PeakBuffer]
    flags: list[AllocationFlags]


def read_heap(message: BufferAssignmentProto) -> HeapFacts:
    """Give what the message says of the heap and no text does."""
    allocation_of = {
        assigned.logical_buffer_id: allocation.index
        for allocation in message.buffer_allocations
        for assigned in allocation.assigned
    }
    traces = message.heap_simulator_traces
    return HeapFacts(
        [
            HeapTrace(
                number,
                allocation_of.get(trace.events[0].buffer_id) if trace.events else None,
                trace.whole_module_simulation,
            )
            for number, trace in enumerate(traces)
        ],
        [
            event
            for number, trace in enumerate(traces)
            for event in _events(number, trace)
        ],
        [
            PeakBuffer(peak.index, value)
            for peak in message.peak_buffers
            for value in peak.logical_buffer_ids
        ],
        [
            AllocationFlags(a.index, a.is_tuple, a.is_parameter_aliased_with_output)
            for a in message.buffer_allocations
        ],
    )


def _events(number: int, trace: HeapSimulatorTrace) -> list[HeapEvent]:
    return [
        HeapEvent(
            number,
            place,
            _KINDS[e.kind] if 0 <= e.kind < len(_KINDS) else str(e.kind),
            e.buffer_id,
            text_of(e.computation_name),
            text_of(e.instruction_name),
            e.share_with_canonical_id if _shares(e.kind) else None,
        )
        for place, e in enumerate(trace.events)
    ]


def _shares(kind: int) -> bool:
    return 0 <= kind < len(_KINDS) and _KINDS[kind] == "share_with"


def moments(traces: Sequence[HeapSimulatorTrace]) -> dict[int, tuple[int, int]]:
    """Give the first and last moment at which each value of a trace is on the heap.

    For modules without a schedule (CPU, until early 2024). A moment is a run of
    allocations and the frees that follow it: the coarsest clock by which the events can
    have happened, with the same peak. Several traces have no common clock; then nothing
    is given.

    Until autumn 2019 a value that took over another's buffer was freed in the other's
    name: then the other ends where it begins.
    """
    if len(traces) != 1:
        return {}
    named = {event.buffer_id for event in traces[0].events if event.kind == _FREE}
    holder: dict[int, int] = {}
    allocated: dict[int, int] = {}
    freed: dict[int, int] = {}
    moment = 0
    is_freeing = False
    for event in traces[0].events:
        if event.kind != _FREE and is_freeing:
            moment += 1
        is_freeing = event.kind == _FREE
        if is_freeing:
            freed[holder.get(event.buffer_id, event.buffer_id)] = moment
            continue
        allocated.setdefault(event.buffer_id, moment)
        if event.kind == _SHARE and event.buffer_id not in named:
            shared = event.share_with_canonical_id
            freed[holder.get(shared, shared)] = moment
            holder[shared] = event.buffer_id
    return {
        value: (first, max(first, freed.get(value, moment)))
        for value, first in allocated.items()
    }

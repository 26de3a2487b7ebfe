"""When values are on the heap, from the traces of XLA's heap simulator.

A trace replays how the simulator placed the temporaries of one allocation. Its events
have no time: when a buffer is freed shows only in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.ingest.formats.proto.hlo_pb2 import HeapSimulatorTrace

_FREE = 1
_SHARE = 2


def moments(traces: Sequence[HeapSimulatorTrace]) -> dict[int, tuple[int, int]]:
    """Return the first and last moment at which each value of a trace is on the heap.

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

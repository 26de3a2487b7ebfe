"""Live ranges that a trace of the heap simulator gives or confirms."""

import pytest

from hlodb.ingest.formats.proto.hlo_pb2 import HeapSimulatorTrace, HloProto
from hlodb.ingest.formats.proto.hlo_proto import ParsedProto, parse_hlo_proto
from hlodb.ingest.formats.proto.values import moments
from tests.ingest.formats.proto.known_pairs import ALL, CG

FREE = 1


def test_without_a_schedule_ranges_follow_the_heap_trace() -> None:
    message = HloProto.FromString(CG.message)
    message.hlo_module.ClearField("schedule")
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert "is_scheduled" not in parsed.module.header
    assert parsed.assignment is not None
    assert parsed.assignment.schedule == []
    assert _heap_peak(parsed) == _replayed_peak(message)


def test_a_value_freed_in_the_name_of_whose_buffer_it_took() -> None:
    """As TensorFlow 1.14 writes it; later releases free every value by its own name."""
    alloc, free, share = 0, 1, 2
    events = [
        (alloc, 11, 0), (alloc, 12, 0), (free, 12, 0), (share, 16, 11), (alloc, 17, 0),
        (free, 17, 0), (share, 18, 11), (free, 11, 0), (alloc, 19, 0), (free, 19, 0),
    ]  # fmt: skip
    trace = HeapSimulatorTrace()
    for kind, buffer, shared in events:
        trace.events.add(kind=kind, buffer_id=buffer, share_with_canonical_id=shared)
    assert moments([trace]) == {
        11: (0, 1), 12: (0, 0), 16: (1, 2), 17: (1, 1), 18: (2, 2), 19: (3, 3)
    }  # fmt: skip


def _heap_peak(parsed: ParsedProto) -> int:
    """Return the most bytes that ranges hold at once, sharing buffers counted once."""
    assignment = parsed.assignment
    assert assignment is not None
    number = {(v.instruction, v.shape_index or "{}"): v for v in assignment.values}
    place = {p.value_id: p for p in assignment.placements}
    slots: dict[int, set[tuple[int, int]]] = {}
    for r in assignment.live_ranges:
        at = place[number[r.instruction, r.shape_index].value_id]
        for step in range(r.start_step, r.end_step + 1):
            slots.setdefault(step, set()).add((at.offset_bytes, at.size_bytes))
    return max(sum(size for _, size in live) for live in slots.values())


def _replayed_peak(message: HloProto) -> int:
    """Return the peak as XLA's heap statistics replay it, shared buffers once."""
    sizes = {b.id: b.size for b in message.buffer_assignment.logical_buffers}
    (trace,) = message.buffer_assignment.heap_simulator_traces
    root: dict[int, int] = {}
    count: dict[int, int] = {}
    live = peak = 0
    for event in trace.events:
        if event.kind == 2:
            shared = event.share_with_canonical_id
            root[event.buffer_id] = root.get(shared, shared)
        own = root.get(event.buffer_id, event.buffer_id)
        before = count.get(own, 0)
        count[own] = before - 1 if event.kind == 1 else before + 1
        if (before == 0) != (count[own] == 0):
            live += sizes[own] * (1 if before == 0 else -1)
        peak = max(peak, live)
    return peak


@pytest.mark.parametrize("name", [n for n, p in ALL.items() if p.assignment_texts])
def test_live_ranges_agree_with_the_order_of_heap_events(name: str) -> None:
    parsed = parse_hlo_proto(ALL[name].message)
    assert parsed.assignment is not None
    assignment = HloProto.FromString(ALL[name].message).buffer_assignment
    number = {
        (v.instruction, v.shape_index or "{}"): v.value_id
        for v in parsed.assignment.values
    }
    ranges = {
        number[r.instruction, r.shape_index]: r
        for r in parsed.assignment.live_ranges
        if (r.instruction, r.shape_index) in number
    }
    for trace in assignment.heap_simulator_traces:
        if not trace.whole_module_simulation:
            continue
        steps = [
            ranges[e.buffer_id].end_step
            if e.kind == FREE
            else ranges[e.buffer_id].start_step
            for e in trace.events
        ]
        assert steps == sorted(steps)

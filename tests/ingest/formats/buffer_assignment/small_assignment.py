"""A small buffer assignment with every section, and the records it holds."""

from __future__ import annotations

from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Placement,
    Position,
    PrintedPeak,
    Use,
    Value,
)

SMALL = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:
 value: <0 p @0> (size=64,offset=0): f32[16]{0}
 value: <3 while.1{0} (phi) @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 8, color 1, preallocated-temp:
 value: <2 t{} @1> (size=8,offset=0): (f32[16]{0:S(1)})

Total bytes used: 72 (72B)

Used values:
<0 p @0>
 positions:
  p
  t {0}
 uses:
  t, operand 0
  while.1, operand 0 {0}
 from instruction: %p = f32[16]{0} parameter(0)
<2 t{} @1>
 positions:
  t {}
 uses:
  (none)
 from instruction: %t = (f32[16]{0}) tuple(%p)
<3 while.1{0} (phi) @0>
 positions:
  while.1 {0}
 uses are not initialized yet.
 from instruction: %while.1 = (f32[16]{0}) while(%t), condition=%c, body=%b


HloLiveRange (max 3):
  InstructionSequence:
    0:p
    1:t
    2:while.1
  BufferLiveRange:
    p{}:0-2
    t{}:1-2
    while.1{0}:2-3
  Live ranges at 2 (peak):
    p{}: 64 bytes (cumulative: 64 bytes)
    while.1{0}: 64 bytes (cumulative: 128 bytes)
  Stack trace breakdown for peak usage: 128 bytes
    main (100.0%, total: 1 128 bytes, current: 0 bytes, remaining: 1 128 bytes)
      ├── jit(f)/a, b (50.0%, total: 64 bytes, current: 64 bytes, remaining: 64 bytes)
      └── p (50.0%, total: 64 bytes, current: 64 bytes, remaining: 0 bytes)
"""


SMALL_RECORDS = BufferAssignment(
    allocations=[
        Allocation(
            0, 64, 0, None, 0, "{}", "f32[16]", False, False, False, True, False
        ),
        Allocation(1, 8, 1, None, None, None, None, False, False, False, False, True),
    ],
    placements=[Placement(0, 0, 0, 64), Placement(0, 3, 0, 64), Placement(1, 2, 0, 8)],
    values=[
        Value(0, "p", None, 0, False, "f32[16]{0}"),
        Value(2, "t", "{}", 1, False, "(f32[16]{0:S(1)})"),
        Value(3, "while.1", "{0}", 0, True, "f32[16]{0}"),
    ],
    positions=[
        Position(0, "p", None),
        Position(0, "t", "{0}"),
        Position(2, "t", "{}"),
        Position(3, "while.1", "{0}"),
    ],
    uses=[Use(0, "t", 0, None), Use(0, "while.1", 0, "{0}")],
    sources={
        "p": "%p = f32[16]{0} parameter(0)",
        "t": "%t = (f32[16]{0}) tuple(%p)",
        "while.1": "%while.1 = (f32[16]{0}) while(%t), condition=%c, body=%b",
    },
    printed_total_bytes=72,
    schedule=["p", "t", "while.1"],
    schedule_end=3,
    live_ranges=[
        LiveRange("p", "{}", 0, 2),
        LiveRange("t", "{}", 1, 2),
        LiveRange("while.1", "{0}", 2, 3),
    ],
    peak_step=2,
    printed_peaks=[PrintedPeak("p", "{}", 64), PrintedPeak("while.1", "{0}", 64)],
)

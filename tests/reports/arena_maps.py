"""Two arenas small enough to be checked by eye: buffers, and the map of them."""

from __future__ import annotations

from dataclasses import replace

from hlodb.reports.read.drawn.arenas import Arena, MappedValue, PlacedValue
from tests.reports.worlds import STEPS, Buffer

MIB = 1 << 20

KEPT = Buffer("kept", 2 * MIB, "f32[512,1024]", "jit(f)/dot", offset=0)
EXP = Buffer("exp", MIB, "f32[9]", "jit(f)/exp", start=1, end=4, offset=2 * MIB)
COPY = Buffer("copy", MIB, "bf16[8]", opcode="copy", start=6, end=8, offset=2 * MIB)
ADD = Buffer("add", 2 * MIB, "f32[7]", "jit(f)/add", start=4, end=6, offset=2 * MIB)
MASK = Buffer("mask", MIB, "s32[5]", opcode="iota", start=4, end=9, offset=5 * MIB)

BASE = (KEPT, EXP, COPY)
CANDIDATE = (KEPT, replace(EXP, size=2 * MIB), ADD, MASK)
BASE_ARENA = Arena(
    arena_count=1,
    size_bytes=3 * MIB,
    live_bytes=3 * MIB,
    peak_step=1,
    last_step=STEPS,
    value_count=3,
    byte_steps=(2 * 11 + 4 + 3) * MIB,
)
# At step 4 `add` takes the bytes of `exp` over: they count once.
CANDIDATE_ARENA = Arena(
    arena_count=1,
    size_bytes=6 * MIB,
    live_bytes=5 * MIB,
    peak_step=4,
    last_step=STEPS,
    value_count=4,
    byte_steps=(2 * 11 + 2 * 4 + 2 * 3 + 6) * MIB,
)
IN_BASE = {
    "kept": PlacedValue("kept", 0, 2 * MIB, 0, 10),
    "exp": PlacedValue("exp", 2 * MIB, MIB, 1, 4),
    "copy": PlacedValue("copy", 2 * MIB, MIB, 6, 8),
}
IN_CANDIDATE = {
    "kept": PlacedValue("kept", 0, 2 * MIB, 0, 10),
    "exp": PlacedValue("exp", 2 * MIB, 2 * MIB, 1, 4),
    "add": PlacedValue("add", 2 * MIB, 2 * MIB, 4, 6),
    "mask": PlacedValue("mask", 5 * MIB, MIB, 4, 9),
}
# `copy` and `mask` are of equal size, and nothing else speaks for them being one.
VALUES = [
    MappedValue("new", None, IN_CANDIDATE["add"]),
    MappedValue("new", None, IN_CANDIDATE["mask"]),
    MappedValue("larger", IN_BASE["exp"], IN_CANDIDATE["exp"]),
    MappedValue("gone", IN_BASE["copy"], None),
    MappedValue("same", IN_BASE["kept"], IN_CANDIDATE["kept"]),
]

"""Buffer assignments made up by hypothesis, and printed as XLA does (4 spellings)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

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

NAMES = st.from_regex(r"[A-Za-z_0-9][A-Za-z0-9_.:\-]{0,12}", fullmatch=True)
INDICES = st.sampled_from(["{}", "{0}", "{1,0}", "{12}"])
SHAPES = st.sampled_from(
    ["f32[]", "f32[8,128]{1,0:T(8,128)S(1)}", "(s32[], bf16[2]{0})", "token[]"]
)
SOURCES = st.sampled_from(
    [
        "%a = f32[] add(f32[] %b, f32[] %c)",
        '%d = f32[2]{0} fusion(%p), calls=%f, metadata={op_name="jit(<lambda>)/x<3"}',
        "%s = f32[8]{0} copy(%p), sharding={devices=[2,2]<=[4]}",
    ]
)
SMALL = st.integers(0, 10**6)


@dataclass(frozen=True)
class Style:
    """What differs between releases."""

    pointer: str = ""
    after_from: str = " "
    after_source: str = "\n"
    no_use: str = ""
    has_cumulative: bool = True


STYLES = {
    "2022": Style(pointer="0x15c664b0, ", after_from="", has_cumulative=False),
    "2024": Style(after_source=""),
    "2026": Style(no_use="  (none)\n"),
}


def print_allocations(a: BufferAssignment, style: Style) -> str:
    values = {v.value_id: v for v in a.values}
    lines = ["BufferAssignment:"]
    for one in a.allocations:
        head = f"allocation {one.allocation_id}: {style.pointer}size {one.size_bytes}"
        lines.append(f"{head}{_flags(one)}:")
        lines += [
            f" value: {_head(values[p.value_id])}"
            f" (size={p.size_bytes},offset={p.offset_bytes}):"
            f" {values[p.value_id].shape}"
            for p in a.placements
            if p.allocation_id == one.allocation_id
        ]
    return "\n".join(lines) + "\n"


def _flags(a: Allocation) -> str:
    return "".join(
        [
            f", color {a.color}" if a.color else "",
            "" if a.page is None else f", page {a.page}",
            ""
            if a.parameter_number is None
            else f", parameter {a.parameter_number}, shape |{a.shape}|"
            f" at ShapeIndex {a.parameter_shape_index}",
            f", output shape is |{a.shape}|" if a.is_output_tuple else "",
            ", constant" if a.is_constant else "",
            ", thread-local" if a.is_thread_local else "",
            ", maybe-live-out" if a.is_live_out else "",
            ", preallocated-temp" if a.is_preallocated_temp else "",
        ]
    )


def _head(v: Value) -> str:
    phi = " (phi)" if v.is_phi else ""
    return f"<{v.value_id} {v.instruction}{v.shape_index or ''}{phi} @{v.color}>"


def print_values(a: BufferAssignment, style: Style) -> str:
    total = f"\nTotal bytes used: {a.printed_total_bytes} (1.0KiB)\n\nUsed values:\n"
    return total + "".join(_value_block(a, v, style) for v in a.values)


def _value_block(a: BufferAssignment, v: Value, style: Style) -> str:
    positions = [
        f"  {p.instruction}{_spaced(p.shape_index)}\n"
        for p in a.positions
        if p.value_id == v.value_id
    ]
    uses = [
        f"  {u.instruction}, operand {u.operand_index}{_spaced(u.shape_index)}\n"
        for u in a.uses
        if u.value_id == v.value_id
    ]
    source = a.sources[v.instruction]
    return (
        f"{_head(v)}\n positions:\n{''.join(positions)} uses:\n"
        f"{''.join(uses) or style.no_use}"
        f" from instruction:{style.after_from}{source}{style.after_source}"
    )


def _spaced(index: str | None) -> str:
    return "" if index is None else f" {index}"


def print_placed(a: BufferAssignment) -> str:
    """Print allocations as XLA did in autumn 2019, with all of each value therein.

    Instructions, totals, schedules and live ranges weren't printed.
    """
    style = Style(pointer="0x15c664b0, ")
    text = []
    values = {v.value_id: v for v in a.values}
    for head in print_allocations(replace(a, placements=[]), style).splitlines():
        text.append(head)
        for p in a.placements:
            if head.startswith(f"allocation {p.allocation_id}:"):
                v = values[p.value_id]
                phi = "PHI " if v.is_phi else ""
                name = f"{phi}{v.instruction}{v.shape_index or ''} @{v.color}"
                lines = _value_block(a, v, style).splitlines()[2:-1]
                text += [f"  {v.value_id} {name}, positions:", *lines]
                text.append(f" [{p.offset_bytes},{p.size_bytes}]: {v.shape}")
    return "\n".join(text) + "\n"


def print_ranges(a: BufferAssignment, style: Style) -> str:
    lines = [f"HloLiveRange (max {a.schedule_end}):", "  InstructionSequence:"]
    lines += [f"    {step}:{name}" for step, name in enumerate(a.schedule)]
    lines.append("  BufferLiveRange:")
    lines += [
        f"    {r.instruction}{r.shape_index}:{r.start_step}-{r.end_step}"
        for r in a.live_ranges
    ]
    lines.append(f"  Live ranges at {a.peak_step} (peak):")
    tail = " (cumulative: 12 bytes)" if style.has_cumulative else ""
    lines += [
        f"    {p.instruction}{p.shape_index}: {p.printed_bytes} bytes{tail}"
        for p in a.printed_peaks
    ]
    return "\n".join(lines) + "\n"


def print_whole(a: BufferAssignment, style: Style) -> str:
    values = print_values(a, style)
    return print_allocations(a, style) + values + "\n\n" + print_ranges(a, style)


@st.composite
def assignments(draw: st.DrawFn) -> BufferAssignment:
    """Any records that a sound file could hold, however odd the program."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    name = st.sampled_from(names)
    path = st.none() | INDICES
    ids = sorted(draw(st.sets(st.integers(0, 999), max_size=6)))
    values = [
        Value(i, draw(name), draw(path), draw(st.integers(0, 6)), draw(st.booleans()),
              draw(SHAPES))
        for i in ids
    ]  # fmt: skip
    allocations = [draw(_allocations(i)) for i in range(draw(st.integers(1, 4)))]
    homes = [draw(st.sampled_from(allocations)).allocation_id for _ in ids]
    places = sorted(zip(homes, ids, strict=True))
    schedule = draw(st.lists(name, max_size=8))
    keys = draw(st.lists(st.tuples(name, INDICES), unique=True, max_size=6))
    return BufferAssignment(
        allocations=allocations,
        placements=[Placement(a, v, draw(SMALL), draw(SMALL)) for a, v in places],
        values=values,
        positions=[
            Position(i, draw(name), draw(path))
            for i in ids
            for _ in range(draw(st.integers(1, 3)))
        ],
        uses=[
            Use(i, draw(name), draw(st.integers(0, 20)), draw(path))
            for i in ids
            for _ in range(draw(st.integers(0, 3)))
        ],
        sources={v.instruction: draw(SOURCES) for v in values},
        printed_total_bytes=draw(SMALL),
        schedule=schedule,
        schedule_end=len(schedule),
        live_ranges=[
            LiveRange(n, i, *sorted(draw(st.tuples(SMALL, SMALL)))) for n, i in keys
        ],
        peak_step=draw(SMALL),
        printed_peaks=[PrintedPeak(n, i, draw(SMALL)) for n, i in keys],
    )


@st.composite
def _allocations(draw: st.DrawFn, allocation_id: int) -> Allocation:
    parameter = draw(st.none() | st.integers(0, 30))
    is_output = parameter is None and draw(st.booleans())
    return Allocation(
        allocation_id,
        size_bytes=draw(SMALL),
        color=draw(st.integers(0, 6)),
        page=draw(st.none() | st.integers(0, 3)),
        parameter_number=parameter,
        parameter_shape_index=None if parameter is None else draw(INDICES),
        shape=draw(SHAPES) if is_output or parameter is not None else None,
        is_output_tuple=is_output,
        is_constant=draw(st.booleans()),
        is_thread_local=draw(st.booleans()),
        is_live_out=draw(st.booleans()),
        is_preallocated_temp=draw(st.booleans()),
    )

"""Memory facts of whole assignments: seeds, made-up ones and full-size dumps."""

from __future__ import annotations

import random
import tarfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.buffer_assignment.assignment import (
    join_assignments,
    parse_assignment,
)
from hlodb.ingest.memory.liveness import Conflict
from hlodb.ingest.memory.profile import (
    ColorProfile,
    MemoryFacts,
    TimelineSegment,
    allocation_kind,
    memory_facts,
)
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Placement,
    Value,
)
from tests.conftest import SHARED

SEEDS = Path(__file__).parents[2] / "data" / "seeds"
PLAIN = Allocation(0, 0, 0, None, None, None, None, False, False, False, False, False)
TEMP = PLAIN._replace(is_preallocated_temp=True)
KINDS = {
    "parameter": PLAIN._replace(parameter_number=0, parameter_shape_index="{}"),
    "constant": PLAIN._replace(is_constant=True),
    "thread_local": PLAIN._replace(is_thread_local=True),
    "live_out": PLAIN._replace(is_live_out=True),
    "temp": TEMP,
}


def facts_of(seed: str) -> MemoryFacts:
    text = (SEEDS / f"{seed}.txt").read_text()
    return memory_facts(parse_assignment(text).assignment, {})


def value(number: int, index: str | None = None) -> Value:
    return Value(number, f"v{number}", index, 0, False, "f32[]")


# --- What an allocation counts as ----------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_allocation_has_one_kind(kind: str) -> None:
    assert allocation_kind(KINDS[kind]) == kind


def test_a_donated_parameter_is_a_parameter() -> None:
    donated = KINDS["parameter"]._replace(is_live_out=True)
    assert allocation_kind(donated) == "parameter"


# --- Seeds ---------------------------------------------------------------------------


def test_seed_000_peaks_one_step_before_the_step_xla_prints() -> None:
    facts = facts_of("000_04aa0d3336074bf8")
    assert facts.profiles == [
        ColorProfile(
            color=0,
            reserved_bytes=30920,
            parameter_bytes=17412,
            constant_bytes=4,
            live_out_bytes=24,
            thread_local_bytes=24,
            temp_bytes=13456,
            temp_live_peak_bytes=13376,
            live_peak_bytes=30788,
            peak_step=17,
            fragmentation_bytes=80,
            fragmentation_ratio=80 / 13456,
            padding_bytes=0,
        )
    ]
    assert facts.conflicts == []
    assert facts.timeline[0].from_step == 0
    assert facts.timeline[-1].to_step == 32


def test_seed_003_is_fragmented_in_one_memory_space_only() -> None:
    profiles = facts_of("003_a3085531593bac68").profiles
    assert [(p.color, p.temp_bytes, p.fragmentation_bytes) for p in profiles] == [
        (0, 49184, 48640),
        (1, 90177536, 0),
        (2, 8, 0),
    ]
    assert sum(p.reserved_bytes for p in profiles) == 299944008


def test_seed_004_has_no_temps_to_be_fragmented() -> None:
    (profile,) = facts_of("004_65ac1592097277d9").profiles
    assert profile.temp_live_peak_bytes == profile.fragmentation_bytes == 0
    assert profile.fragmentation_ratio is None
    assert profile.live_peak_bytes == 33544


# --- Small ones, by hand -------------------------------------------------------------


def test_timeline_padding_and_conflicts_of_a_small_assignment() -> None:
    assignment = BufferAssignment(
        allocations=[
            TEMP._replace(allocation_id=0, size_bytes=40),
            KINDS["parameter"]._replace(allocation_id=1, size_bytes=100),
            KINDS["thread_local"]._replace(allocation_id=2, size_bytes=7),
            KINDS["constant"]._replace(allocation_id=3, size_bytes=1000),
        ],
        placements=[
            Placement(0, 0, 0, 16),
            Placement(0, 1, 8, 16),
            Placement(1, 2, 0, 100),
            Placement(2, 3, 0, 7),
            Placement(3, 4, 0, 1000),
        ],
        values=[value(0), value(1, "{}"), value(2, "{0}"), value(3), value(4)],
        schedule=["v0", "v1", "x"],
        schedule_end=3,
        live_ranges=[
            LiveRange("v0", "{}", 0, 1),
            LiveRange("v1", "{}", 1, 1),
            LiveRange("v2", "{0}", 1, 2),
        ],
    )
    assert memory_facts(assignment, {0: 10, 1: 12, 2: 99, 4: 990}) == MemoryFacts(
        [
            ColorProfile(
                color=0,
                reserved_bytes=1147,
                parameter_bytes=100,
                constant_bytes=1000,
                live_out_bytes=0,
                thread_local_bytes=7,
                temp_bytes=40,
                temp_live_peak_bytes=24,
                live_peak_bytes=1124,
                peak_step=1,
                fragmentation_bytes=16,
                fragmentation_ratio=0.4,
                # Value 1 pads 4 bytes, the parameter 1, the constant 10; the padding
                # of value 0 lies under value 1.
                padding_bytes=15,
            )
        ],
        [
            TimelineSegment(0, 0, 0, 1016, 16),
            TimelineSegment(0, 1, 1, 1124, 24),
            TimelineSegment(0, 2, 2, 1100, 0),
            TimelineSegment(0, 3, 3, 1000, 0),
        ],
        [],
    )


def test_without_live_ranges_sizes_are_known_and_live_figures_are_not() -> None:
    assignment = BufferAssignment(
        allocations=[
            TEMP._replace(size_bytes=8),
            TEMP._replace(allocation_id=1, color=1),
        ],
        placements=[Placement(0, 0, 0, 8)],
        values=[value(0)],
    )
    assert memory_facts(assignment, {}) == MemoryFacts(
        [ColorProfile(0, 8, 0, 0, 0, 0, 8), ColorProfile(1, 0, 0, 0, 0, 0, 0)], [], []
    )


def test_an_empty_assignment_has_no_facts() -> None:
    assert memory_facts(BufferAssignment(), {}) == MemoryFacts([], [], [])


def test_values_that_contradict_each_other_are_listed() -> None:
    assignment = BufferAssignment(
        allocations=[KINDS["live_out"]._replace(allocation_id=4, size_bytes=8)],
        placements=[Placement(4, 0, 0, 8), Placement(4, 1, 4, 4)],
        values=[value(0), value(1)],
        live_ranges=[LiveRange("v0", "{}", 0, 5), LiveRange("v1", "{}", 2, 3)],
    )
    assert memory_facts(assignment, {}).conflicts == [Conflict(4, 0, 1, 4, 2, 3)]


# --- Made-up ones, step by step ------------------------------------------------------


@st.composite
def small_assignments(draw: st.DrawFn) -> BufferAssignment:
    """Return a few allocations of any kind and space, sound or not, some rangeless."""
    allocations = [
        draw(st.sampled_from(list(KINDS.values())))._replace(
            allocation_id=number,
            size_bytes=draw(st.integers(0, 40)),
            color=draw(st.integers(0, 2)),
        )
        for number in range(draw(st.integers(1, 6)))
    ]
    count = draw(st.integers(0, 14))
    home, step = st.integers(0, len(allocations) - 1), st.integers(0, 9)
    ranges = [
        LiveRange(f"v{n}", "{}", *sorted((draw(step), draw(step))))
        for n in range(count)
        if draw(st.integers(0, 5))
    ]  # fmt: skip
    return BufferAssignment(
        allocations=allocations,
        placements=[
            Placement(draw(home), n, draw(st.integers(0, 8)), draw(st.integers(0, 8)))
            for n in range(count)
        ],
        values=[value(n, draw(st.sampled_from([None, "{}"]))) for n in range(count)],
        schedule_end=draw(st.none() | st.integers(0, 12)),
        live_ranges=ranges,
    )


def live_at(assignment: BufferAssignment, allocation: Allocation, step: int) -> int:
    """Return the live bytes of one allocation, as the definitions say it."""
    ranges = {r.instruction: r for r in assignment.live_ranges}
    placed = [
        (p, ranges.get(f"v{p.value_id}"))
        for p in assignment.placements
        if p.allocation_id == allocation.allocation_id
    ]
    now = [p for p, r in placed if r and r.start_step <= step <= r.end_step]
    kind = allocation_kind(allocation)
    if kind == "temp":
        return len({p.offset_bytes + i for p in now for i in range(p.size_bytes)})
    if kind == "thread_local":
        return 0
    has_ranges = any(r for _, r in placed)
    return allocation.size_bytes if now or not has_ranges else 0


@settings(max_examples=300)
@given(small_assignments())
def test_facts_equal_what_every_step_holds(assignment: BufferAssignment) -> None:
    facts = memory_facts(assignment, {})
    ends = [r.end_step for r in assignment.live_ranges]
    steps = range(max([*ends, assignment.schedule_end or 0]) + 1 if ends else 0)
    for profile in facts.profiles:
        own = [a for a in assignment.allocations if a.color == profile.color]
        temps = [a for a in own if allocation_kind(a) == "temp"]
        total = [sum(live_at(assignment, a, step) for a in own) for step in steps]
        temp = [sum(live_at(assignment, a, step) for a in temps) for step in steps]
        segments = [s for s in facts.timeline if s.color == profile.color]
        spread = [s for s in segments for _ in range(s.from_step, s.to_step + 1)]
        assert [s.live_bytes for s in spread] == total
        assert [s.temp_live_bytes for s in spread] == temp
        assert all(
            a[3:] != b[3:] and a.to_step + 1 == b.from_step
            for a, b in pairwise(segments)
        )
        assert profile.reserved_bytes == sum(a.size_bytes for a in own)
        assert sum(profile[2:7]) == profile.reserved_bytes
        if total:
            assert profile.live_peak_bytes == max(total)
            assert profile.peak_step == total.index(max(total))
            assert profile.temp_live_peak_bytes == max(temp)
            assert profile.fragmentation_bytes == profile.temp_bytes - max(temp)


@settings(max_examples=50)
@given(small_assignments(), st.randoms())
def test_the_order_of_records_changes_nothing(
    assignment: BufferAssignment, random: random.Random
) -> None:
    facts = memory_facts(assignment, {})
    shuffled = replace(
        assignment,
        allocations=random.sample(assignment.allocations, len(assignment.allocations)),
        placements=random.sample(assignment.placements, len(assignment.placements)),
    )
    again = memory_facts(shuffled, {})
    assert (again.profiles, again.timeline) == (facts.profiles, facts.timeline)


# --- Full-size dumps -----------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    "archive", sorted(SHARED.glob("[ct]pu/*")), ids=lambda p: p.name
)
def test_real_dumps_are_free_of_contradictions(archive: Path) -> None:
    modules: dict[str, list[BufferAssignment]] = {}
    with tarfile.open(archive) as members:
        for member in members:
            if "buffer-assignment" in member.name or "live-range" in member.name:
                file = members.extractfile(member)
                assert file is not None
                part = parse_assignment(file.read().decode()).assignment
                name = member.name.rpartition("optimizations-")[0]
                modules.setdefault(name, []).append(part)
    for name, parts in modules.items():
        whole = join_assignments(parts)
        facts = memory_facts(whole, {})
        reserved = sum(p.reserved_bytes for p in facts.profiles)
        assert facts.conflicts == [], name
        assert reserved == whole.printed_total_bytes, name
        for profile in facts.profiles:
            assert profile.live_peak_bytes is not None
            assert profile.fragmentation_bytes is not None
            assert 0 <= profile.fragmentation_bytes <= profile.temp_bytes, name
            assert 0 <= profile.live_peak_bytes <= profile.reserved_bytes, name

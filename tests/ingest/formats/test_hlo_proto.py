"""HloProto: equal to the text of the same module, in every field that both carry."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_pb2 import (
    BufferAllocationProto,
    HloProto,
    ShapeProto,
)
from hlodb.ingest.formats.hlo_proto import ParsedProto, parse_hlo_proto
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    HloModule,
    Instruction,
    LiveRange,
    Placement,
    Position,
    Reject,
    Use,
    Value,
)
from tests.conftest import SHARED
from tests.ingest.formats.proto_pairs import DATA, SETS, Pair, pairs

ALL = {pair.name: pair for name in SETS for pair in pairs(DATA / f"{name}.tar.xz")}
CG = ALL["module_0008.jit_cg.cpu_after_optimizations"]
MISC = ALL["module_0031.jit_misc.cpu_after_optimizations"]

# Part of a module's configuration, which no message holds.
TEXT_ONLY_HEADER = (
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
)


def as_in_text(module: HloModule, text: HloModule) -> HloModule:
    """Leave out of a message's module what the text of its release does not print."""
    if text.frames:
        return module
    return replace(
        module, frames=(), instructions=[_without_frame(i) for i in module.instructions]
    )


def _without_frame(instruction: Instruction) -> Instruction:
    if instruction.location is None:
        return instruction
    location = instruction.location._replace(stack_frame_id=None)
    is_empty = all(part is None for part in location)
    return instruction._replace(location=None if is_empty else location)


def as_in_proto(module: HloModule) -> HloModule:
    """Leave out of a text's module what no message holds."""
    header = {k: v for k, v in module.header.items() if k not in TEXT_ONLY_HEADER}
    return replace(module, header=header)


def in_one_order(assignment: BufferAssignment) -> BufferAssignment:
    """Leave out what only the text holds: its own totals, and an order of readers.

    The order in which XLA lists the readers of a value, and the places it stands at
    beyond the defining one, is that in which passes added them.
    """
    positions: list[Position] = []
    for _, group in groupby(assignment.positions, key=lambda p: p.value_id):
        first, *others = group
        positions += [first, *sorted(others, key=str)]
    return replace(
        assignment,
        positions=positions,
        uses=sorted(assignment.uses, key=str),
        sources={},
        printed_total_bytes=None,
        peak_step=None,
        printed_peaks=[],
    )


def check_pair(pair: Pair) -> None:
    parsed = parse_hlo_proto(pair.message)
    text = pair.module()
    assert parsed.rejects == []
    assert parsed.module is not None
    assert as_in_text(parsed.module, text) == as_in_proto(text)
    assignment = pair.assignment()
    if assignment is None or parsed.assignment is None:
        assert assignment is parsed.assignment
    else:
        assert in_one_order(parsed.assignment) == in_one_order(assignment)


@pytest.mark.parametrize("name", ALL)
def test_a_message_says_what_the_text_says(name: str) -> None:
    check_pair(ALL[name])


@pytest.mark.shared
@pytest.mark.parametrize("name", SETS)
def test_every_message_of_the_full_dumps_says_what_its_text_says(name: str) -> None:
    checked = 0
    for pair in pairs(SHARED / "proto" / f"{name}.tar.xz"):
        check_pair(pair)
        checked += 1
    assert checked == {"cpu": 22, "tpu": 35}[name[:3]]


def test_a_bare_module_reads_like_one_in_its_envelope() -> None:
    whole = parse_hlo_proto(CG.message)
    message = HloProto.FromString(CG.message).hlo_module.SerializeToString()
    bare = parse_hlo_proto(message)
    assert bare.rejects == []
    assert bare.module == whole.module
    assert bare.assignment is None


def test_an_assignment_without_its_module_keeps_its_allocations() -> None:
    message = HloProto.FromString(CG.message)
    message.ClearField("hlo_module")
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.assignment is not None
    text = CG.assignment()
    assert text is not None
    assert [a.size_bytes for a in parsed.assignment.allocations] == [
        a.size_bytes for a in text.allocations
    ]
    assert [r.code for r in parsed.rejects] == ["unknown_place", "unsound"]


def test_names_that_are_no_utf_8_are_kept_readable() -> None:
    message = HloProto.FromString(CG.message)
    message.hlo_module.name = b"jit_caf\xe9"
    module = parse_hlo_proto(message.SerializeToString()).module
    assert module is not None
    assert module.name == "jit_caf\ufffd"


# --- Older and newer messages ------------------------------------------------


def test_until_2023_values_are_defined_at_names() -> None:
    message = HloProto.FromString(CG.message)
    names = {
        i.id: i.name
        for computation in message.hlo_module.computations
        for i in computation.instructions
    }
    places = [b.defined_at for b in message.buffer_assignment.logical_buffers]
    places += [a.location for a in message.buffer_assignment.buffer_aliases]
    for place in places:
        place.instruction_name = names[place.instruction_id]
        place.ClearField("instruction_id")
    old = parse_hlo_proto(message.SerializeToString())
    assert old.rejects == []
    assert old.assignment == parse_hlo_proto(CG.message).assignment


def test_numbers_of_32_and_64_bits_mean_the_same() -> None:
    message = HloProto.FromString(MISC.message)
    assert max(_numbers(message)) >= 1 << 32
    small = {number: at for at, number in enumerate(sorted(set(_numbers(message))), 1)}
    for computation in message.hlo_module.computations:
        computation.root_id = small[computation.root_id]
        for i in computation.instructions:
            i.id = small[i.id]
            i.operand_ids[:] = [small[o] for o in i.operand_ids]
            before = [small[c] for c in i.control_predecessor_ids]
            i.control_predecessor_ids[:] = before
    for sequence in message.hlo_module.schedule.sequences.values():
        sequence.instruction_ids[:] = [small[i] for i in sequence.instruction_ids]
    for buffer in message.buffer_assignment.logical_buffers:
        buffer.defined_at.instruction_id = small[buffer.defined_at.instruction_id]
    for alias in message.buffer_assignment.buffer_aliases:
        alias.location.instruction_id = small[alias.location.instruction_id]
    renumbered = parse_hlo_proto(message.SerializeToString())
    original = parse_hlo_proto(MISC.message)
    assert renumbered.module == original.module
    assert renumbered.assignment == original.assignment


def _numbers(message: HloProto) -> Iterator[int]:
    for computation in message.hlo_module.computations:
        yield from (i.id for i in computation.instructions)


def test_payloads_that_instructions_share_are_looked_up() -> None:
    message = HloProto.FromString(MISC.message)
    payloads: list[bytes] = []
    for computation in message.hlo_module.computations:
        for i in computation.instructions:
            if i.backend_config:
                payload = bytes([0x10]) + bytes([len(payloads)])
                payloads.append(i.backend_config)
                i.backend_config_payload = payload
                i.ClearField("backend_config")
    message.hlo_module.payloads[:] = payloads
    assert 10 < len(payloads) < 128
    shared = parse_hlo_proto(message.SerializeToString())
    assert shared.module == parse_hlo_proto(MISC.message).module


def test_without_a_schedule_ranges_follow_the_heap_trace() -> None:
    message = HloProto.FromString(CG.message)
    message.hlo_module.ClearField("schedule")
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert "is_scheduled" not in parsed.module.header
    assert parsed.assignment is not None
    assert parsed.assignment.schedule == []
    assert _heap_peak(parsed) == _replayed_peak(message)


def _heap_peak(parsed: ParsedProto) -> int:
    """Give the most bytes that ranges hold at once, buffers that share counted once."""
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
    """Give the peak as XLA's heap statistics replay it: shared buffers counted once."""
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


# --- What only the message knows ---------------------------------------------


@pytest.mark.parametrize("name", [n for n, p in ALL.items() if p.assignment_texts])
def test_live_ranges_agree_with_the_order_of_heap_events(name: str) -> None:
    parsed = parse_hlo_proto(ALL[name].message)
    assert parsed.assignment is not None
    assert parsed.facts.heap is not None
    number = {
        (v.instruction, v.shape_index or "{}"): v.value_id
        for v in parsed.assignment.values
    }
    ranges = {
        number[r.instruction, r.shape_index]: r
        for r in parsed.assignment.live_ranges
        if (r.instruction, r.shape_index) in number
    }
    for trace in parsed.facts.heap.traces:
        if not trace.is_whole_module:
            continue
        steps = [
            ranges[e.value_id].end_step
            if e.kind == "free"
            else ranges[e.value_id].start_step
            for e in parsed.facts.heap.events
            if e.trace_id == trace.trace_id
        ]
        assert steps == sorted(steps)


def test_heap_events_flags_and_peaks_are_kept() -> None:
    facts = parse_hlo_proto(CG.message).facts
    assert facts.heap is not None
    assert facts.heap.traces == [(0, 30, True)]
    kinds = [event.kind for event in facts.heap.events]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "alloc": 8,
        "share_with": 1,
        "free": 9,
    }
    flags = {f.allocation_id for f in facts.heap.flags if f.is_tuple}
    text = CG.assignment()
    assert text is not None
    assert flags == {a.allocation_id for a in text.allocations if a.is_output_tuple}
    assert {p.allocation_id for p in facts.heap.peak_buffers} <= {
        a.allocation_id for a in text.allocations
    }


def test_constants_that_the_text_elides_are_told_apart() -> None:
    parsed = parse_hlo_proto(MISC.message)
    assert parsed.module is not None
    elided = parsed.facts.elided_literals
    instructions = parsed.module.instructions
    assert {instructions[e.instruction_id].literal for e in elided} == {"{...}"}
    assert len(elided) == sum(i.literal == "{...}" for i in instructions)


# --- Broken bytes ------------------------------------------------------------


@pytest.mark.parametrize("size", range(0, len(CG.message), 997))
def test_a_truncated_message_gives_what_is_whole(size: int) -> None:
    whole = parse_hlo_proto(CG.message)
    parsed = parse_hlo_proto(CG.message[:size])
    assert [r.code for r in parsed.rejects][:1] == [
        "broken_message" if size else "no_module"
    ]
    if parsed.module is not None and whole.module is not None:
        names = {i.name for i in whole.module.instructions}
        assert {i.name for i in parsed.module.instructions} <= names


def test_a_cut_in_the_assignment_costs_nothing_of_the_module() -> None:
    whole = parse_hlo_proto(CG.message)
    parsed = parse_hlo_proto(CG.message[:-100])
    assert parsed.module == whole.module
    assert parsed.assignment is not None
    assert whole.assignment is not None
    assert parsed.assignment.live_ranges == whole.assignment.live_ranges


def test_no_bytes_and_other_bytes_are_rejected() -> None:
    nothing = "0 bytes hold neither a module nor a buffer assignment"
    assert parse_hlo_proto(b"").rejects == [
        Reject(0, 1, "proto", "no_module", nothing, "")
    ]
    assert parse_hlo_proto(b"HloModule m\n").module is None
    assert [r.code for r in parse_hlo_proto(b"HloModule m\n").rejects] == [
        "broken_message"
    ]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=20),
    st.integers(0, len(CG.message)),
)
def test_altered_bytes_end_in_records_or_rejects(
    changes: list[tuple[int, int]], size: int
) -> None:
    data = bytearray(CG.message)
    for place, byte in changes:
        data[place % len(data)] = byte
    for message in (bytes(data), bytes(data[:size])):
        check_sound(parse_hlo_proto(message))


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_end_in_records_or_rejects(data: bytes) -> None:
    check_sound(parse_hlo_proto(data))


def check_sound(parsed: ParsedProto) -> None:
    """Every number that is stored must fit its column."""
    if parsed.assignment is None:
        return
    values = {v.value_id for v in parsed.assignment.values}
    for p in parsed.assignment.placements:
        assert p.value_id in values
        assert 0 <= p.size_bytes < 1 << 63
        assert 0 <= p.offset_bytes < 1 << 63
    for r in parsed.assignment.live_ranges:
        assert 0 <= r.start_step <= r.end_step


# --- Messages that no compiler writes ----------------------------------------


def small(opcodes: list[str], **fields: Any) -> HloProto:
    """Give a module of one computation, each instruction reading the one before."""
    message = HloProto()
    message.hlo_module.name = b"m"
    computation = message.hlo_module.computations.add(name=b"main", id=1)
    for number, opcode in enumerate(opcodes, 1):
        i = computation.instructions.add(
            name=b"i%d" % number, opcode=opcode.encode(), id=number, **fields
        )
        if number > 1:
            i.operand_ids.append(number - 1)
    computation.root_id = len(opcodes)
    message.hlo_module.schedule.sequences[1].instruction_ids[:] = range(
        1, len(opcodes) + 1
    )
    return message


def test_a_value_of_a_few_instructions_by_hand() -> None:
    message = small(["parameter", "bitcast", "add"])
    shape = ShapeProto(element_type=11, dimensions=[4]).SerializeToString()
    for i in message.hlo_module.computations[0].instructions:
        i.shape = shape
    assignment = message.buffer_assignment
    assignment.logical_buffers.add(id=7, size=16).defined_at.instruction_id = 1
    assignment.logical_buffers.add(id=8, size=16).defined_at.instruction_id = 3
    allocation = BufferAllocationProto(
        index=0, size=16, is_entry_computation_parameter=True
    )
    allocation.assigned.add(logical_buffer_id=7, size=16)
    assignment.buffer_allocations.append(allocation)
    output = assignment.buffer_allocations.add(index=1, size=16, maybe_live_out=True)
    output.assigned.add(logical_buffer_id=8, size=16)
    parsed = parse_hlo_proto(message.SerializeToString()).assignment
    one, two = "f32[4]", "f32[4]"
    assert parsed == BufferAssignment(
        allocations=[
            Allocation(0, 16, 0, None, 0, "{}", one, False, False, False, False, False),
            Allocation(
                1, 16, 0, None, None, None, two, True, False, False, True, False
            ),
        ],
        placements=[Placement(0, 7, 0, 16), Placement(1, 8, 0, 16)],
        values=[
            Value(7, "i1", None, 0, False, "f32[4]"),
            Value(8, "i3", None, 0, False, "f32[4]"),
        ],
        positions=[
            Position(7, "i1", None),
            Position(7, "i2", None),
            Position(8, "i3", None),
        ],
        uses=[Use(7, "i2", 0, None), Use(7, "i3", 0, None)],
        schedule=["i1", "i2", "i3"],
        schedule_end=3,
        live_ranges=[LiveRange("i1", "{}", 0, 3), LiveRange("i3", "{}", 2, 3)],
    )


def test_an_operand_from_nowhere_is_named_by_its_number() -> None:
    message = small(["add"])
    message.hlo_module.computations[0].instructions[0].operand_ids.append(99)
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert parsed.module.instructions[0].operands == ("unknown.99",)
    assert parsed.rejects == [
        Reject(
            0, 0, "instructions", "unknown_reference",
            "1 references to nothing: 99", "main",
        )
    ]  # fmt: skip


def test_what_a_schedule_leaves_out_comes_last() -> None:
    message = small(["parameter", "abs", "tanh"])
    message.hlo_module.schedule.sequences[1].instruction_ids[:] = [2, 3]
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert [i.name for i in parsed.module.instructions] == ["i2", "i3", "i1"]
    assert [r.code for r in parsed.rejects] == ["incomplete"]


def test_computations_that_call_each_other_are_read_once() -> None:
    message = small(["call"])
    other = message.hlo_module.computations.add(name=b"other", id=2, root_id=1)
    other.instructions.add(name=b"o1", opcode=b"call", id=1)
    other.instructions[0].called_computation_ids.append(1)
    main = message.hlo_module.computations[0]
    main.instructions[0].called_computation_ids.append(2)
    message.hlo_module.schedule.sequences[2].instruction_ids.append(1)
    message.hlo_module.entry_computation_id = 1
    place = message.buffer_assignment.logical_buffers.add(id=1, size=4).defined_at
    place.instruction_id = 1
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert [c.name for c in parsed.module.computations] == ["other", "main"]


def test_a_long_chain_of_elements_of_no_tuple_takes_no_time() -> None:
    message = small(["parameter", *["get-tuple-element"] * 3000])
    message.buffer_assignment.logical_buffers.add(id=1, size=4)
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert len(parsed.module.instructions) == 3001


def test_computations_nested_thousands_deep_do_not_overflow() -> None:
    message = HloProto()
    for number in range(1, 3001):
        computation = message.hlo_module.computations.add(id=number, root_id=1)
        computation.name = b"c%d" % number
        for at in (1, 2):
            call = computation.instructions.add(id=at, opcode=b"call", name=b"i%d" % at)
            if number > 1:
                call.called_computation_ids.append(number - 1)
        message.hlo_module.schedule.sequences[number].instruction_ids[:] = [1, 2]
    message.hlo_module.entry_computation_id = 3000
    message.buffer_assignment.logical_buffers.add(id=1, size=4)
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert parsed.module.computations[-1].is_entry


def test_a_huge_empty_constant_is_elided() -> None:
    message = small(["constant"])
    literal = (
        b"\x0a\x10"
        + ShapeProto(
            element_type=11, dimensions=[1 << 40, 1 << 40, 0]
        ).SerializeToString()
    )
    instruction = message.hlo_module.computations[0].instructions[0]
    instruction.literal = bytes([0x0A, len(literal) - 2]) + literal[2:]
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.module is not None
    assert parsed.module.instructions[0].literal == "{...}"


def test_the_archives_hold_every_kind_of_stage() -> None:
    assert len(ALL) == 34
    assert sum(bool(pair.assignment_texts) for pair in ALL.values()) == 14
    assert Path(DATA / "README.md").is_file()

"""Messages that no compiler writes."""

from typing import Any

from hlodb.ingest.formats.proto.hlo_pb2 import (
    BufferAllocationProto,
    HloProto,
    ShapeProto,
)
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Placement,
    Position,
    Reject,
    Use,
    Value,
)


def small(opcodes: list[str], **fields: Any) -> HloProto:
    """Return a module of one computation, each instruction reading the one before."""
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


def test_tuples_of_a_message_may_nest_100_deep() -> None:
    def shape_of(depth: int) -> str | None:
        message = small(["parameter"])
        shape = ShapeProto(element_type=11)  # F32
        for _ in range(depth):
            shape = ShapeProto(element_type=13, tuple_shapes=[shape])
        [computation] = message.hlo_module.computations
        computation.instructions[0].shape = shape.SerializeToString()
        module = parse_hlo_proto(message.SerializeToString()).module
        assert module is not None
        return module.instructions[0].shape

    assert shape_of(100) == "(" * 100 + "f32[]" + ")" * 100
    assert shape_of(101) == "invalid[]"


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

"""Messages as text, in every form that holds HLO."""

import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.proto.hlo_pb2 import (
    BufferAllocationProto,
    BufferAssignmentProto,
    HloInstructionProto,
    HloModuleProto,
    HloProto,
    LiteralProto,
    OpSharding,
    ShapeProto,
)
from hlodb.ingest.formats.proto.text_hlo import TextHlo, hlo_of_text
from hlodb.ingest.formats.proto.text_message import Message, text_to_message
from hlodb.ingest.formats.text_proto import parse_text_proto

MODULE = 'hlo_module { name: "f" entry_computation_name: "e" computations { id: 2 } }'
ASSIGNMENT = "buffer_assignment { buffer_allocations { index: 1 size: 64 } }"
LISTED = "buffer_allocations { values { index: 1 size: 64 } }"
HLO = HloProto(
    hlo_module=HloModuleProto(
        name=b"f", entry_computation_name=b"e", computations=[{"id": 2}]
    ),
    buffer_assignment=BufferAssignmentProto(
        buffer_allocations=[BufferAllocationProto(index=1, size=64)]
    ),
)


@pytest.mark.parametrize(
    "text",
    [
        f"{MODULE} {ASSIGNMENT}",
        f"{MODULE} {LISTED}",
        f"hlo {{ {MODULE} {ASSIGNMENT} }} arguments {{ f32s: 1 }}",
        f"cpu_executable {{ hlo_module {{ {MODULE} config {{ }} }} {ASSIGNMENT} }}",
        f"hlo_module {{ {MODULE} config {{ }} }} {ASSIGNMENT} obj_files: '\\177ELF'",
        f"gpu_executable {{ hlo_module_with_config {{ {MODULE} }} {LISTED} }}",
        f"# comment\nhlo_module_with_config: < {MODULE} >\n{ASSIGNMENT} binary: ''",
    ],
)
def test_every_form_holds_the_same_hlo(text: str) -> None:
    found = hlo_of_text(text)
    assert HloProto.FromString(found.hlo) == HLO
    assert found[1:] == ([], None)


def test_a_bare_module() -> None:
    found = hlo_of_text('name: "f" entry_computation_name: "e" computations { id: 2 }')
    assert HloProto.FromString(found.hlo) == HloProto(hlo_module=HLO.hlo_module)


@pytest.mark.parametrize("text", ["", "a: 1", "hlo_module: 3", "cpu_executable { }"])
def test_texts_without_hlo(text: str) -> None:
    assert hlo_of_text(text) == TextHlo(b"", [], None)


def test_what_is_left_out_is_counted() -> None:
    found = hlo_of_text(
        "hlo_module { name: 'f' computations { id: 2 new: 1 } new: 2 "
        "schedule: FOO is_dynamic: perhaps 9999: 3 other { a: 1 } }"
    )
    assert HloProto.FromString(found.hlo).hlo_module == HloModuleProto(
        name=b"f", computations=[{"id": 2}]
    )
    assert found.left_out == (
        "6 values are of fields that are not read: new, schedule: FOO, "
        "is_dynamic: perhaps, 9999, other"
    )


def test_broken_text_gives_rejects_and_what_is_whole() -> None:
    found = hlo_of_text(f"{MODULE} }} {ASSIGNMENT}")
    assert HloProto.FromString(found.hlo) == HLO
    assert [reject.message for reject in found.rejects] == [
        "a closing bracket that nothing opened"
    ]


NAN_AND_INF = float("nan"), float("-inf")


def message(text: str, name: str) -> Message:
    return text_to_message(parse_text_proto(text, keep_escapes=True).fields, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "element_type: BF16 dimensions: [8, 128] is_dynamic_dimension: true"
            " layout { minor_to_major: 1 minor_to_major: 0 memory_space: 5 }",
            ShapeProto(
                element_type=16, dimensions=[8, 128], is_dynamic_dimension=[True],
                layout={"minor_to_major": [1, 0], "memory_space": 5},
            ),
        ),
        (
            "tuple_shapes { element_type: OPAQUE_TYPE } element_type: TUPLE"
            " tuple_shapes { element_type: PRIMITIVE_TYPE_INVALID }",
            ShapeProto(
                element_type=13, tuple_shapes=[{"element_type": 14}, ShapeProto()]
            ),
        ),
        (
            'shape { element_type: S4 } backend_config: "\\xff\\001" "b" id: -3'
            " sharding { type: MANUAL last_tile_dims: REPLICATED }"
            " literal { } precision_config { operand_precision: HIGHEST }",
            HloInstructionProto(
                shape=b"\x10\x15", backend_config=b"\xff\x01b", id=-3,
                sharding=b"\x08\x04\x40\x00", literal=b"",
                precision_config=b"\x08\x02",
            ),
        ),
        (
            'f32s: 1.5 f32s: nan f32s: -inf f32s: 2f f64s: 1e-05 s8s: "\\200"'
            " f32s: 0x3fc00000 u64s: 18446744073709551615",
            LiteralProto(
                f32s=[
                    *struct.unpack("<4I", struct.pack("<4f", 1.5, *NAN_AND_INF, 2)),
                    0x3FC00000,
                ],
                f64s=struct.unpack("<Q", struct.pack("<d", 1e-05)),
                s8s=b"\x80", u64s=[(1 << 64) - 1],
            ),
        ),
        (
            "1: 3 3: 4 14 { 2 { 1 { 1: 'x' 2: 2 } } }",
            OpSharding(
                type=3, tile_assignment_dimensions=[4],
                named_sharding={"mesh": {"axes": [{"name": b"x", "size": 2}]}},
            ),
        ),
    ],
)  # fmt: skip
def test_fields_of_every_type(text: str, expected: object) -> None:
    kind = type(expected)
    found = message(text, kind.__name__)
    assert kind.FromString(found.data) == expected  # type: ignore[attr-defined]
    assert found.left_out == Counter()


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("dimensions: 99999999999999999999", "dimensions: 99999999999999999999"),
        ("dimensions: x", "dimensions: x"),
        ("element_type: F7", "element_type: F7"),
        ("layout: 3", "layout: 3"),
        ("dimensions { }", "dimensions {"),
    ],
)
def test_values_that_are_none_of_their_field(text: str, left_out: str) -> None:
    assert message(text, "ShapeProto") == Message(b"", Counter([left_out]))


@given(st.text(alphabet="{}<>[]:;,\"\\'#ax0 \nhlo_module", max_size=200))
def test_any_text_ends(text: str) -> None:
    hlo_of_text(f"hlo_module {{ {text}")

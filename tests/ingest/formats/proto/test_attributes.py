"""Attributes, literals, shardings and layouts: as jaxlib prints them."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.proto.attributes import opcode_attributes
from hlodb.ingest.formats.proto.hlo_pb2 import (
    HloInstructionProto,
    HloModuleProto,
    LiteralProto,
    OpMetadata,
    OpSharding,
    ShapeProto,
)
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.formats.proto.literals import FLOATS, float_text, literal_text
from hlodb.ingest.formats.proto.metadata import escaped, read_metadata
from hlodb.ingest.formats.proto.shapes import shape_text
from hlodb.ingest.formats.proto.sharding import sharding_text
from hlodb.ingest.formats.scan import unescape
from hlodb.ingest.records import HloModule, Location
from tests.ingest.formats.proto.proto_pairs import DATA, members

OPCODES = members(DATA / "opcodes-jaxlib-0.10.2.tar.xz")
MODULE = parse_hlo_proto(OPCODES["opcodes.hlo.pb"])


def printed() -> HloModule:
    (module,) = parse_hlo(OPCODES["opcodes.txt"].decode()).modules
    return module


def test_every_attribute_that_jaxlib_knows_is_printed_as_it_does() -> None:
    assert MODULE.rejects == []
    assert MODULE.module == printed()


def test_the_module_of_opcodes_holds_most_of_them() -> None:
    module = printed()
    assert len({i.opcode for i in module.instructions}) == 77
    assert len(module.instructions) == 424


# --- What jaxlib 0.10.2 does not print or accept -----------------------------


def attributes(opcode: str, **fields: Any) -> list[str]:
    instruction = HloInstructionProto(**fields)
    return list(opcode_attributes(instruction, opcode, b""))


def test_an_async_start_names_a_thread_of_its_own() -> None:
    assert attributes("async-start", async_execution_thread=b"sparse") == [
        'async_execution_thread="sparse"'
    ]
    assert attributes("async-start", async_execution_thread=b"main") == []


def test_old_prefetches_had_a_flag() -> None:
    assert attributes("copy-start", is_cross_program_prefetch=True) == [
        "cross_program_prefetch_index=0"
    ]
    assert attributes("copy-start", cross_program_prefetch_index=3) == [
        "cross_program_prefetch_index=3"
    ]


def test_an_opcode_unknown_so_far_has_no_attributes_of_its_own() -> None:
    assert attributes("hadamard", dimensions=[1]) == []


def test_a_number_without_a_name_is_printed() -> None:
    assert attributes("rng", distribution=9) == ["distribution=9"]
    assert shape_text(ShapeProto(element_type=99).SerializeToString()) == "type99[]"


def test_bytes_that_make_no_message_are_printed_as_unknown() -> None:
    assert shape_text(b"\xff") == "invalid[]"
    assert literal_text(b"\xff") is None
    assert sharding_text(b"\xff") is None


# --- Metadata ----------------------------------------------------------------


def test_metadata_gives_names_place_and_the_rest() -> None:
    data = OpMetadata(
        op_type=b"add",
        op_name=b"jit(f)/caf\xc3\xa9",
        source_file=b"train.py",
        source_line=7,
        stack_frame_id=3,
        scheduling_name=b"add.1",
    ).SerializeToString()
    found = read_metadata(data)
    assert (found.op_type, found.op_name) == ("add", "jit(f)/café")
    assert found.location == Location("train.py", 7, None, None, None, 3)
    assert found.rest([]) == 'metadata={scheduling_name="add.1"}'


def test_metadata_of_a_line_alone_is_not_printed() -> None:
    found = read_metadata(OpMetadata(source_line=7).SerializeToString())
    assert (found.location, found.rest([])) == (None, None)


def test_an_empty_sharding_is_replicated() -> None:
    assert sharding_text(OpSharding().SerializeToString()) == "{replicated}"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_reads_back(text: str) -> None:
    assert unescape(escaped(text.encode())) == text


# --- Literals ----------------------------------------------------------------


@given(st.integers(0, (1 << 32) - 1))
def test_an_f32_reads_back_to_its_bits(bits: int) -> None:
    text = float_text(bits, FLOATS["f32"])
    if "nan" not in text:
        assert struct.pack("<f", float(text)) == struct.pack("<I", bits)


@given(st.integers(0, (1 << 64) - 1))
def test_an_f64_reads_back_to_its_bits(bits: int) -> None:
    text = float_text(bits, FLOATS["f64"])
    if "nan" not in text:
        assert struct.pack("<d", float(text)) == struct.pack("<Q", bits)


@given(st.integers(0, (1 << 16) - 1))
def test_an_f16_reads_back_to_its_bits(bits: int) -> None:
    text = float_text(bits, FLOATS["f16"])
    if "nan" not in text:
        assert struct.pack("<e", float(text)) == struct.pack("<H", bits)


@pytest.mark.parametrize("name", [n for n, k in FLOATS.items() if k.bytes == 1])
def test_every_small_number_has_a_text_of_its_own(name: str) -> None:
    kind = FLOATS[name]
    width = kind.exponent_bits + kind.mantissa_bits + kind.has_sign
    texts = [float_text(bits, kind) for bits in range(1 << width)]
    numbers = [text for text in texts if "nan" not in text]
    assert len(set(numbers)) == len(numbers)


def test_a_literal_of_a_column_major_layout_is_printed_by_its_indices() -> None:
    shape = ShapeProto(element_type=4, dimensions=[2, 3])
    shape.layout.minor_to_major[:] = [0, 1]
    literal = LiteralProto(shape=shape, s32s=[1, 4, 2, 5, 3, 6])
    assert literal_text(literal.SerializeToString()) == "{ { 1, 2, 3 }, { 4, 5, 6 } }"


def test_a_literal_with_too_few_elements_is_elided() -> None:
    shape = ShapeProto(element_type=4, dimensions=[3])
    literal = LiteralProto(shape=shape, s32s=[1])
    assert literal_text(literal.SerializeToString()) == "{...}"


def test_the_message_of_opcodes_is_a_bare_module() -> None:
    module = HloModuleProto.FromString(OPCODES["opcodes.hlo.pb"])
    assert module.name == b"opcodes"
    assert MODULE.assignment is None

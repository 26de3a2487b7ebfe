"""Messages of XLA as protobuf text → the same messages as bytes, to be read as such.

Field names and types are those of hlo.proto. protobuf's own reader of text cannot be
used: our messages keep shapes, metadata and the like as bytes, and what is unknown to
them has to be counted.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.text_encoding import CUnescape

from hlodb.ingest.formats.proto import hlo_pb2
from hlodb.ingest.formats.proto.shapes import ELEMENT_TYPES
from hlodb.ingest.formats.proto.wire import (
    FIXED32,
    FIXED64,
    VARINT,
    encoded,
    encoded_number,
)
from hlodb.ingest.formats.scan import whole_number
from hlodb.ingest.formats.text_proto import Field

_PRIMITIVES = {
    **{name.upper(): number for number, name in enumerate(ELEMENT_TYPES)},
    "PRIMITIVE_TYPE_INVALID": 0,
    "OPAQUE_TYPE": ELEMENT_TYPES.index("opaque"),
}


def _in_order(names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split())}


_SHARDINGS = _in_order("REPLICATED MAXIMAL TUPLE OTHER MANUAL UNKNOWN UNREDUCED")
_ENUMERATIONS: dict[str, dict[str, int]] = {
    "ShapeProto.element_type": _PRIMITIVES,
    "LayoutProto.index_primitive_type": _PRIMITIVES,
    "LayoutProto.pointer_primitive_type": _PRIMITIVES,
    "LayoutProto.dim_level_types": _in_order(
        "DIM_DENSE DIM_COMPRESSED DIM_SINGLETON DIM_LOOSE_COMPRESSED"
    ),
    "OpMetadata.profile_type": _in_order("INVALID WINDOW FLAG INTEGER PERFORMANCE"),
    "OpSharding.type": _SHARDINGS,
    "OpSharding.last_tile_dims": _SHARDINGS,
    "OpSharding.shard_group_type": _in_order("AS LIKE"),
    "AliasEntryProto.kind": _in_order("UNDEFINED_ALIAS MAY_ALIAS MUST_ALIAS"),
    "Event.kind": _in_order("ALLOC FREE SHARE_WITH"),
    "HloInstructionProto.distribution": _in_order("RNG_INVALID RNG_UNIFORM RNG_NORMAL"),
    "HloInstructionProto.fft_type": _in_order("FFT IFFT RFFT IRFFT"),
    "HloInstructionProto.rng_algorithm": _in_order(
        "RNG_DEFAULT RNG_THREE_FRY RNG_PHILOX"
    ),
    "HloInstructionProto.padding_type": _in_order(
        "PADDING_INVALID PADDING_VALID PADDING_SAME"
    ),
    "HloInstructionProto.custom_call_schedule": _in_order(
        "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST"
    ),
    "HloInstructionProto.custom_call_api_version": _in_order(
        "API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING "
        "API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI"
    ),
    "PrecisionConfig.operand_precision": _in_order("DEFAULT HIGH HIGHEST"),
    "PrecisionConfig.algorithm": _in_order(
        "ALG_UNSET ALG_DOT_ANY_F8_ANY_F8_F32 ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM "
        "ALG_DOT_F16_F16_F16 ALG_DOT_F16_F16_F32 ALG_DOT_BF16_BF16_BF16 "
        "ALG_DOT_BF16_BF16_F32 ALG_DOT_BF16_BF16_F32_X3 ALG_DOT_BF16_BF16_F32_X6 "
        "ALG_DOT_TF32_TF32_F32 ALG_DOT_TF32_TF32_F32_X3 ALG_DOT_F32_F32_F32 "
        "ALG_DOT_F64_F64_F64 ALG_DOT_BF16_BF16_F32_X9"
    ),
    "SparsityDescriptor.type": _in_order("SPARSITY_INVALID SPARSITY_STRUCTURED_N_M"),
    "TriangularSolveOptions.transpose_a": _in_order(
        "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"
    ),
    "ResultAccuracy.mode": _in_order("DEFAULT HIGHEST"),
}
# The messages in fields that hlo.proto keeps as bytes.
_KEPT_AS_BYTES: dict[str, str] = {
    "ProgramShapeProto.parameters": "ShapeProto",
    "ProgramShapeProto.result": "ShapeProto",
    "HloModuleProto.frontend_attributes": "FrontendAttributes",
    "RaggedDotDimensionNumbers.dot_dimension_numbers": "DotDimensionNumbers",
    "OpSharding.metadata": "OpMetadata",
    "NamedShardingProto.metadata": "OpMetadata",
    "CollectiveDeviceListProto.iota_replica_group_list": "IotaReplicaGroupListProto",
    **{
        f"HloInstructionProto.{field}": message
        for field, message in (
            ("shape", "ShapeProto"),
            ("metadata", "OpMetadata"),
            ("literal", "LiteralProto"),
            ("window", "Window"),
            ("convolution_dimension_numbers", "ConvolutionDimensionNumbers"),
            ("padding_config", "PaddingConfig"),
            ("outfeed_shape", "ShapeProto"),
            ("dot_dimension_numbers", "DotDimensionNumbers"),
            ("gather_dimension_numbers", "GatherDimensionNumbers"),
            ("sharding", "OpSharding"),
            ("scatter_dimension_numbers", "ScatterDimensionNumbers"),
            ("precision_config", "PrecisionConfig"),
            ("domain_entry_sharding", "OpSharding"),
            ("domain_exit_sharding", "OpSharding"),
            ("operand_shapes_with_layout", "ShapeProto"),
            ("frontend_attributes", "FrontendAttributes"),
            ("statistics_viz", "StatisticsViz"),
            ("collective_device_list", "CollectiveDeviceListProto"),
            ("original_value", "OriginalValueProto"),
            ("ragged_dot_dimension_numbers", "RaggedDotDimensionNumbers"),
            ("result_accuracy", "ResultAccuracy"),
            ("iota_collective_device_list", "IotaReplicaGroupListProto"),
            ("mesh_axes_replica_group_list", "MeshAxesReplicaGroupListProto"),
            ("backend_config_payload", "Payload"),
        )
    },
}
_TRUTHS = {"true": 1, "t": 1, "1": 1, "false": 0, "f": 0, "0": 0}
_MOST = 1 << 64
_MOST_DIGITS = 20
_SHOWN = 40


class Message(NamedTuple):
    """A message as bytes, and how often each name was met that it has no field for.

    A value that is none of its field's counts too, as `field: value`.
    """

    data: bytes
    left_out: Counter[str]


def text_to_message(fields: Iterable[Field], message: str) -> Message:
    """Return fields, whose strings are still escaped, as a message of hlo.proto.

    A field may be called by its number: so protobuf writes those it does not know.
    """
    left_out: Counter[str] = Counter()
    descriptor = hlo_pb2.DESCRIPTOR.message_types_by_name[message]
    return Message(_encoded(fields, descriptor, left_out), left_out)


def _encoded(
    fields: Iterable[Field], descriptor: Descriptor, left_out: Counter[str]
) -> bytes:
    # At most as deep as the reader of the text lets messages nest.
    parts: list[bytes] = []
    for name, value, _ in fields:
        field = descriptor.fields_by_name.get(name) or _numbered(descriptor, name)
        if field is None:
            left_out[name] += 1
            continue
        inner = _inner(descriptor, field)
        if not isinstance(value, str):
            if inner is None:
                left_out[f"{name} {{"] += 1
            else:
                parts.append(encoded(field.number, _encoded(value, inner, left_out)))
            continue
        scalar = None if field.message_type else _scalar(descriptor, field, value)
        if scalar is None:
            left_out[f"{name}: {value[:_SHOWN]}"] += 1
        else:
            parts.append(scalar)
    return b"".join(parts)


def _numbered(descriptor: Descriptor, name: str) -> FieldDescriptor | None:
    number = whole_number(name)
    return None if number is None else descriptor.fields_by_number.get(number)


def _inner(descriptor: Descriptor, field: FieldDescriptor) -> Descriptor | None:
    if field.message_type is not None:
        return field.message_type
    name = _KEPT_AS_BYTES.get(f"{descriptor.name}.{field.name}")
    return hlo_pb2.DESCRIPTOR.message_types_by_name[name] if name else None


def _scalar(descriptor: Descriptor, field: FieldDescriptor, text: str) -> bytes | None:
    """Return a field with its value; None where the text is no such value."""
    wire_type = VARINT
    number: int | None
    try:
        if field.type in (FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_STRING):
            return encoded(field.number, _bytes(text))
        if field.type in (FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_FLOAT):
            wire_type, number = FIXED32, _bits(text, "<f")
        elif field.type in (FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_DOUBLE):
            wire_type, number = FIXED64, _bits(text, "<d")
        elif field.type == FieldDescriptor.TYPE_BOOL:
            number = _TRUTHS.get(text.lower())
        else:
            number = _integer(f"{descriptor.name}.{field.name}", text)
    except (ValueError, OverflowError):
        return None
    if number is None or not -_MOST // 2 <= number < _MOST:
        return None
    return encoded_number(field.number, wire_type, number % _MOST)


def _bits(text: str, code: str) -> int:
    """Return the bits of a float; a hexadecimal number is them."""
    if text.lower().startswith("0x"):
        bits = int(text, 16)
        if bits >= 1 << 8 * struct.calcsize(code):
            raise ValueError
        return bits
    is_word = text.lower().lstrip("-").startswith(("inf", "nan"))
    value = float(text if is_word else text.rstrip("fF"))
    return int.from_bytes(struct.pack(code, value), "little")


def _integer(field: str, text: str) -> int | None:
    names = _ENUMERATIONS.get(field, {})
    if text in names:
        return names[text]
    if len(text) > _MOST_DIGITS or not text.isascii():
        return None
    return int(text, 16) if "x" in text.lower() else int(text)


def _bytes(text: str) -> bytes:
    try:
        return CUnescape(text)
    except ValueError:
        return text.encode("utf-8", "surrogateescape")

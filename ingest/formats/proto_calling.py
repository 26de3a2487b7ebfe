"""Attributes of opcodes that call, communicate or transfer."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.hlo_pb2 import (
    HloInstructionProto,
    LiteralProto,
    OutputOperandAliasing,
    ShapeProto,
)
from hlodb.ingest.formats.proto_computing import convolved
from hlodb.ingest.formats.proto_dimensions import (
    name_of,
    number_list,
    precision_attributes,
)
from hlodb.ingest.formats.proto_literals import print_literal
from hlodb.ingest.formats.proto_metadata import escaped
from hlodb.ingest.formats.proto_rearranging import dimensions, window
from hlodb.ingest.formats.proto_shapes import print_shape, read_shape, shape_text
from hlodb.ingest.formats.proto_sharding import sharding_text
from hlodb.ingest.formats.scan import remembered

_PADDING_TYPES = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
_SCHEDULES = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
_API_VERSIONS = (
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
_EVERY_ELEMENT = 1 << 20
_MAIN_THREAD = b"main"


def _fusion(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from _aliasing(i.output_operand_aliasing)


def _aliasing(pairs: Iterable[OutputOperandAliasing]) -> Iterable[str]:
    text = ", ".join(
        f"{number_list(p.output_shape_index)}: "
        f"({p.operand_index}, {number_list(p.operand_shape_index)})"
        for p in pairs
    )
    if text:
        yield f"output_to_operand_aliasing={{{text}}}"


def _call(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.is_composite:
        yield "is_composite=true"


def _custom_call(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from window(i)
    yield from convolved(i)
    yield from precision_attributes(i.precision_config)
    if i.padding_type:
        yield f"padding_type={name_of(i.padding_type, _PADDING_TYPES)}"
    if i.constrain_layout:
        shapes = ", ".join(map(shape_text, i.operand_shapes_with_layout))
        yield f"operand_layout_constraints={{{shapes}}}"
    if i.custom_call_has_side_effect:
        yield "custom_call_has_side_effect=true"
    if i.HasField("literal"):
        yield f"literal={_whole_literal(i.literal)}"
    yield from _aliasing(i.output_operand_aliasing)
    if i.custom_call_schedule:
        yield f"schedule={name_of(i.custom_call_schedule, _SCHEDULES)}"
    if i.custom_call_api_version > 1:
        yield f"api_version={name_of(i.custom_call_api_version, _API_VERSIONS)}"


@remembered
def _whole_literal(data: bytes) -> str:
    try:
        literal = LiteralProto.FromString(data)
    except DecodeError:
        return "{...}"
    return f"{print_shape(literal.shape)} {print_literal(literal, _EVERY_ELEMENT)}"


def _all_reduce(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.constrain_layout:
        yield "constrain_layout=true"
    if i.use_global_device_ids:
        yield "use_global_device_ids=true"


def _reduce_scatter(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    yield from _all_reduce(i, shape)
    yield from dimensions(i, shape)


def _all_gather(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    if i.constrain_layout:
        yield "constrain_layout=true"
    yield from dimensions(i, shape)
    if i.use_global_device_ids:
        yield "use_global_device_ids=true"


def _all_to_all(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    if i.constrain_layout:
        yield "constrain_layout=true"
    if i.dimensions:
        yield from dimensions(i, shape)


def _collective_permute(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    pairs = ",".join(f"{{{p.source},{p.target}}}" for p in i.source_target_pairs)
    yield f"source_target_pairs={{{pairs}}}"
    if sizes := list(i.dynamic_slice_sizes):
        rank = _rank(read_shape(shape)) or len(sizes)
        groups = (sizes[at : at + rank] for at in range(0, len(sizes), rank))
        yield f"slice_sizes={{{','.join(map(number_list, groups))}}}"


def _rank(shape: ShapeProto | None) -> int:
    while shape is not None and shape.tuple_shapes:
        shape = shape.tuple_shapes[0]
    return len(shape.dimensions) if shape is not None else 0


def _channel(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.is_host_transfer:
        yield "is_host_transfer=true"


def _infeed(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.infeed_config:
        yield f'infeed_config="{escaped(i.infeed_config)}"'


def _outfeed(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.HasField("outfeed_shape"):
        yield f"outfeed_shape={shape_text(i.outfeed_shape)}"
    if i.outfeed_config:
        yield f'outfeed_config="{escaped(i.outfeed_config)}"'


def _copy_start(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.HasField("cross_program_prefetch_index"):
        yield f"cross_program_prefetch_index={i.cross_program_prefetch_index}"
    elif i.is_cross_program_prefetch:
        yield "cross_program_prefetch_index=0"


def _async_start(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from _aliasing(i.output_operand_aliasing)
    if i.async_execution_thread not in (b"", _MAIN_THREAD):
        yield f'async_execution_thread="{escaped(i.async_execution_thread)}"'


def _domain(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    # The message calls entry what the text calls exit.
    entry = leave = None
    if i.HasField("domain_exit_sharding"):
        entry = sharding_text(i.domain_exit_sharding)
    if i.HasField("domain_entry_sharding"):
        leave = sharding_text(i.domain_entry_sharding)
    yield f'domain={{kind="sharding", entry={entry or "{}"}, exit={leave or "{}"}}}'


def _parameter(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if replicated := i.parameter_replication.replicated_at_leaf_buffers:
        flags = ",".join("true" if flag else "false" for flag in replicated)
        yield f"parameter_replication={{{flags}}}"


PRINTERS = {
    "all-gather": _all_gather,
    "all-gather-start": _all_gather,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "all-to-all": _all_to_all,
    "async-start": _async_start,
    "call": _call,
    "collective-broadcast": _all_to_all,
    "collective-permute": _collective_permute,
    "collective-permute-start": _collective_permute,
    "copy-start": _copy_start,
    "custom-call": _custom_call,
    "domain": _domain,
    "fusion": _fusion,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "parameter": _parameter,
    "ragged-all-to-all": _all_to_all,
    "recv": _channel,
    "recv-done": _channel,
    "reduce-scatter": _reduce_scatter,
    "send": _channel,
    "send-done": _channel,
}

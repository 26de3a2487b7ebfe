"""What an HloInstructionProto says beyond shape and operands → attributes as printed.

Each opcode prints its own fields, in its own order, and leaves out what has its
default (XLA `hlo_instructions.cc`). The attributes that have a column of their own are
not among these: channel_id, replica_groups, fusion kind, custom_call_target, sharding,
backend_config, called computations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.dimensions import (
    dim_labels,
    dot_dimensions,
    gather_dimensions,
    name_of,
    number_list,
    padding_text,
    precision_attributes,
    ragged_dimensions,
    scatter_dimensions,
    window_text,
)
from hlodb.ingest.formats.proto.hlo_pb2 import (
    BlockScalingConfig,
    HloInstructionProto,
    LiteralProto,
    OutputOperandAliasing,
    ShapeProto,
    SparsityConfig,
)
from hlodb.ingest.formats.proto.literals import print_literal
from hlodb.ingest.formats.proto.metadata import escaped
from hlodb.ingest.formats.proto.shapes import (
    element_type_name,
    print_shape,
    read_shape,
    shape_text,
)
from hlodb.ingest.formats.proto.sharding import sharding_text
from hlodb.ingest.formats.scan import remembered


def dimensions(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    """Yield `dimensions={0,1}`."""
    yield f"dimensions={number_list(i.dimensions)}"


def _iota(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"iota_dimension={i.dimensions[0] if i.dimensions else 0}"


def _reshape(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.dimensions:
        yield f"inferred_dimension={i.dimensions[0]}"


def _get_tuple_element(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"index={i.tuple_index}"


def _slice(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    has_strides = any(d.stride != 1 for d in i.slice_dimensions)
    bounds = ", ".join(
        f"[{d.start}:{d.limit}:{d.stride}]" if has_strides else f"[{d.start}:{d.limit}]"
        for d in i.slice_dimensions
    )
    yield f"slice={{{bounds}}}"


def _dynamic_slice(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"dynamic_slice_sizes={number_list(i.dynamic_slice_sizes)}"


def _pad(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"padding={padding_text(i.padding_config)}"


def _gather(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from gather_dimensions(i.gather_dimension_numbers)
    yield f"slice_sizes={number_list(i.gather_slice_sizes)}"
    yield from _indices(i)


def _scatter(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from scatter_dimensions(i.scatter_dimension_numbers)
    yield from _indices(i)


def _indices(i: HloInstructionProto) -> Iterable[str]:
    if i.indices_are_sorted:
        yield "indices_are_sorted=true"
    if i.unique_indices:
        yield "unique_indices=true"


def window(i: HloInstructionProto, _: bytes = b"") -> Iterable[str]:
    """Yield `window={size=3x3}`, nothing where the window has no dimensions."""
    if text := window_text(i.window):
        yield f"window={text}"


def _scan(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"dimensions={number_list(i.dimensions)}"
    yield f"num_carries={i.num_carries}"
    if i.is_reverse:
        yield "is_reverse=true"
    if i.is_associative:
        yield f"is_associative={'true' if i.is_associative == 1 else 'false'}"


_REARRANGING = {
    "broadcast": dimensions,
    "concatenate": dimensions,
    "dynamic-slice": _dynamic_slice,
    "gather": _gather,
    "get-dimension-size": dimensions,
    "get-tuple-element": _get_tuple_element,
    "iota": _iota,
    "map": dimensions,
    "pad": _pad,
    "reduce": dimensions,
    "reduce-window": window,
    "reshape": _reshape,
    "reverse": dimensions,
    "scan": _scan,
    "scatter": _scatter,
    "select-and-scatter": window,
    "set-dimension-size": dimensions,
    "slice": _slice,
    "transpose": dimensions,
}


_FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
_DISTRIBUTIONS = ("rng_invalid", "rng_uniform", "rng_normal")
_RNG_ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_CONV_KINDS = ("unset", "fprop", "dgrad", "wgrad")


def _shuffle(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"dimensions={number_list(i.dimensions)}"
    if i.shuffle_mode.HasField("rotate"):
        yield "mode=rotate"
        yield f"shifts={number_list(i.shuffle_mode.rotate.shifts)}"
    else:
        yield "mode=invalid"


def _dot(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from dot_dimensions(i.dot_dimension_numbers)
    yield from precision_attributes(i.precision_config)
    if i.dot_sparsity:
        parts = (
            f"{'R' if s.index else 'L'}.{s.dimension}@{s.n}:{s.m}"
            for s in i.dot_sparsity
        )
        yield f"sparsity={'_'.join(parts)}"
    yield from _of_sides("sparsity_config", i.sparsity_config, _sparsity)
    yield from _of_sides("block_scaling_config", i.block_scaling_config, _block_scaling)


def _of_sides(
    name: str,
    config: SparsityConfig | BlockScalingConfig,
    text_of_side: Callable[[Any], str],
) -> Iterable[str]:
    """Yield `name={lhs={…} rhs={…}}` with the sides of a dot that have one."""
    sides = [
        f"{side}={{{text_of_side(getattr(config, side))}}}"
        for side in ("lhs", "rhs")
        if config.HasField(side)
    ]
    if sides:
        yield f"{name}={{{' '.join(sides)}}}"


def _sparsity(side: SparsityConfig.TensorSparsityConfig) -> str:
    return (
        f"sparsity={side.num_non_zero}x{side.block_size} dimension={side.dimension} "
        f"stride={side.stride} idx={side.idx}"
    )


def _block_scaling(side: BlockScalingConfig.TensorBlockScalingConfig) -> str:
    parts = [f"scale_idx={side.scale_idx}"]
    if side.HasField("zero_idx"):
        parts.append(f"zero_idx={side.zero_idx}")
    for name, sizes in (("strides", side.strides), ("steps", side.steps)):
        if sizes:
            parts.append(f"{name}={'x'.join(map(str, sizes))}")
    return " ".join(parts)


def _ragged_dot(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from ragged_dimensions(i.ragged_dot_dimension_numbers)
    yield from precision_attributes(i.precision_config)


def _convolution(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from window(i)
    yield from convolved(i)
    yield from precision_attributes(i.precision_config)
    if i.conv_kind:
        yield f"convolution_kind={name_of(i.conv_kind, _CONV_KINDS)}"


def convolved(i: HloInstructionProto) -> Iterable[str]:
    """Yield the common attributes of convolutions and convolving custom calls."""
    if i.HasField("convolution_dimension_numbers"):
        labels = dim_labels(i.convolution_dimension_numbers)
        if labels:
            yield f"dim_labels={labels}"
    # One group is the default, and so is zero: old messages leave it out.
    if i.feature_group_count > 1:
        yield f"feature_group_count={i.feature_group_count}"
    if i.batch_group_count > 1:
        yield f"batch_group_count={i.batch_group_count}"


def _compare(i: HloInstructionProto, first_shape: bytes) -> Iterable[str]:
    yield f"direction={i.comparison_direction.decode('ascii', 'replace')}"
    kind = i.comparison_type.decode("ascii", "replace")
    default = _default_comparison(first_shape)
    if i.comparison_order:  # Since jaxlib 0.11.2, in place of the type.
        order = i.comparison_order.decode("ascii", "replace")
        if order != ("PARTIAL" if default == "FLOAT" else "TOTAL"):
            yield f"order={order}"
    elif kind and kind != default:
        yield f"type={kind}"


def _default_comparison(data: bytes) -> str:
    shape = read_shape(data)
    name = element_type_name(shape.element_type) if shape is not None else ""
    if name == "pred" or name[:1] == "u":
        return "UNSIGNED"
    return "SIGNED" if name[:1] == "s" else "FLOAT"


def _fft(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"fft_type={name_of(i.fft_type, _FFT_TYPES)}"
    yield f"fft_length={number_list(i.fft_length)}"


def _triangular_solve(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    options = i.triangular_solve_options
    for name in ("left_side", "lower", "unit_diagonal"):
        if getattr(options, name):
            yield f"{name}=true"
    if options.transpose_a:
        yield f"transpose_a={name_of(options.transpose_a, _TRANSPOSES)}"


def _cholesky(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    if i.cholesky_options.lower:
        yield "lower=true"


def _batch_norm(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"epsilon={i.epsilon:.6g}"
    yield f"feature_index={i.feature_index}"


def _reduce_precision(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"exponent_bits={i.exponent_bits}"
    yield f"mantissa_bits={i.mantissa_bits}"


def _rng(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"distribution={name_of(i.distribution, _DISTRIBUTIONS)}"


def _rng_bits(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"algorithm={name_of(i.rng_algorithm, _RNG_ALGORITHMS)}"


def _rng_state(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"delta={i.delta}"


def _sort(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"dimensions={number_list(i.dimensions)}"
    if i.is_stable:
        yield "is_stable=true"


def _top_k(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"k={i.k}"
    yield f"largest={'true' if i.largest else 'false'}"
    if i.is_stable:
        yield "is_stable=true"


_COMPUTING = {
    "batch-norm-grad": _batch_norm,
    "batch-norm-inference": _batch_norm,
    "batch-norm-training": _batch_norm,
    "cholesky": _cholesky,
    "compare": _compare,
    "convolution": _convolution,
    "dot": _dot,
    "fft": _fft,
    "ragged-dot": _ragged_dot,
    "reduce-precision": _reduce_precision,
    "rng": _rng,
    "rng-bit-generator": _rng_bits,
    "rng-get-and-update-state": _rng_state,
    "scaled-dot": _dot,
    "shuffle": _shuffle,
    "sort": _sort,
    "topk": _top_k,
    "triangular-solve": _triangular_solve,
}


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


def _collective_broadcast(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    yield from _all_to_all(i, shape)
    # Releases since jaxlib 0.12 also print that it is false, which is no news.
    if i.has_dynamic_root:
        yield "has_dynamic_root=true"


def _collective_reduce(i: HloInstructionProto, shape: bytes) -> Iterable[str]:
    yield from _all_reduce(i, shape)
    yield f"has_dynamic_root={'true' if i.has_dynamic_root else 'false'}"


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


_CALLING = {
    "all-gather": _all_gather,
    "all-gather-start": _all_gather,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "all-to-all": _all_to_all,
    "async-start": _async_start,
    "call": _call,
    "collective-broadcast": _collective_broadcast,
    "collective-permute": _collective_permute,
    "collective-permute-start": _collective_permute,
    "collective-reduce": _collective_reduce,
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


Printer = Callable[[HloInstructionProto, bytes], Iterable[str]]
"""From an instruction and the shape of its first operand to its attributes."""

_PRINTERS: dict[str, Printer] = {
    **_REARRANGING,
    **_COMPUTING,
    **_CALLING,
}


def opcode_attributes(
    instruction: HloInstructionProto, opcode: str, first_shape: bytes
) -> Iterable[str]:
    """Return the attributes that only this opcode prints, in order.

    `first_shape` is the shape of the first operand; it may be empty but for opcodes
    whose attributes depend on it (compare, collective-permute).
    """
    printer = _PRINTERS.get(opcode)
    return printer(instruction, first_shape) if printer else ()

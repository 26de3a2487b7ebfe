"""Windows and dimension numbers → text, as XLA prints them among the attributes.

Equal messages are read once: the functions are cached on their bytes, and give None
where the bytes make no message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.hlo_pb2 import (
    ConvolutionDimensionNumbers,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    PaddingConfig,
    PrecisionConfig,
    RaggedDotDimensionNumbers,
    ScatterDimensionNumbers,
    Window,
)

_PRECISIONS = ("default", "high", "highest")
_ALGORITHMS = (
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
)
_GATHER_LISTS = ("offset_dims", "collapsed_slice_dims", "start_index_map")
_GATHER_BATCHING = ("operand_batching_dims", "start_indices_batching_dims")
_SCATTER_LISTS = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
)
_SCATTER_BATCHING = ("input_batching_dims", "scatter_indices_batching_dims")
_MOST_DIMENSIONS = 1024


def number_list(numbers: Iterable[int]) -> str:
    """Return `{1,0}`."""
    return f"{{{','.join(map(str, numbers))}}}"


@lru_cache(maxsize=1 << 12)
def window_text(data: bytes) -> str | None:
    """Return `{size=3x3 stride=2x2 pad=1_1x1_1}`; None without dimensions."""
    try:
        dimensions = Window.FromString(data).dimensions
    except DecodeError:
        return None
    parts = [f"size={_crossed(d.size for d in dimensions)}"]
    if any(d.stride != 1 for d in dimensions):
        parts.append(f"stride={_crossed(d.stride for d in dimensions)}")
    if any(d.padding_low or d.padding_high for d in dimensions):
        pads = (f"{d.padding_low}_{d.padding_high}" for d in dimensions)
        parts.append(f"pad={_crossed(pads)}")
    if any(d.base_dilation != 1 for d in dimensions):
        parts.append(f"lhs_dilate={_crossed(d.base_dilation for d in dimensions)}")
    if any(d.window_dilation != 1 for d in dimensions):
        parts.append(f"rhs_dilate={_crossed(d.window_dilation for d in dimensions)}")
    if any(d.window_reversal for d in dimensions):
        reversal = (int(d.window_reversal) for d in dimensions)
        parts.append(f"rhs_reversal={_crossed(reversal)}")
    return f"{{{' '.join(parts)}}}" if dimensions else None


def _crossed(parts: Iterable[object]) -> str:
    return "x".join(map(str, parts))


@lru_cache(maxsize=1 << 12)
def dim_labels(data: bytes) -> str | None:
    """Return `b01f_01io->b01f`."""
    try:
        d = ConvolutionDimensionNumbers.FromString(data)
    except DecodeError:
        return None
    lhs = _labels(
        "b", d.input_batch_dimension, "f", d.input_feature_dimension,
        d.input_spatial_dimensions,
    )  # fmt: skip
    rhs = _labels(
        "i", d.kernel_input_feature_dimension, "o", d.kernel_output_feature_dimension,
        d.kernel_spatial_dimensions,
    )  # fmt: skip
    output = _labels(
        "b", d.output_batch_dimension, "f", d.output_feature_dimension,
        d.output_spatial_dimensions,
    )  # fmt: skip
    return f"{lhs}_{rhs}->{output}"


def _labels(
    one: str, one_at: int, two: str, two_at: int, spatial: Sequence[int]
) -> str:
    last = max(one_at, two_at, *spatial)
    labels = ["?"] * (min(last, _MOST_DIMENSIONS) + 1)
    numbered = [(place, str(number)) for number, place in enumerate(spatial)]
    for place, label in [(one_at, one), (two_at, two), *numbered]:
        if 0 <= place < len(labels):
            labels[place] = label
    return "".join(labels)


@lru_cache(maxsize=1 << 12)
def dot_dimensions(data: bytes) -> tuple[str, ...]:
    """Return `lhs_batch_dims={0}`, `lhs_contracting_dims={2}` and so on."""
    try:
        d = DotDimensionNumbers.FromString(data)
    except DecodeError:
        return ()
    parts = [
        ("lhs_batch_dims", d.lhs_batch_dimensions),
        ("lhs_contracting_dims", d.lhs_contracting_dimensions),
        ("rhs_batch_dims", d.rhs_batch_dimensions),
        ("rhs_contracting_dims", d.rhs_contracting_dimensions),
    ]
    return tuple(
        f"{name}={number_list(numbers)}"
        for name, numbers in parts
        if numbers or "contracting" in name
    )


@lru_cache(maxsize=1 << 12)
def ragged_dimensions(data: bytes) -> tuple[str, ...]:
    """Return dot dimensions, then `lhs_ragged_dims={0}` and `rhs_group_dims={0}`."""
    try:
        d = RaggedDotDimensionNumbers.FromString(data)
    except DecodeError:
        return ()
    return (
        *dot_dimensions(d.dot_dimension_numbers),
        f"lhs_ragged_dims={number_list(d.lhs_ragged_dimensions)}",
        f"rhs_group_dims={number_list(d.rhs_group_dimensions)}",
    )


@lru_cache(maxsize=1 << 12)
def gather_dimensions(data: bytes) -> tuple[str, ...]:
    """Return `offset_dims={1}`, `collapsed_slice_dims={0}` and so on."""
    try:
        message = GatherDimensionNumbers.FromString(data)
    except DecodeError:
        return ()
    return _indexing(message, _GATHER_LISTS, _GATHER_BATCHING)


@lru_cache(maxsize=1 << 12)
def scatter_dimensions(data: bytes) -> tuple[str, ...]:
    """Return `update_window_dims={1}`, `inserted_window_dims={0}` and so on."""
    try:
        message = ScatterDimensionNumbers.FromString(data)
    except DecodeError:
        return ()
    return _indexing(message, _SCATTER_LISTS, _SCATTER_BATCHING)


def _indexing(
    message: GatherDimensionNumbers | ScatterDimensionNumbers,
    always: Sequence[str],
    if_any: Sequence[str],
) -> tuple[str, ...]:
    names = [*always, *(name for name in if_any if getattr(message, name))]
    lists = (f"{name}={number_list(getattr(message, name))}" for name in names)
    return (*lists, f"index_vector_dim={message.index_vector_dim}")


@lru_cache(maxsize=1 << 12)
def padding_text(data: bytes) -> str:
    """Return `1_1x0_2`, with interior padding as a third number where there is any."""
    try:
        dimensions = PaddingConfig.FromString(data).dimensions
    except DecodeError:
        return ""
    has_interior = any(d.interior_padding for d in dimensions)
    return _crossed(
        f"{d.edge_padding_low}_{d.edge_padding_high}"
        + (f"_{d.interior_padding}" if has_interior else "")
        for d in dimensions
    )


@lru_cache(maxsize=1 << 12)
def precision_attributes(data: bytes) -> tuple[str, ...]:
    """Return `operand_precision={high,default}` and `algorithm=…` where set."""
    try:
        config = PrecisionConfig.FromString(data)
    except DecodeError:
        return ()
    found = []
    if any(config.operand_precision):
        names = (name_of(p, _PRECISIONS) for p in config.operand_precision)
        found.append(f"operand_precision={{{','.join(names)}}}")
    if config.algorithm:
        found.append(f"algorithm={name_of(config.algorithm, _ALGORITHMS)}")
    return tuple(found)


def name_of(number: int, names: Sequence[str]) -> str:
    """Return the name of an enumeration's value, the number where it is unknown."""
    return names[number] if 0 <= number < len(names) else str(number)

"""Attributes of opcodes that compute: products, comparisons, random numbers."""

from __future__ import annotations

from collections.abc import Iterable

from hlodb.ingest.formats.hlo_pb2 import HloInstructionProto
from hlodb.ingest.formats.proto_dimensions import (
    dim_labels,
    dot_dimensions,
    name_of,
    number_list,
    precision_attributes,
    ragged_dimensions,
)
from hlodb.ingest.formats.proto_rearranging import window
from hlodb.ingest.formats.proto_shapes import element_type_name, read_shape

_FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
_DISTRIBUTIONS = ("rng_invalid", "rng_uniform", "rng_normal")
_RNG_ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_CONV_KINDS = ("unset", "fprop", "dgrad", "wgrad")


def _dot(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield from dot_dimensions(i.dot_dimension_numbers)
    yield from precision_attributes(i.precision_config)
    if i.dot_sparsity:
        parts = (
            f"{'R' if s.index else 'L'}.{s.dimension}@{s.n}:{s.m}"
            for s in i.dot_sparsity
        )
        yield f"sparsity={'_'.join(parts)}"


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
    """Give what convolutions and convolving custom calls have in common."""
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


PRINTERS = {
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
    "sort": _sort,
    "topk": _top_k,
    "triangular-solve": _triangular_solve,
}

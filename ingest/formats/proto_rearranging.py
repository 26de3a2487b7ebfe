"""Attributes of opcodes that rearrange: dimensions, slices, windows, gathers."""

from __future__ import annotations

from collections.abc import Iterable

from hlodb.ingest.formats.hlo_pb2 import HloInstructionProto
from hlodb.ingest.formats.proto_dimensions import (
    gather_dimensions,
    number_list,
    padding_text,
    scatter_dimensions,
    window_text,
)


def dimensions(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    """Give `dimensions={0,1}`."""
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
    """Give `window={size=3x3}`, nothing where the window has no dimensions."""
    if text := window_text(i.window):
        yield f"window={text}"


def _scan(i: HloInstructionProto, _: bytes) -> Iterable[str]:
    yield f"dimensions={number_list(i.dimensions)}"
    yield f"num_carries={i.num_carries}"
    if i.is_reverse:
        yield "is_reverse=true"
    if i.is_associative:
        yield f"is_associative={'true' if i.is_associative == 1 else 'false'}"


PRINTERS = {
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

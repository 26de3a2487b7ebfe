"""ShapeProto → the text that XLA prints: `f32[8,128]{1,0:T(8,128)S(1)}`, tuples.

A shape occurs in thousands of equal copies, so the functions take its bytes and are
cached on them (XLA `shape_util.cc`, `layout.cc`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.hlo_pb2 import LayoutProto, ShapeProto

# fmt: off
ELEMENT_TYPES = (
    "invalid", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16",
    "f32", "f64", "tuple", "opaque", "c64", "bf16", "token", "c128", "f8e5m2",
    "f8e4m3fn", "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2", "u2",
    "f8e4m3", "f8e3m4", "s1", "u1", "f4e2m1fn", "f8e8m0fnu", "buffer", "f6e3m2fn",
    "f6e2m3fn",
)
# fmt: on
"""Names of XLA's `PrimitiveType`, by number."""

TUPLE, OPAQUE, TOKEN, BUFFER = 13, 14, 17, 34
_NOT_AN_ARRAY = frozenset((0, OPAQUE, TOKEN))
_DIM_LEVELS = "DCSH"
_SMALLEST = -(1 << 63)
"""Stands for an unbounded dimension, and in a tile for "combine with the next"."""

UNREADABLE = "invalid[]"
"""What a shape whose bytes make no message is printed as."""


def element_type_name(number: int) -> str:
    """Return the name of an element type; one unknown so far is called `type37`."""
    known = 0 <= number < len(ELEMENT_TYPES)
    return ELEMENT_TYPES[number] if known else f"type{number}"


@lru_cache(maxsize=1 << 16)
def read_shape(data: bytes) -> ShapeProto | None:
    """Return the message in `data`, None where the bytes make none."""
    try:
        return ShapeProto.FromString(data)
    except DecodeError:
        return None


@lru_cache(maxsize=1 << 16)
def shape_text(data: bytes) -> str:
    """Return the shape in `data` as printed with its layout."""
    shape = read_shape(data)
    return print_shape(shape) if shape is not None else UNREADABLE


@lru_cache(maxsize=1 << 16)
def subshape_text(
    data: bytes, index: tuple[int, ...], with_layout: bool = True
) -> str | None:
    """Return the element at `index` of the shape in `data`; None if there is none."""
    shape = read_shape(data)
    for step in index:
        if shape is None or not 0 <= step < len(shape.tuple_shapes):
            return None
        shape = shape.tuple_shapes[step]
    return print_shape(shape, with_layout) if shape is not None else None


@lru_cache(maxsize=1 << 16)
def part_paths(data: bytes) -> tuple[tuple[tuple[int, ...], bool], ...]:
    """Return the index of every part of the shape in `data`, and whether it's a tuple.

    In the order of XLA's ShapeTree: a tuple comes before its elements.
    """
    shape = read_shape(data)
    found: list[tuple[tuple[int, ...], bool]] = []

    def walk(part: ShapeProto, index: tuple[int, ...]) -> None:
        is_tuple = part.element_type == TUPLE
        found.append((index, is_tuple))
        if is_tuple:
            for number, element in enumerate(part.tuple_shapes):
                walk(element, (*index, number))

    if shape is not None:
        walk(shape, ())
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def parts(data: bytes) -> frozenset[tuple[int, ...]]:
    """Return the index of every part of the shape in `data`."""
    return frozenset(index for index, _ in part_paths(data))


@lru_cache(maxsize=1 << 14)
def leaves(data: bytes) -> frozenset[tuple[int, ...]]:
    """Return the index of every part of the shape in `data` that is no tuple."""
    return frozenset(index for index, is_tuple in part_paths(data) if not is_tuple)


def print_shape(shape: ShapeProto, with_layout: bool = True) -> str:
    """Return the text of a shape, with layouts or without."""
    element_type = shape.element_type
    if element_type == TUPLE:
        parts = (print_shape(part, with_layout) for part in shape.tuple_shapes)
        return f"({join_counted(parts)})"
    if element_type == BUFFER:
        return (
            f"b({', '.join(print_shape(p, with_layout) for p in shape.tuple_shapes)})"
        )
    text = f"{element_type_name(element_type)}[{_dimensions(shape)}]"
    if not with_layout or element_type in _NOT_AN_ARRAY or not shape.HasField("layout"):
        return text
    layout = print_layout(shape.layout)
    # A scalar's layout is printed only where it says something.
    return text if layout == "{}" and not shape.dimensions else text + layout


def join_counted(parts: Iterable[str]) -> str:
    """Join as XLA does in tuples: before every fifth element stands `/*index=N*/`."""
    return ", ".join(
        f"/*index={number}*/{part}" if number and number % 5 == 0 else part
        for number, part in enumerate(parts)
    )


def _dimensions(shape: ShapeProto) -> str:
    sizes = shape.dimensions
    dynamic = shape.is_dynamic_dimension
    if not any(dynamic):
        return ",".join(map(str, sizes))
    return ",".join(
        _dynamic_size(size) if number < len(dynamic) and dynamic[number] else str(size)
        for number, size in enumerate(sizes)
    )


def _dynamic_size(size: int) -> str:
    return "?" if size == _SMALLEST else f"<={size}"


def print_layout(layout: LayoutProto) -> str:
    """Return the text of a layout: minor-to-major, then a colon and the rest."""
    rest = "".join(_layout_parts(layout))
    order = ",".join(map(str, layout.minor_to_major))
    return f"{{{order}:{rest}}}" if rest else f"{{{order}}}"


def _layout_parts(layout: LayoutProto) -> Iterable[str]:
    if layout.dim_level_types:
        yield f"D({','.join(_dim_levels(layout))})"
    if layout.tiles:
        yield "T" + "".join(_tile(tile.dimensions) for tile in layout.tiles)
    if layout.tail_padding_alignment_in_elements > 1:
        yield f"L({layout.tail_padding_alignment_in_elements})"
    if layout.index_primitive_type:
        yield f"#({element_type_name(layout.index_primitive_type)})"
    if layout.pointer_primitive_type:
        yield f"*({element_type_name(layout.pointer_primitive_type)})"
    if layout.element_size_in_bits:
        yield f"E({layout.element_size_in_bits})"
    if layout.memory_space:
        yield f"S({layout.memory_space})"
    if layout.split_configs:
        yield "SC" + "".join(
            f"({config.dimension}:{','.join(map(str, config.split_indices))})"
            for config in layout.split_configs
        )
    if layout.HasField("physical_shape"):
        yield f"P({print_shape(layout.physical_shape)})"
    if layout.dynamic_shape_metadata_prefix_bytes > 0:
        yield f"M({layout.dynamic_shape_metadata_prefix_bytes})"


def _tile(sizes: Iterable[int]) -> str:
    return f"({','.join('*' if size == _SMALLEST else str(size) for size in sizes)})"


def _dim_levels(layout: LayoutProto) -> Iterable[str]:
    unique, ordered = layout.dim_unique, layout.dim_ordered
    for number, level in enumerate(layout.dim_level_types):
        name = _DIM_LEVELS[level] if 0 <= level < len(_DIM_LEVELS) else "?"
        plus = "+" if number < len(unique) and not unique[number] else ""
        tilde = "~" if number < len(ordered) and not ordered[number] else ""
        yield name + plus + tilde

"""LiteralProto → the text of a constant: `0.1`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`.

XLA prints arrays of up to ten elements and elides all other constants as `{...}`
(`hlo_instructions.cc`, `literal.cc`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.float_text import FLOATS, float_text
from hlodb.ingest.formats.hlo_pb2 import LiteralProto, ShapeProto
from hlodb.ingest.formats.proto_shapes import element_type_name
from hlodb.ingest.formats.scan import remembered

ELIDED = "{...}"
MOST_PRINTED = 10
"""Elements of the largest array that is printed."""

_WHOLE_NUMBERS = frozenset(("s32", "s64", "u32", "u64"))
_PARTS = {"c64": "f32", "c128": "f64"}
_SIXTEEN_BITS = frozenset(("s16", "u16"))
_MOST_DIMENSIONS = 64
_MOST_BRACES = 1 << 21
_UNPRINTED = frozenset(("tuple", "token", "opaque", "buffer"))


@remembered
def literal_text(data: bytes) -> str | None:
    """Give the constant in `data` as XLA prints it; None where the bytes make none."""
    try:
        literal = LiteralProto.FromString(data)
    except DecodeError:
        return None
    return print_literal(literal)


def print_literal(literal: LiteralProto, most: int = MOST_PRINTED) -> str:
    """Give the text of a literal; arrays of over `most` elements and tuples elided."""
    shape = literal.shape
    sizes = [max(size, 0) for size in shape.dimensions]
    element_type = element_type_name(shape.element_type)
    count = prod(sizes)
    if element_type in _UNPRINTED or count > most or _is_unwieldy(sizes):
        return ELIDED
    elements = _elements(literal, element_type)
    if len(elements) < count:
        return ELIDED
    if not sizes:
        return elements[0]
    places = _places(shape, sizes)
    return _nested(sizes, (elements[place] for place in places), [])


def _is_unwieldy(sizes: Sequence[int]) -> bool:
    """Tell whether even an empty array would print as endless braces."""
    braces = prod(max(size, 1) for size in sizes)
    return len(sizes) > _MOST_DIMENSIONS or braces > _MOST_BRACES


def _nested(sizes: Sequence[int], elements: Iterator[str], outer: list[int]) -> str:
    """Print an array dimension by dimension; the innermost one is dense."""
    rank = len(outer) + len(sizes)
    if len(sizes) == 1:
        inside = ", ".join(next(elements) for _ in range(sizes[0]))
        return f"{{{inside}}}" if rank == 1 or sizes[0] <= 1 else f"{{ {inside} }}"
    parts = [_nested(sizes[1:], elements, [*outer, i]) for i in range(sizes[0])]
    # From four dimensions on XLA notes where it is.
    place = f" /*i{len(outer) - 1}={outer[-1]}*/" if rank > 3 and outer else ""
    inside = f"{', '.join(parts)} " if parts else ""
    return f"{{{place} {inside}}}"


def _places(shape: ShapeProto, sizes: Sequence[int]) -> list[int]:
    """Give where each element lies in memory, in the order of its indices."""
    order = list(shape.layout.minor_to_major)
    if sorted(order) != list(range(len(sizes))):
        order = list(range(len(sizes) - 1, -1, -1))
    strides = [0] * len(sizes)
    stride = 1
    for dimension in order:
        strides[dimension] = stride
        stride *= sizes[dimension]
    places = [0]
    for size, step in zip(sizes, strides, strict=True):
        places = [place + step * number for place in places for number in range(size)]
    return places


def _elements(literal: LiteralProto, element_type: str) -> Sequence[str]:
    """Give the elements as text, in memory order; too few where some are missing."""
    if element_type == "pred":
        names = ("0", "1") if literal.shape.dimensions else ("false", "true")
        return [names[bool(value)] for value in literal.preds]
    values = getattr(literal, f"{element_type}s", b"")
    if element_type in _WHOLE_NUMBERS:
        return list(map(str, values))
    if element_type in _PARTS:
        parts = _float_texts(values, _PARTS[element_type])
        pairs = zip(parts[::2], parts[1::2], strict=False)
        return [f"({real}, {imaginary})" for real, imaginary in pairs]
    if element_type in FLOATS:
        if isinstance(values, bytes):
            values = _words(values, FLOATS[element_type].bytes)
        return _float_texts(values, element_type)
    is_signed = element_type.startswith("s")
    if element_type in _SIXTEEN_BITS:
        return [str(_signed(w, 16, is_signed)) for w in _words(values, 2)]
    # Numbers of fewer bits have a byte each.
    bits = int(element_type[1:]) if element_type[1:].isdigit() else 8
    return [str(_signed(number, bits, is_signed)) for number in values]


def _float_texts(values: Iterable[int], element_type: str) -> list[str]:
    kind = FLOATS[element_type]
    return [float_text(bits, kind) for bits in values]


def _words(data: bytes, size: int) -> list[int]:
    return [
        int.from_bytes(data[at : at + size], "little")
        for at in range(0, len(data) - size + 1, size)
    ]


def _signed(number: int, bits: int, is_signed: bool) -> int:
    number &= (1 << bits) - 1
    return number - (1 << bits) if is_signed and number >> bits - 1 else number

"""LiteralProto → the text of a constant: `0.1`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`.

XLA prints arrays of up to ten elements and elides all other constants as `{...}`
(`hlo_instructions.cc`, `literal.cc`).

A floating-point number is a sign, an exponent and a mantissa; the families differ in
their bias and in which bit patterns stand for infinity and NaN (the suffix tells:
`fn` has no infinity, `uz` no negative zero, `fnu` no sign). A NaN other than the
default one is printed with its mantissa: `nan(0x7)`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, log10, prod
from typing import NamedTuple

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.hlo_pb2 import LiteralProto, ShapeProto
from hlodb.ingest.formats.proto.shapes import element_type_name
from hlodb.ingest.formats.scan import remembered


class FloatKind(NamedTuple):
    """How a type lays out its bits; `special` is ieee, fn (one NaN), fnuz or none.

    `few` are digits that are tried first, 0 where XLA tries none.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    special: str
    has_sign: bool = True
    few: int = 0

    @property
    def bytes(self) -> int:
        """Return the bytes one number takes in a literal."""
        width = self.exponent_bits + self.mantissa_bits + self.has_sign
        return (width + 7) // 8

    @property
    def many(self) -> int:
        """Return the decimal digits that tell every number apart."""
        return ceil(1 + (self.mantissa_bits + 1) * log10(2))


FLOATS: dict[str, FloatKind] = {
    "f64": FloatKind(11, 52, 1023, "ieee", few=15),
    "f32": FloatKind(8, 23, 127, "ieee", few=6),
    "f16": FloatKind(5, 10, 15, "ieee"),
    "bf16": FloatKind(8, 7, 127, "ieee"),
    "f8e5m2": FloatKind(5, 2, 15, "ieee"),
    "f8e4m3": FloatKind(4, 3, 7, "ieee"),
    "f8e3m4": FloatKind(3, 4, 3, "ieee"),
    "f8e4m3fn": FloatKind(4, 3, 7, "fn"),
    "f8e4m3b11fnuz": FloatKind(4, 3, 11, "fnuz"),
    "f8e4m3fnuz": FloatKind(4, 3, 8, "fnuz"),
    "f8e5m2fnuz": FloatKind(5, 2, 16, "fnuz"),
    "f8e8m0fnu": FloatKind(8, 0, 127, "fn", has_sign=False),
    "f6e3m2fn": FloatKind(3, 2, 3, "none"),
    "f6e2m3fn": FloatKind(2, 3, 1, "none"),
    "f4e2m1fn": FloatKind(2, 1, 1, "none"),
}
"""The types, by XLA's name."""


def float_text(bits: int, kind: FloatKind) -> str:
    """Return the number that `bits` stand for, with the digits that tell it apart."""
    mantissa = bits & (1 << kind.mantissa_bits) - 1
    exponent = bits >> kind.mantissa_bits & (1 << kind.exponent_bits) - 1
    width = kind.exponent_bits + kind.mantissa_bits
    sign = "-" if kind.has_sign and bits >> width & 1 else ""
    is_top = exponent == (1 << kind.exponent_bits) - 1
    if _is_nan(bits, is_top, mantissa, kind):
        return (
            "nan" if kind.special == "fnuz" else f"{sign}nan{_payload(mantissa, kind)}"
        )
    if kind.special == "ieee" and is_top:
        return f"{sign}inf"
    return sign + _digits(_magnitude(exponent, mantissa, kind), kind)


def _is_nan(bits: int, is_top: bool, mantissa: int, kind: FloatKind) -> bool:
    if kind.special == "ieee":
        return is_top and mantissa != 0
    if kind.special == "fn":
        return is_top and mantissa == (1 << kind.mantissa_bits) - 1
    return (
        kind.special == "fnuz" and bits == 1 << kind.exponent_bits + kind.mantissa_bits
    )


def _payload(mantissa: int, kind: FloatKind) -> str:
    is_default = kind.special != "ieee" or mantissa == 1 << kind.mantissa_bits - 1
    return "" if is_default else f"({mantissa:#x})"


def _magnitude(exponent: int, mantissa: int, kind: FloatKind) -> float:
    # A type without a sign has no numbers below its smallest exponent either.
    if exponent or not kind.has_sign:
        mantissa += 1 << kind.mantissa_bits
    else:
        exponent = 1
    return mantissa * 2.0 ** (exponent - kind.bias - kind.mantissa_bits)


def _digits(value: float, kind: FloatKind) -> str:
    if kind.few:
        short = f"{value:.{kind.few}g}"
        read_back = float(short)
        if (read_back if kind.bytes == 8 else _as_f32(read_back)) == value:
            return short
    return f"{value:.{kind.many}g}"


def _as_f32(value: float) -> float:
    try:
        narrowed: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf")
    return narrowed


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
    """Return the constant in `data` as XLA prints it; None for broken bytes."""
    try:
        literal = LiteralProto.FromString(data)
    except DecodeError:
        return None
    return print_literal(literal)


def print_literal(literal: LiteralProto, most: int = MOST_PRINTED) -> str:
    """Return the text of a literal; tuples and arrays over `most` elements elided."""
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
    """Return whether even an empty array would print as endless braces."""
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
    """Return each element's position in memory, in the order of its indices."""
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
    """Return the elements as text, in memory order; too few where some are missing."""
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

"""Floating-point numbers as XLA prints them, from their bits.

Each is a sign, an exponent and a mantissa; the families differ in their bias and in
which bit patterns stand for infinity and NaN (the suffix tells: `fn` has no infinity,
`uz` no negative zero, `fnu` no sign). A NaN other than the default one is printed with
its mantissa: `nan(0x7)`.
"""

from __future__ import annotations

import struct
from math import ceil, log10
from typing import NamedTuple


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
        """Give the bytes one number takes in a literal."""
        width = self.exponent_bits + self.mantissa_bits + self.has_sign
        return (width + 7) // 8

    @property
    def many(self) -> int:
        """Give the decimal digits that tell every number apart."""
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
    """Give the number that `bits` stand for, with the digits that tell it apart."""
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

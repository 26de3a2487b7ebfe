"""Shapes as XLA prints them: `f32[8,128]{1,0:T(8,128)S(1)}`, tuples, tokens.

Sizes follow `ShapeUtil::ByteSizeOf`: elements times element width, without padding.
A type under eight bits takes a whole byte unless the layout says `E(bits)`, a bounded
dynamic dimension `<=n` counts n, a tuple counts its pointer table of eight bytes an
element.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hlodb.ingest.formats.scan import split_commas, without_comments
from hlodb.ingest.records import MOST

POINTER_BYTES = 8

ELEMENT_BITS: dict[str, int] = (
    dict.fromkeys(["s1", "u1"], 1)
    | dict.fromkeys(["s2", "u2"], 2)
    | dict.fromkeys(["s4", "u4", "f4e2m1fn"], 4)
    | dict.fromkeys(["f6e3m2fn", "f6e2m3fn"], 6)
    | dict.fromkeys(["pred", "s8", "u8", "f8e5m2", "f8e4m3", "f8e4m3fn"], 8)
    | dict.fromkeys(["f8e4m3b11fnuz", "f8e3m4", "f8e5m2fnuz"], 8)
    | dict.fromkeys(["f8e4m3fnuz", "f8e8m0fnu"], 8)
    | dict.fromkeys(["s16", "u16", "f16", "bf16"], 16)
    | dict.fromkeys(["s32", "u32", "f32"], 32)
    | dict.fromkeys(["s64", "u64", "f64", "c64"], 64)
    | {"c128": 128, "token": 0, "opaque": 8 * POINTER_BYTES}
)
"""Width of each element type (bits)."""

_ARRAY = re.compile(r"([a-z]\w*)\[([^\]]*)\](?:\{(.*)\})?$", re.DOTALL)
_SPACE = re.compile(r"S\((\d{1,9})\)")
_ELEMENT_SIZE = re.compile(r"(?<![A-Z])E\((\d{1,4})\)")
_DEEPEST = 100
_MOST_DIGITS = 18
_MOST_BYTES = 1 << 60
_LAYOUT = re.compile(r"\{[^{}]*\}")


class Shape(NamedTuple):
    """A shape taken apart; `elements` is None for an array.

    `logical_bytes` is None where a dimension is unbounded, the type unknown, or the
    size beyond all bounds.
    """

    element_type: str
    dimensions: tuple[int, ...] = ()
    layout: str | None = None
    color: int = 0
    logical_bytes: int | None = None
    elements: tuple[Shape, ...] | None = None


@lru_cache(maxsize=65536)
def parse_shape(text: str) -> Shape | None:
    """Return the shape that `text` prints, or None where it is none.

    Tuples within tuples a hundred deep are none either.
    """
    return _parse(without_comments(text).strip(), 0)


def _parse(text: str, depth: int) -> Shape | None:
    if depth > _DEEPEST:
        return None
    if text.startswith("(") and text.endswith(")"):
        elements = [_parse(part, depth + 1) for part in split_commas(text[1:-1])]
        return _tuple_shape([e for e in elements if e is not None], len(elements))
    if text.startswith("b(") and text.endswith(")"):
        return _parse(text[2:-1].strip(), depth + 1)
    match = _ARRAY.match(text)
    return _array_shape(*match.groups()) if match else None


def _tuple_shape(elements: list[Shape], count: int) -> Shape | None:
    if len(elements) != count:
        return None
    return Shape("tuple", logical_bytes=POINTER_BYTES * count, elements=tuple(elements))


def _array_shape(element_type: str, dims: str, layout: str | None) -> Shape | None:
    try:
        sizes = [_dimension(d) for d in dims.split(",") if d.strip()]
    except ValueError:
        return None
    space = _SPACE.search(layout) if layout and "S(" in layout else None
    return Shape(
        element_type,
        tuple(-1 if s is None else s for s in sizes),
        layout,
        int(space.group(1)) if space else 0,
        _array_bytes(element_type, sizes, layout),
    )


def _dimension(text: str) -> int | None:
    text = text.strip()
    if text == "?":
        return None
    if len(text) > _MOST_DIGITS:
        raise ValueError(text)
    return int(text.removeprefix("<="))


def _array_bytes(
    element_type: str, sizes: list[int | None], layout: str | None
) -> int | None:
    bits = ELEMENT_BITS.get(element_type)
    count = 1
    for size in sizes:
        if size is None:
            return None
        count *= size
    if bits is None or abs(count) > _MOST_BYTES:
        return None
    packed = _ELEMENT_SIZE.search(layout) if layout and "E(" in layout else None
    if packed and int(packed.group(1)):
        found = (count * int(packed.group(1)) + 7) // 8
        return found if found <= MOST else None
    return count * ((bits + 7) // 8)


@lru_cache(maxsize=65536)
def without_layout(text: str) -> str:
    """Return a printed shape without layouts, comments and blanks."""
    return _LAYOUT.sub("", without_comments(text)).replace(" ", "")


def without_layout_alone(text: str) -> str:
    """Return a printed shape without layouts, as XLA's `HumanString` prints it."""
    return _LAYOUT.sub("", text)

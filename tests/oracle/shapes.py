"""Reads XLA's shapes by their grammar: arrays, tuples, tiles, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod

_ARRAY = re.compile(r"([a-z]\w*)\[([^\]]*)\](\{[^{}]*\})?")
_BITS = re.compile(r"[a-z]+(\d+)")
_POINTER = 8


@dataclass(frozen=True)
class Array:
    """An array shape; `tile` is the first tile, the last number the most minor."""

    text: str
    element_type: str
    dimensions: tuple[int | None, ...]
    minor_to_major: tuple[int, ...]
    tile: tuple[int | None, ...]
    tiles: str
    packed_bits: int | None
    space: int

    @property
    def printed_dimensions(self) -> str:
        """Return the dimensions as printed, in brackets."""
        return self.text[self.text.index("[") : self.text.index("]") + 1]

    @property
    def minor_sizes(self) -> tuple[int | None, ...]:
        """Return the dimensions, the most minor first."""
        if not self.minor_to_major:
            return self.dimensions[::-1]
        return tuple(self.dimensions[place] for place in self.minor_to_major)

    @property
    def logical_bytes(self) -> int | None:
        """Return elements times element width; None where a size is unknown."""
        sizes = [size for size in self.dimensions if size is not None]
        if len(sizes) < len(self.dimensions):
            return None
        if self.packed_bits:
            return (prod(sizes) * self.packed_bits + 7) // 8
        return prod(sizes) * element_width(self.element_type)

    @property
    def tiled_bytes(self) -> int | None:
        """Return the size with dimensions rounded up to the first tile."""
        logical = self.logical_bytes
        if not self.tile or not logical:
            return logical
        if None in self.tile:
            return None
        sizes = [size or 0 for size in self.minor_sizes]
        tile = [number or 0 for number in reversed(self.tile)]
        padded = list(sizes) + [1] * (len(tile) - len(sizes))
        for place, number in enumerate(tile):
            padded[place] = -(-padded[place] // number) * number
        return prod(padded) * logical // prod(sizes)


def element_width(element_type: str) -> int:
    """Return the bytes of one element: a byte at least, nothing for a token."""
    if element_type in ("token", "opaque"):
        return 0
    if element_type == "pred":
        return 1
    bits = _BITS.match(element_type)
    assert bits, element_type
    return (int(bits[1]) + 7) // 8


@cache
def array(text: str) -> Array:
    """Return an array shape."""
    found = _ARRAY.match(text)
    assert found, text
    element_type, sizes, layout = found.groups()
    order, _, rest = (layout or "{}")[1:-1].partition(":")
    tiles = re.search(r"T((?:\([\d,*]*\))+)", rest)
    tile = tiles and tiles[1][1:].partition(")")[0]
    bits = re.search(r"(?<![A-Z])E\((\d+)\)", rest)
    space = re.search(r"(?<![A-Z])S\((\d+)\)", rest)
    return Array(
        text,
        element_type,
        tuple(_size(size) for size in sizes.split(",") if size),
        tuple(int(place) for place in order.split(",") if place),
        tuple(_size(size) for size in tile.split(",")) if tile else (),
        tiles[1] if tiles else "",
        int(bits[1]) if bits else None,
        int(space[1]) if space else 0,
    )


def _size(text: str) -> int | None:
    digits = text.removeprefix("<=")
    return int(digits) if digits.isdigit() else None


def is_tuple(shape: str) -> bool:
    """Return whether a shape is a tuple."""
    return shape.startswith("(")


def arrays(shape: str) -> Iterator[Array]:
    """Yield the arrays of a shape, those of tuples within tuples one by one."""
    for found in _ARRAY.finditer(shape):
        yield array(found[0])


def array_bytes(shape: str) -> int:
    """Return the logical size of the arrays of a shape."""
    return sum(a.logical_bytes or 0 for a in arrays(shape))


@cache
def elements(shape: str) -> int:
    """Return the number of direct elements of a tuple."""
    depth, count, has_any = 0, 0, False
    for mark in re.findall(r"[()\[\]{},]|[^()\[\]{},\s]+", shape):
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == "," and depth == 1:
            count += 1
        if (depth >= 1 and mark != "(") or depth > 1:
            has_any = True
    return count + 1 if has_any else 0


def logical_bytes(shape: str) -> int | None:
    """Return the logical size of a result; a tuple counts as its table of pointers."""
    if is_tuple(shape):
        return _POINTER * elements(shape)
    return array(shape).logical_bytes


def element_type(shape: str) -> str:
    """Return the element type of an array; "tuple" for a tuple."""
    return "tuple" if is_tuple(shape) else array(shape).element_type


def without_layout(shape: str) -> str:
    """Return a shape without layouts and comments."""
    return re.sub(r"\{[^{}]*\}|/\*.*?\*/", "", shape)

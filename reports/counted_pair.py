"""Splits the difference of a buffer that fills memory in base and candidate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod, trunc

from hlodb.ingest.formats.shapes import parse_shape
from hlodb.reports.facts import Buffer

Owned = tuple[dict[int, int], dict[int, int]]
"""Own bytes of the buffers of base and candidate, by the buffer's `id`."""

_SIZES = slice(
    Buffer._fields.index("size_bytes"), Buffer._fields.index("logical_bytes") + 1
)


def both_counted(b: Buffer, c: Buffer, owned: Owned) -> Iterator[tuple[str, int, str]]:
    """Yield part, bytes and note of what one buffer differs by; they add up to it."""
    same = b[_SIZES] == c[_SIZES] and b.array_type == c.array_type
    if same and owned[0][id(b)] == owned[1][id(c)]:
        return  # Most buffers: nothing about them has changed.
    b_data, c_data = _data_bytes(b), _data_bytes(c)
    (b_type, b_count), (c_type, c_count) = _elements(b), _elements(c)
    note = f"{b.array_type} to {c.array_type}"
    resized = 0
    if b_type != c_type:
        resized = _of_dimensions(b_data, c_data, b_count, c_count)
        yield "retyped", c_data - b_data - resized, note
    else:
        resized = c_data - b_data
    yield "resized", resized, note
    padding = (c.size_bytes - c_data) - (b.size_bytes - b_data)
    yield "re-padded", padding, f"{b.size_bytes} B to {c.size_bytes} B"
    shared = (owned[1][id(c)] - c.size_bytes) - (owned[0][id(b)] - b.size_bytes)
    yield "alias", shared, "shares less in place" if shared > 0 else "shares in place"


def same_size(b: Buffer, c: Buffer, owned: Owned) -> Iterator[tuple[str, int, str]]:
    """Yield the aliasing difference of two equally sized buffers."""
    yield "alias", owned[1][id(c)] - owned[0][id(b)], "shares more or less in place"


def _elements(buffer: Buffer) -> tuple[str | None, int]:
    """Return type and number of elements; None and 0 where it is no array.

    An array with a dimension without bound has 0.
    """
    shape = parse_shape(buffer.array_type or "")
    if shape is None or shape.elements is not None:
        return None, 0
    return shape.element_type, prod(max(size, 0) for size in shape.dimensions)


def _of_dimensions(b_data: int, c_data: int, b_count: int, c_count: int) -> int:
    """Return the cost of the changed dimensions at the mean of both element widths.

    The rest is the element type's; both change sign when base and candidate do.
    """
    if not b_count or not c_count:
        return 0
    width = (Fraction(b_data, b_count) + Fraction(c_data, c_count)) / 2
    return trunc(width * (c_count - b_count))


def _data_bytes(buffer: Buffer) -> int:
    known = buffer.logical_bytes
    if known is None or known > buffer.size_bytes:
        return buffer.size_bytes
    return known

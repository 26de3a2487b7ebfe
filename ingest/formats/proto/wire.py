"""The fields of a binary protobuf message, read and written without its schema."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types; groups, which XLA has none of, make no sense here."""

_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT = 10


class WireField(NamedTuple):
    """A field by its place: its tag at `start`, what it holds from `payload` on."""

    number: int
    wire_type: int
    start: int
    payload: int
    end: int


def wire_fields(data: bytes | memoryview) -> Iterator[WireField]:
    """Yield the fields of a message up to the first that makes no sense.

    The last may end beyond the data: then it is cut off.
    """
    position = 0
    while position < len(data):
        tag, payload = varint(data, position)
        wire_type = tag & 7
        if tag < 8 or payload > len(data):
            return
        if wire_type == VARINT:
            _, end = varint(data, payload)
        elif wire_type == BYTES:
            size, payload = varint(data, payload)
            end = payload + size
        elif wire_type in _FIXED_SIZES:
            end = payload + _FIXED_SIZES[wire_type]
        else:
            return
        yield WireField(tag >> 3, wire_type, position, payload, end)
        position = end


def payload_of(data: bytes, number: int) -> bytes:
    """Return the first field of this number that holds bytes; b"" where none does."""
    for field in wire_fields(data):
        if (field.number, field.wire_type) == (number, BYTES):
            return data[field.payload : field.end]
    return b""


def is_module(data: bytes) -> bool:
    """Return whether bytes begin an HloModuleProto: two names, then a computation."""
    found = list(islice(wire_fields(data), 3))
    return [(f.number, f.wire_type) for f in found] == [
        (1, BYTES),
        (2, BYTES),
        (3, BYTES),
    ] and all(_is_name(data[f.payload : f.end]) for f in found[:2])


def _is_name(data: bytes) -> bool:
    return bool(data) and data.decode(errors="replace").isprintable()


def varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the number at `position`, and where it ends: beyond the data if broken."""
    value = 0
    for count in range(_LONGEST_VARINT):
        if position + count >= len(data):
            break
        byte = data[position + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, position + count + 1
    return value, len(data) + 1


def encoded(number: int, payload: bytes) -> bytes:
    """Return the field of this number that holds `payload`."""
    return _varint_bytes(number << 3 | BYTES) + _varint_bytes(len(payload)) + payload


def encoded_number(number: int, wire_type: int, value: int) -> bytes:
    """Return the field of this number that holds a number of no sign."""
    tag = _varint_bytes(number << 3 | wire_type)
    if wire_type == VARINT:
        return tag + _varint_bytes(value)
    return tag + value.to_bytes(_FIXED_SIZES[wire_type], "little")


def _varint_bytes(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)

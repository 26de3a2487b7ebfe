"""Reading messages whose bytes may be broken: what is whole is kept.

protobuf reads a message as a whole or not at all. Where it does not, the fields are
read one by one, and into those that hold many parts (a module's computations, a
computation's instructions) the search goes deeper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from hlodb.ingest.records import Reject

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT = 10


class Parts(NamedTuple):
    """A message whose fields are saved one by one; `inner` ones are searched, too."""

    message: Any
    inner: Mapping[int, Parts]


class Saved(NamedTuple):
    """A message without what is broken in it; `broken_at` is where that begins."""

    data: bytes
    left_out: int = 0
    broken_at: int = 0


class _Field(NamedTuple):
    number: int
    wire_type: int
    start: int
    payload: int
    end: int


def save(data: bytes, parts: Parts, offset: int = 0) -> Saved:
    """Give the whole fields of a message, those within broken ones included."""
    if _reads(data, parts):
        return Saved(data)
    kept: list[bytes] = []
    losses: list[Saved] = []
    end = 0
    for field in _fields(data):
        piece = data[field.start : field.end]
        end = field.end
        if end <= len(data) and _reads(piece, parts):
            kept.append(piece)
            continue
        inner = parts.inner.get(field.number) if field.wire_type == _BYTES else None
        saved = Saved(b"", 1, offset + field.start)
        if inner is not None:
            payload = data[field.payload : end]
            saved = save(payload, inner, offset + field.payload)
            kept.append(_encoded(field.number, saved.data))
        # A cut may fall between two parts of a field: then the field itself is short.
        losses.append(saved if saved.left_out else Saved(b"", 1, offset + len(data)))
    if end < len(data) or not losses:
        losses.append(Saved(b"", 1, offset + end))
    left_out = sum(loss.left_out for loss in losses)
    return Saved(b"".join(kept), left_out, losses[0].broken_at)


def read_message(data: bytes, parts: Parts, section: str) -> tuple[Any, list[Reject]]:
    """Give the message in `data` as far as it is whole; a reject where it breaks."""
    try:
        return parts.message.FromString(data), []
    except DecodeError:
        saved = save(data, parts)
    message = (
        f"the message breaks at byte {saved.broken_at} of {len(data)}; what is whole "
        f"was read, parts left out: {saved.left_out}"
    )
    reject = Reject(0, saved.broken_at + 1, section, "broken_message", message, "")
    return parts.message.FromString(saved.data), [reject]


def _reads(data: bytes, parts: Parts) -> bool:
    try:
        parts.message.FromString(data)
    except DecodeError:
        return False
    return True


def _fields(data: bytes) -> Iterator[_Field]:
    """Give the fields of a message up to the first that makes no sense.

    The last may end beyond the data: then it is cut off.
    """
    position = 0
    while position < len(data):
        tag, payload = varint(data, position)
        wire_type = tag & 7
        if wire_type == _VARINT:
            _, end = varint(data, payload)
        elif wire_type == _BYTES:
            size, payload = varint(data, payload)
            end = payload + size
        elif wire_type in _FIXED_SIZES:
            end = payload + _FIXED_SIZES[wire_type]
        else:
            return
        if tag < 8 or end <= position:
            return
        yield _Field(tag >> 3, wire_type, position, payload, end)
        position = end


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Give the number at `position`, and where it ends: beyond the data if broken."""
    value = 0
    for count in range(_LONGEST_VARINT):
        if position + count >= len(data):
            break
        byte = data[position + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, position + count + 1
    return value, len(data) + 1


def _encoded(number: int, payload: bytes) -> bytes:
    return _varint_bytes(number << 3 | _BYTES) + _varint_bytes(len(payload)) + payload


def _varint_bytes(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)

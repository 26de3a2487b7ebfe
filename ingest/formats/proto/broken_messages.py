"""Reading messages whose bytes may be broken: what is whole is kept.

protobuf reads a message as a whole or not at all. Where it does not, the fields are
read one by one, and into those that hold many parts (a module's computations, a
computation's instructions) the search goes deeper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.wire import BYTES, encoded, wire_fields
from hlodb.ingest.records import Reject


class Parts(NamedTuple):
    """A message whose fields are saved one by one; `inner` ones are searched, too.

    `part_bytes` is what protobuf needs in memory for the smallest part of a message
    that may have very many.
    """

    message: Any
    inner: Mapping[int, Parts]
    part_bytes: int = 0


class Saved(NamedTuple):
    """A message without what is broken in it; `broken_at` is where that begins."""

    data: bytes
    left_out: int = 0
    broken_at: int = 0


def save(data: bytes, parts: Parts, offset: int = 0) -> Saved:
    """Return the whole fields of a message, those within broken ones included."""
    if _reads(data, parts):
        return Saved(data)
    kept: list[bytes] = []
    losses: list[Saved] = []
    end = 0
    for field in wire_fields(data):
        piece = data[field.start : field.end]
        end = field.end
        if end <= len(data) and _reads(piece, parts):
            kept.append(piece)
            continue
        inner = parts.inner.get(field.number) if field.wire_type == BYTES else None
        saved = Saved(b"", 1, offset + field.start)
        if inner is not None:
            payload = data[field.payload : end]
            saved = save(payload, inner, offset + field.payload)
            kept.append(encoded(field.number, saved.data))
        # A cut may fall between two parts of a field: then the field itself is short.
        losses.append(saved if saved.left_out else Saved(b"", 1, offset + len(data)))
    if end < len(data) or not losses:
        losses.append(Saved(b"", 1, offset + end))
    left_out = sum(loss.left_out for loss in losses)
    return Saved(b"".join(kept), left_out, losses[0].broken_at)


def read_message(data: bytes, parts: Parts, section: str) -> tuple[Any, list[Reject]]:
    """Return the message in `data` as far as it is whole; a reject where it breaks."""
    if _needed_bytes(memoryview(data), parts) > _FREE_BYTES + _MOST_TIMES * len(data):
        message = (
            f"its {len(data)} bytes are so many tiny parts that they would need more"
            f" than {_MOST_TIMES} times the memory; nothing was read"
        )
        return parts.message(), [Reject(0, 1, section, "too_many_parts", message, "")]
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


_FREE_BYTES = 64 << 20
_MOST_TIMES = 8


def _needed_bytes(data: memoryview, parts: Parts) -> int:
    """Return the memory that the parts of a message need, but for what they hold."""
    if not parts.part_bytes and not any(i.part_bytes for i in parts.inner.values()):
        return 0
    needed = 0
    for field in wire_fields(data):
        if field.wire_type == BYTES:
            needed += parts.part_bytes
            if (inner := parts.inner.get(field.number)) is not None:
                needed += _needed_bytes(data[field.payload : field.end], inner)
    return needed


def _reads(data: bytes, parts: Parts) -> bool:
    try:
        parts.message.FromString(data)
    except DecodeError:
        return False
    return True

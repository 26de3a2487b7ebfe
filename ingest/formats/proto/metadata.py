"""OpMetadata → op name, op type, source location, and what else XLA prints of it.

Equal metadata is read once: the functions are cached on its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.hlo_pb2 import OpMetadata
from hlodb.ingest.records import Location

_NAMED_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
_ESCAPED = [
    _NAMED_ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    for byte in range(256)
]


class Metadata(NamedTuple):
    """What one OpMetadata says; `other` is what has no column, as printed.

    `payload_id` numbers a payload that several instructions of the module share.
    """

    op_name: str | None = None
    op_type: str | None = None
    location: Location | None = None
    other: str = ""
    payload_id: int | None = None

    def rest(self, payloads: Sequence[bytes]) -> str | None:
        """Return the fields without a column as an attribute: `metadata={…}`."""
        parts = [self.other] if self.other else []
        if self.payload_id is not None and 0 <= self.payload_id < len(payloads):
            parts.append(_payload(payloads[self.payload_id]))
        return f"metadata={{{' '.join(parts)}}}" if parts else None


_NOTHING = Metadata()


def text_of(data: bytes) -> str:
    """Return bytes as text; what is no UTF-8 is replaced."""
    return data.decode("utf-8", "replace")


def escaped(data: bytes) -> str:
    """Return bytes as the body of a C string, as absl's CEscape writes it."""
    return "".join(map(_ESCAPED.__getitem__, data))


@lru_cache(maxsize=1 << 16)
def read_metadata(data: bytes) -> Metadata:
    """Return the metadata in `data`; nothing where XLA prints nothing of it."""
    message = _parsed(data)
    if message is None or not _is_printed(message):
        return _NOTHING
    payload = message.metadata_payload
    return Metadata(
        text_of(message.op_name) if message.op_name else None,
        text_of(message.op_type) if message.op_type else None,
        _location(message),
        " ".join(_other_fields(message)),
        payload.id if payload.HasField("id") else None,
    )


@lru_cache(maxsize=1 << 12)
def metadata_text(data: bytes) -> str:
    """Return the inside of `metadata={…}` as printed, such as within a sharding."""
    message = _parsed(data)
    return " ".join(_all_fields(message)) if message is not None else ""


def _parsed(data: bytes) -> OpMetadata | None:
    try:
        return OpMetadata.FromString(data)
    except DecodeError:
        return None


def _is_printed(message: OpMetadata) -> bool:
    return bool(
        message.op_name
        or message.op_type
        or message.source_file
        or message.scheduling_name
        or message.stack_frame_id
    )


def _location(message: OpMetadata) -> Location | None:
    location = Location(
        text_of(message.source_file) if message.source_file else None,
        message.source_line or None,
        message.source_end_line or None,
        message.source_column or None,
        message.source_end_column or None,
        message.stack_frame_id or None,
    )
    return location if any(part is not None for part in location) else None


def _all_fields(message: OpMetadata) -> Iterable[str]:
    for name in ("op_type", "op_name", "source_file"):
        if value := getattr(message, name):
            yield f'{name}="{escaped(value)}"'
    for name in ("source_line", "source_end_line", "source_column"):
        if number := getattr(message, name):
            yield f"{name}={number}"
    if message.source_end_column:
        yield f"source_end_column={message.source_end_column}"
    yield from _other_fields(message)


def _other_fields(message: OpMetadata) -> Iterable[str]:
    if message.profile_type:
        yield f"profile_type={{{','.join(map(str, message.profile_type))}}}"
    if message.deduplicated_name:
        yield f'deduplicated_name="{escaped(message.deduplicated_name)}"'
    if message.scheduling_name:
        yield f'scheduling_name="{text_of(message.scheduling_name)}"'
    if message.metadata_payload.value:
        yield _payload(message.metadata_payload.value)


def _payload(data: bytes) -> str:
    return f'metadata_payload="{escaped(data)}"'

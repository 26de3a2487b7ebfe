"""Tell the binary protobuf messages of a dump apart by their first few fields.

No schema is needed: XLA writes fields in the order of their numbers, so the nesting of
field 1 and the types of what follows it differ between the messages.
"""

from __future__ import annotations

from typing import NamedTuple

from hlodb.ingest.file_kinds import Kind

_VARINT, _BYTES = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}


class _Field(NamedTuple):
    number: int
    wire_type: int
    payload: bytes


def message_kind(head: bytes) -> tuple[Kind, str] | None:
    """Say which message begins with `head`: (kind, description), None if it's no guess.

    An HloProto and a bare HloModuleProto are both `hlo_proto`; in the latter field 1,
    the module's name, is a string.
    """
    fields = _fields(head, 3)
    if not fields or not _is(fields[0], 1, _BYTES):
        return None
    if _is_module(fields):
        return "hlo_proto", "HloModuleProto without its HloProto"
    inner = _fields(fields[0].payload, 3)
    if _is_module(inner):
        return "hlo_proto", "HloProto"
    if inner and _is(inner[0], 1, _BYTES) and _is_module(_fields(inner[0].payload, 3)):
        return "hlo_snapshot", "HloSnapshot"
    if _is_plane(inner):
        return "xplane", "XSpace profile"
    if _is_report(inner):
        return "memory_report_proto", "MemoryUsageReportProto"
    return None


def _is_module(fields: list[_Field]) -> bool:
    """HloModuleProto: name, entry_computation_name, then computations."""
    return (
        len(fields) == 3
        and _is_name(fields[0], 1)
        and _is_name(fields[1], 2)
        and _is(fields[2], 3, _BYTES)
    )


def _is_plane(fields: list[_Field]) -> bool:
    """XPlane: id (absent when 0), then a name."""
    named = fields[1:] if fields and _is(fields[0], 1, _VARINT) else fields
    return bool(named) and _is_name(named[0], 2)


def _is_report(fields: list[_Field]) -> bool:
    """MemoryUsageReportProto's space: total_bytes, color (absent when 0), entries."""
    if len(fields) < 2 or not _is(fields[0], 1, _VARINT):
        return False
    return _is(fields[1], 2, _VARINT) or _is(fields[1], 3, _BYTES)


def _is(field: _Field, number: int, wire_type: int) -> bool:
    return field.number == number and field.wire_type == wire_type


def _is_name(field: _Field, number: int) -> bool:
    if not _is(field, number, _BYTES) or not field.payload:
        return False
    return field.payload.decode(errors="replace").isprintable()


def _fields(data: bytes, count: int) -> list[_Field]:
    """Read up to `count` fields; the payload of the last may be cut short."""
    fields: list[_Field] = []
    position = 0
    while len(fields) < count and position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number < 1:
            break
        if wire_type == _VARINT:
            start = position
            _, position = _varint(data, position)
        elif wire_type == _BYTES:
            size, start = _varint(data, position)
            position = start + size
        elif wire_type in _FIXED_SIZES:
            start, position = position, position + _FIXED_SIZES[wire_type]
        else:
            break
        fields.append(_Field(number, wire_type, data[start:position]))
    return fields


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Read a varint of at most ten bytes: (value, position behind it); 0 if broken."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            return 0, position
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    return 0, position

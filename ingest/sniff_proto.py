"""Tell the binary protobuf messages of a dump apart by their first few fields.

No schema is needed: XLA writes fields in the order of their numbers, so the nesting of
field 1 and the types of what follows it differ between the messages.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hlodb.ingest.file_kinds import Kind
from hlodb.ingest.formats.wire import BYTES, VARINT, wire_fields


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
    if not fields or not _is(fields[0], 1, BYTES):
        return None
    if _is_module(fields):
        return "hlo_proto", "HloModuleProto without its HloProto"
    inner = _fields(fields[0].payload, 3)
    if _is_module(inner):
        return "hlo_proto", "HloProto"
    if inner and _is(inner[0], 1, BYTES) and _is_module(_fields(inner[0].payload, 3)):
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
        and _is(fields[2], 3, BYTES)
    )


def _is_plane(fields: list[_Field]) -> bool:
    """XPlane: id (absent when 0), then a name."""
    named = fields[1:] if fields and _is(fields[0], 1, VARINT) else fields
    return bool(named) and _is_name(named[0], 2)


def _is_report(fields: list[_Field]) -> bool:
    """MemoryUsageReportProto's space: total_bytes, color (absent when 0), entries."""
    if len(fields) < 2 or not _is(fields[0], 1, VARINT):
        return False
    return _is(fields[1], 2, VARINT) or _is(fields[1], 3, BYTES)


def _is(field: _Field, number: int, wire_type: int) -> bool:
    return field.number == number and field.wire_type == wire_type


def _is_name(field: _Field, number: int) -> bool:
    if not _is(field, number, BYTES) or not field.payload:
        return False
    return field.payload.decode(errors="replace").isprintable()


def _fields(data: bytes, count: int) -> list[_Field]:
    """Read up to `count` fields; the payload of the last may be cut short."""
    return [
        _Field(field.number, field.wire_type, data[field.payload : field.end])
        for field in islice(wire_fields(data), count)
    ]

"""MemoryUsageReportProto (since 2026-03) → the record of the text report, and more.

The message holds the tables of the text as text, so their rows are read by the same
parser. It adds what the text leaves out: exact sizes, and which allocation each table
belongs to. Text reports are read without it, and so without protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hlodb.ingest.formats.memory_reports.memory_report import (
    MemoryReport,
    ReportAllocation,
    parse_memory_report,
)
from hlodb.ingest.formats.proto.broken_messages import Parts, read_message
from hlodb.ingest.formats.proto.hlo_pb2 import MemoryUsageReportProto
from hlodb.ingest.formats.proto.metadata import text_of
from hlodb.ingest.records import Reject, Unclaimed

_MOST = (1 << 31) - 1
_MOST_BYTES = 10**15

_Entry = MemoryUsageReportProto.AllocationEntry
_Space = MemoryUsageReportProto.AllocationEntryInMemorySpace
_REPORT = Parts(MemoryUsageReportProto, {1: Parts(_Space, {})})


@dataclass(frozen=True, slots=True)
class ParsedReportProto:
    """A report, and what was wrong with it."""

    report: MemoryReport
    rejects: list[Reject] = field(default_factory=list)
    unclaimed: list[Unclaimed] = field(default_factory=list)


def parse_memory_report_proto(data: bytes) -> ParsedReportProto:
    """Read a MemoryUsageReportProto; never raises."""
    message, rejects = read_message(data, _REPORT, "memory report")
    parsed = parse_memory_report("".join(_text(message)))
    report = parsed.report
    entries = [
        (space.memory_space_color, entry)
        for space in message.memory_space_allocation_entries
        for entry in space.allocation_entries
    ]
    sound = [(color, entry) for color, entry in entries if _is_sound(entry)]
    report.allocations = [_allocation(color, entry) for color, entry in sound]
    rejects += parsed.rejects
    if len(sound) < len(entries):
        count = len(entries) - len(sound)
        rejects.append(_impossible(count))
    if len(report.tables) == len(entries):
        report.tables = [
            table._replace(allocation_id=entry.index)
            for table, (_, entry) in zip(report.tables, entries, strict=True)
        ]
    return ParsedReportProto(report, rejects, parsed.unclaimed)


def _text(message: MemoryUsageReportProto) -> Iterator[str]:
    """Yield the report as text, table by table."""
    for space in message.memory_space_allocation_entries:
        color = space.memory_space_color
        yield f"Memory Space: {color} (color={color})\n"
        yield f"Total bytes: {max(space.total_bytes, 0)}\n"
        for entry in space.allocation_entries:
            yield text_of(entry.hlo_text) + "\n"


def _is_sound(entry: _Entry) -> bool:
    return (
        0 <= entry.index <= _MOST
        and 0 <= entry.size <= _MOST_BYTES
        and 0 <= entry.cumulative_size <= _MOST_BYTES
    )


def _allocation(color: int, entry: _Entry) -> ReportAllocation:
    return ReportAllocation(entry.index, "", entry.size, color)


def _impossible(count: int) -> Reject:
    message = f"left out for impossible numbers: {count} allocations"
    return Reject(0, 0, "memory report", "impossible_number", message, "")

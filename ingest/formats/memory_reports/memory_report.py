"""Memory-usage reports: what XLA itself says its allocations and values add up to.

Until 2026-03 one total, a list of allocations, then a table of values for each; since
then a total and tables for every memory space, which do not say whose they are:

    Total bytes used: 7259 (7.1KiB)           Memory Space: vmem (color=1)
    Allocations sorted by size:               Total bytes: 64 (64B)
        3.0KiB( 43%);     4.0KiB; allocation 34: size 3.0KiB, preallocated-temp:
    cumulative_size;       size;       offset; used_by_n_values; shapes_list
       2.0KiB( 51%);     2.0KiB;            0;                2; f32[16,32], u32[4]

Only totals and offsets are exact; sizes are printed to one or two decimals. Values are
grouped by offset, so a cumulative size may exceed that of the allocation. XLA
`buffer_assignment.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.ingest.formats.scan import human_bytes, is_balanced
from hlodb.ingest.formats.sections import BYTES, NUMBER, SHOWN, snippet
from hlodb.ingest.records import MOST, Reject, Tally, Unclaimed

_HUMAN = r"[0-9]{1,6}(?:\.[0-9]{1,2})?(?:B|[KMGTPE]iB)"
_SHARE = rf"\s*+{_HUMAN}\( *+(?:[0-9]{{1,9}}|-?nan|-?inf)%\);\s*+"
_HEADINGS = re.compile(
    r"Allocations sorted by size(?: with their values)?:|\s*-+"
    r"|cumulative_size; total_size - cumulative_size; allocation"
)


class ReportSpace(NamedTuple):
    """The exact total of one memory space, known by number: its name may mislead."""

    color: int
    total_bytes: int


class ReportAllocation(NamedTuple):
    """One line of the list of allocations.

    The proto prints no text, so its sizes are exact, and tells the memory space.
    """

    allocation_id: int
    size_text: str
    size_bytes: int
    color: int | None = None


class ReportTable(NamedTuple):
    """The values of one allocation, which is known by number until 2026-03 only.

    An allocation of a single value has a table without rows until then.
    """

    table: int
    color: int | None
    allocation_id: int | None


class ReportRow(NamedTuple):
    """The values at one offset: how many, their largest size and their shapes."""

    table: int
    offset_bytes: int
    value_count: int
    shapes: str
    size_text: str
    size_bytes: int


@dataclass(slots=True)
class MemoryReport:
    """A report of either form; `*_bytes` beside a text is that text, so it is rounded.

    `total_bytes` is printed until 2026-03, `spaces` since.
    """

    total_bytes: int | None = None
    spaces: list[ReportSpace] = field(default_factory=list)
    allocations: list[ReportAllocation] = field(default_factory=list)
    allocations_not_shown: int = 0
    tables: list[ReportTable] = field(default_factory=list)
    rows: list[ReportRow] = field(default_factory=list)

    @property
    def has_sizes(self) -> bool:
        """Return whether anything was read: a total or an allocation."""
        return self.total_bytes is not None or bool(self.spaces or self.allocations)


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A memory-usage report, and what of it no record holds."""

    report: MemoryReport
    rejects: list[Reject] = field(default_factory=Tally)
    unclaimed: list[Unclaimed] = field(default_factory=Tally)
    lines_total: int = 0


def parse_memory_report(text: str) -> ParsedReport:
    """Read a memory-usage report of any release; no text makes it fail."""
    lines = text.replace("\r\n", "\n").split("\n")
    # A last line without a line break may have been cut anywhere.
    last = len(lines) if lines[-1] else 0
    lines = lines if last else lines[:-1]
    parsed = ParsedReport(MemoryReport(), lines_total=len(lines))
    reading = _Reading(parsed.report)
    for number, line in enumerate(lines, 1):
        is_cut = number == last and not is_balanced(line)
        if not is_cut and reading.take(line):
            continue
        if number == last or ";" in line:
            parsed.rejects.append(_reject(number, line, is_cut=number == last))
        else:
            parsed.unclaimed.append(Unclaimed(number, line[:SHOWN]))
    return parsed


def _reject(number: int, line: str, is_cut: bool) -> Reject:
    if is_cut:
        code, message = "truncated", "the text breaks off; everything before was read"
    else:
        code, message = "malformed", "expected a row of sizes, within its table"
    return Reject(number, 1, "memory report", code, message, snippet(line))


class _Reading:
    """A report as far as it was read, and where in it the next line stands."""

    def __init__(self, report: MemoryReport) -> None:
        self.report = report
        self.space: ReportSpace | None = None
        self.has_heading = False

    def take(self, line: str) -> bool:
        """Take a line into the report; tell whether it fits where it stands."""
        if not line.strip() or _HEADINGS.fullmatch(line):
            return True
        for pattern, take in _LINES:
            if match := pattern.fullmatch(line):
                return take(self, match)
        return False


def _take_row(reading: _Reading, match: re.Match[str]) -> bool:
    size, offset, count, shapes = match.groups()
    report = reading.report
    size_bytes = human_bytes(size)
    if reading.has_heading and size_bytes <= MOST:
        table = len(report.tables) - 1
        report.rows.append(
            ReportRow(table, int(offset), int(count), shapes, size, size_bytes)
        )
    return reading.has_heading and size_bytes <= MOST


def _take_heading(reading: _Reading, match: re.Match[str]) -> bool:
    tables = reading.report.tables
    if reading.space:
        tables.append(ReportTable(len(tables), reading.space.color, None))
    reading.has_heading = bool(tables)
    return reading.has_heading


def _take_head(reading: _Reading, match: re.Match[str]) -> bool:
    tables = reading.report.tables
    tables.append(ReportTable(len(tables), None, int(match[1])))
    reading.has_heading = False
    return True


def _take_allocation(reading: _Reading, match: re.Match[str]) -> bool:
    number, size = match.groups()
    allocation = ReportAllocation(int(number), size, human_bytes(size))
    if allocation.size_bytes > MOST:
        return False
    reading.report.allocations.append(allocation)
    return True


def _take_space(reading: _Reading, match: re.Match[str]) -> bool:
    reading.space = ReportSpace(int(match[1]), 0)
    reading.has_heading = False
    return True


def _take_space_total(reading: _Reading, match: re.Match[str]) -> bool:
    if reading.space:
        space = reading.space._replace(total_bytes=int(match[1]))
        reading.report.spaces.append(space)
    return bool(reading.space)


def _take_total(reading: _Reading, match: re.Match[str]) -> bool:
    reading.report.total_bytes = int(match[1])
    return True


def _take_rest(reading: _Reading, match: re.Match[str]) -> bool:
    if match[2] == "values":
        return reading.has_heading
    reading.report.allocations_not_shown = int(match[1])
    return True


_LINES: tuple[
    tuple[re.Pattern[str], Callable[[_Reading, re.Match[str]], bool]], ...
] = (
    (
        re.compile(rf"{_SHARE}({_HUMAN});\s*+({BYTES});\s*+({NUMBER});\s*+(.*)"),
        _take_row,
    ),
    (re.compile(rf"allocation ({NUMBER}): size {_HUMAN}.*:"), _take_head),
    (
        re.compile(rf"{_SHARE}[^;]+; allocation ({NUMBER}): size ({_HUMAN}).*:"),
        _take_allocation,
    ),
    (
        re.compile(
            r"\s+cumulative_size;\s+size;\s+offset;\s+used_by_n_values;\s+shapes_list"
        ),
        _take_heading,
    ),
    (re.compile(rf"Memory Space: .* \(color=(-?{NUMBER})\)"), _take_space),
    (re.compile(rf"Total bytes: ({BYTES})(?: \(.*\))?"), _take_space_total),
    (re.compile(rf"Total bytes used: ({BYTES})(?: \(.*\))?"), _take_total),
    (
        re.compile(
            rf"\s*The rest ({NUMBER}) (allocations|values) are less than [0-9]+%"
            r" of the total size and not shown\."
        ),
        _take_rest,
    ),
)

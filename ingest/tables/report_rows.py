"""Memory-usage reports → rows of the evidence tables, in an order of their own.

Equal modules may print equal rows in varying order, so rows are sorted here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from hlodb.ingest.arrow import Columns
from hlodb.ingest.formats.memory_reports.memory_report import (
    MemoryReport,
    ReportAllocation,
    ReportRow,
    ReportTable,
)

_Table = tuple[ReportTable, list[ReportRow]]


def add_report(
    module_id: int, reports: Sequence[MemoryReport], tables: Mapping[str, Columns]
) -> None:
    """Add the rows of one module's report, which may come as text, proto or both.

    Of totals and allocations the first report that has any counts, so the exact one
    goes first; values come from the first one that lists them.
    """
    _add_totals(module_id, reports, tables["memory_reports"])
    _add_allocations(module_id, reports, tables["memory_report_allocations"])
    _add_values(module_id, reports, tables["memory_report_values"])


def _add_totals(
    module_id: int, reports: Sequence[MemoryReport], table: Columns
) -> None:
    rows: list[tuple[int | None, int]] = []
    hidden = 0
    for report in reports:
        hidden = max(hidden, report.allocations_not_shown)
        if not rows and report.total_bytes is not None:
            rows = [(None, report.total_bytes)]
        rows = rows or sorted((s.color, s.total_bytes) for s in report.spaces)
    table.add(
        len(rows),
        module_id=module_id,
        color=[color for color, _ in rows],
        total_bytes=[total for _, total in rows],
        hidden_count=hidden,
    )


def _add_allocations(
    module_id: int, reports: Sequence[MemoryReport], table: Columns
) -> None:
    listed = next((r.allocations for r in reports if r.allocations), [])
    rows = sorted(listed, key=_allocation_order)
    table.add(
        len(rows),
        module_id=module_id,
        allocation_id=[a.allocation_id for a in rows],
        color=[a.color for a in rows],
        size_bytes=[a.size_bytes for a in rows],
        size_text=[a.size_text or None for a in rows],
    )


def _allocation_order(allocation: ReportAllocation) -> int:
    return allocation.allocation_id


def _add_values(
    module_id: int, reports: Sequence[MemoryReport], table: Columns
) -> None:
    report = next((r for r in reports if r.rows), MemoryReport())
    for number, (owner, rows) in enumerate(sorted(_tables(report), key=_table_order)):
        table.add(
            len(rows),
            module_id=module_id,
            table_number=number,
            color=owner.color,
            allocation_id=owner.allocation_id,
            offset_bytes=[r.offset_bytes for r in rows],
            value_count=[r.value_count for r in rows],
            size_bytes=[r.size_bytes for r in rows],
            size_text=[r.size_text for r in rows],
            shapes=[r.shapes for r in rows],
        )


def _tables(report: MemoryReport) -> list[_Table]:
    """Return each table with its rows by offset."""
    rows: dict[int, list[ReportRow]] = defaultdict(list)
    for row in report.rows:
        rows[row.table].append(row)
    return [
        (owner, sorted(rows[owner.table], key=_row_order)) for owner in report.tables
    ]


def _row_order(row: ReportRow) -> tuple[int, str]:
    return row.offset_bytes, row.shapes


def _table_order(table: _Table) -> tuple[Any, ...]:
    owner, rows = table
    content = [row[1:] for row in rows]  # without their table
    return (owner.color or 0, owner.allocation_id or 0, content)

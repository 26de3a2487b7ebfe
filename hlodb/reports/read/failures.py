"""Reports of logs, joined where they are about one failure (oom_summary)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hlodb.reports.read.overview import Overview, Row, buffers_of

_OF_A_REPORT = frozenset({"path", "line", "ordinal", "rank", "message"})
"""Columns that are about a report alone, whatever others say."""


class Failure(NamedTuple):
    """What reports say together of one failure; the first of them says most.

    `row` has the columns of the first, and what it lacks from those that follow.
    """

    row: Row
    reports: Sequence[Row]


def joined(reports: Sequence[Row]) -> list[Failure]:
    """Return the failures that reports are about, in the order of their numbers."""
    of_number: dict[int, list[Row]] = {}
    for report in reports:
        of_number.setdefault(report["failure_number"], []).append(report)
    found = []
    for number in sorted(of_number):
        rows = sorted(of_number[number], key=lambda row: row["failure_place"])
        found.append(Failure(_together(rows), rows))
    return found


def listed_buffers(overview: Overview, failure: Failure) -> list[Row]:
    """Return the longest list of buffers that the reports of a failure have."""
    lists = [buffers_of(overview, report) for report in failure.reports]
    return max(lists, key=len, default=[])


def _together(rows: Sequence[Row]) -> Row:
    whole = dict(rows[0])
    for row in rows[1:]:
        for name, value in row.items():
            if whole[name] is None and name not in _OF_A_REPORT:
                whole[name] = value
    return whole

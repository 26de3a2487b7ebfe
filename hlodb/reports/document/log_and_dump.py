"""What a log and a dump beside it say of the same program, compared."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.read.overview import (
    MAIN_SPACE,
    Overview,
    Row,
    described_spaces,
    failures,
    memory_spaces,
    rows_of,
)
from hlodb.text import plain_bytes

_PARTS = (
    ("parameter_bytes", "arguments"),
    ("live_out_bytes", "results"),
    ("constant_bytes", "constants"),
)
"""Parts of the reserved bytes that messages may leave out."""

_SAME_RATIO = 0.01
"""Figures of a log and a dump that differ by less are not worth a sentence."""


def space_of(overview: Overview, report: Row) -> Row | None:
    """Return the memory space of the dump that a report is about.

    A report that names no program is about the one that the compiler refused.
    """
    program = report["program"] or refused(overview)
    named = (report["space_name"] or "").lower()
    own = [row for row in memory_spaces(overview) if row["program"] == program]
    if named:
        return next((r for r in own if r["space_name"].lower() == named), None)
    return next((row for row in own if row["color"] == MAIN_SPACE), None)


def stated_excess(overview: Overview, space: Row) -> int | None:
    """Return by how much a log says that a memory space is exceeded.

    None where no report has the figure, or counts something else than the dump.
    """
    reserved = space["reserved_bytes"]
    found = [
        report["over_bytes"]
        for report in failures(overview)
        if report["capacity_bytes"] is not None
        and (report["over_bytes"] or 0) > 0
        and abs((report["needed_bytes"] or 0) - reserved) < _SAME_RATIO * reserved
        and space_of(overview, report) == space
    ]
    return found[0] if found else None


def refused(overview: Overview) -> str | None:
    """Return the program of a dump that the compiler refused, if it is one alone."""
    rows = overview.answers["headroom"]
    names = {row["program"] for row in rows if row["is_refused"]}
    return names.pop() if len(names) == 1 else None


def is_one_buffer(report: Row) -> bool:
    """Return whether a message is about one buffer, larger than the memory."""
    return bool(
        report["form"] == "program_memory"
        and report["capacity_bytes"] is not None
        and report["buffer_count"] == 1
        and report["requested_bytes"] == report["needed_bytes"]
        and report["requested_bytes"] == report["largest_bytes"]
    )


def parts_left_out(report: Row, space: Row) -> list[tuple[str, int]]:
    """Return the parts of a dump that make up what a report says less.

    Nothing unless they add up, within the two digits that a message prints.
    """
    needed, reserved = report["needed_bytes"], space["reserved_bytes"]
    if needed is None or reserved - needed < _SAME_RATIO * reserved:
        return []
    parts = [
        (name, space[column])
        for column, name in _PARTS
        if space.get(column) and not report.get(column)
    ]
    unit = 1
    while unit * 1024 <= needed:
        unit *= 1024
    gap = reserved - needed
    for count in range(1, len(parts) + 1):
        said = parts[:count]
        if abs(gap - sum(size for _, size in said)) <= unit / 200:
            return said
    return []


def is_told_better_below(
    overview: Overview, space: Row, most: int, buffers: Sequence[Row]
) -> bool:
    """Return whether the dump knows other lines of what a message lists.

    Who computed what a loop stores is known from the dump; a message has the loop's
    own line. `most` programs are described.
    """
    if not buffers or space not in described_spaces(overview, most).values():
        return False
    shape, *line = (buffers[0][name] for name in _LINE)
    known = [
        [row[name] for name in _LINE[1:]]
        for row in rows_of(overview, "peak_contents", space)
        if row["shape"] == shape
    ]
    return bool(known) and line not in known


_LINE = ("shape", "source_file", "source_line")


def compared_figures(report: Row, space: Row) -> str | None:
    """Return how the figures of a log and its dump differ; None where they agree."""
    needed, reserved = report["needed_bytes"], space["reserved_bytes"]
    if report["form"] != "program_memory" or needed is None or not reserved:
        return None
    if is_one_buffer(report) or abs(reserved - needed) < _SAME_RATIO * reserved:
        return None
    said, dumped = plain_bytes(needed), plain_bytes(reserved)
    if parts := parts_left_out(report, space):
        names = " and ".join(f"{name} ({plain_bytes(size)})" for name, size in parts)
        return (
            f"The message leaves out {names}: with them its {said} are the {dumped}"
            " that the dump reserves."
        )
    return f"The message counts {said}, the dump reserves {dumped}."


def without_arguments(report: Row) -> str | None:
    """Return that a message counts no arguments; None where it counts some."""
    if report["form"] != "program_memory" or report["parameter_bytes"] != 0:
        return None
    return "The message counts 0 B of arguments: any that the program has come on top."

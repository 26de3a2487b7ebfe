"""Reports of logs as sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlodb.reports.document.log_and_dump import is_one_buffer
from hlodb.reports.read.overview import Row
from hlodb.text import counted, plain_bytes

_LAYOUT = re.compile(r"\{[^}]*\}")


def _space(row: Row) -> str | None:
    """Return the memory space of a report; messages write HBM in small letters, too."""
    space: str | None = row["space_name"]
    return "HBM" if space == "hbm" else space


def sentence(row: Row, program: str | None = None, buffers: Sequence[Row] = ()) -> str:
    """Return a report as a sentence; `program` is meant where it names none.

    `buffers` are those that it lists.
    """
    who = row["program"] or program or "a program"
    special = _SENTENCES.get(row["form"])
    if special is not None:
        return special(row, who)
    space = _space(row)
    failed = f"{who} ran out of {_SPACES.get(space, f'memory in {space}')}"
    what = f" ({row['operation']})" if row["operation"] else ""
    if row["needed_bytes"] is None:
        if row["over_bytes"] is not None:
            return f"{failed}{what}: it needs {plain_bytes(row['over_bytes'])} too much"
        return f"{failed}{what}; {_without_total(row)}"
    if row["form"] == "allocation":
        size = plain_bytes(row["requested_bytes"])
        return f"{failed}: a request for {size}{what} failed{_why(row)}"
    needed = plain_bytes(row["needed_bytes"])
    if is_of_request(row):
        size = plain_bytes(row["requested_bytes"])
        return f"{failed}: a request for {size} failed{_why(row)}"
    if is_one_buffer(row):
        shape = next((each["shape"] for each in buffers if each["shape"]), None)
        which = f"{_LAYOUT.sub('', shape)}, " if shape else ""
        capacity = plain_bytes(row["capacity_bytes"])
        return f"{failed}: one buffer alone, {which}{needed}, exceeds {capacity}"
    if row["capacity_bytes"] is None:
        if _is_of_temporaries(row):
            return f"{failed}: its temporaries alone are {needed}"
        if _is_above_limit(row):
            limit = plain_bytes(limit_of(row))
            return f"{failed}: it needs {needed}; the limit is {limit}"
        return f"{failed}: it needs {needed}"
    of = f"it needs {needed} of {plain_bytes(row['capacity_bytes'])}"
    if row["over_bytes"] <= 0:
        # Both are printed to three digits.
        return f"{failed}: {of} as rounded"
    return f"{failed}: {of}, {plain_bytes(row['over_bytes'])} too much"


def limit_of(row: Row) -> int | None:
    """Return the memory that an allocator may use, else that of the device."""
    limit: int | None = row["limit_bytes"]
    return row["device_bytes"] if limit is None else limit


def is_of_request(row: Row) -> bool:
    """Return whether the request explains more than the total of the program.

    The total, which is known, fits the memory; the state of memory is known, too.
    """
    return bool(
        row["form"] == "buffer_assignment"
        and row["requested_bytes"]
        and row["free_bytes"] is not None
        and not _is_above_limit(row)
    )


def _is_above_limit(row: Row) -> bool:
    limit = limit_of(row)
    return limit is not None and row["needed_bytes"] > limit


def _is_of_temporaries(row: Row) -> bool:
    """Return whether a report counts neither arguments nor results."""
    return bool(
        row["form"] == "program_memory"
        and row["needed_bytes"] == row["temp_bytes"]
        and not row["parameter_bytes"]
        and not row["live_out_bytes"]
    )


_SPACES = {
    None: "memory",
    "host": "host memory",
    "shared": "the shared memory of a GPU kernel",
}
"""How memory spaces are called whose name alone is no memory's."""


def _without_total(row: Row) -> str:
    """Return what a message without a total says of sizes."""
    if not row["listed_bytes"]:
        return "hlodb reads no size in the message"
    verb = "takes" if row["buffer_count"] == 1 else "take"
    return (
        f"the message names no total, the {counted(row['buffer_count'], 'buffer')}"
        f" that it lists {verb} {plain_bytes(row['listed_bytes'])}"
    )


def _why(row: Row) -> str:
    """Return why a request failed, as far as the state of memory shows it."""
    free = plain_bytes(row["free_bytes"])
    limit = limit_of(row)
    of = "" if limit is None else f" of {plain_bytes(limit)}"
    if row["cause"] == "too_large":
        if row["limit_bytes"] is not None:
            return f"; the allocator may use {plain_bytes(row['limit_bytes'])} in all"
        return f"; the device has {plain_bytes(row['device_bytes'])} in all"
    if row["cause"] == "fragmentation":
        piece = plain_bytes(row["largest_free_bytes"])
        return f" by fragmentation; {free} are free, the largest piece is {piece}"
    if row["cause"] == "pool":
        device = plain_bytes(row["device_free_bytes"])
        return (
            f"; the allocator has {free} left of its pool, though {device} of the"
            " device are free"
        )
    if row["cause"] == "shortage":
        return f"; {free}{of} were free"
    if is_of_request(row):
        return f", though {free}{of} were free"
    return ""


def _left_over(row: Row, who: str) -> str:
    return (
        f"XLA recomputed what it could of {who}:"
        f" {plain_bytes(row['needed_bytes'])} are left, of"
        f" {plain_bytes(row['capacity_bytes'])} that it wanted"
    )


def _arguments(row: Row, who: str) -> str:
    return (
        f"arguments and results of {who} take {plain_bytes(row['parameter_bytes'])},"
        f" more than the limit of {plain_bytes(row['capacity_bytes'])} that XLA plans"
        " with: it cannot recompute them"
    )


def _usage(row: Row, who: str) -> str:
    of = f"{plain_bytes(row['needed_bytes'])} of {plain_bytes(row['capacity_bytes'])}"
    space = f" in {_space(row)}" if row["space_name"] else ""
    if row["has_failed"]:
        over = plain_bytes(row["over_bytes"])
        return f"{who} ran out of memory{space}: it needs {of}, {over} too much"
    return f"{who} needs {of}{space}"


def _mismatch(row: Row, who: str) -> str:
    return (
        f"{who} was given a buffer of another size than the"
        f" {plain_bytes(row['requested_bytes'])} of its parameter: another shape or"
        " layout, no lack of memory"
    )


def _offload(row: Row, who: str) -> str:
    return (
        f"a result of {who} is in host memory, where its layout wants device memory: no"
        " lack of memory"
    )


def _optional(row: Row, who: str) -> str:
    return (
        f"an allocator had no {plain_bytes(row['requested_bytes'])} for {who}, whose"
        " request says that it goes on without them: no failure by itself"
    )


def _killed(row: Row, who: str) -> str:
    held = row["needed_bytes"]
    size = f", which held {plain_bytes(held)}" if held is not None else ""
    killed = row["operation"] or "a process"
    return f"the system ran out of host memory and killed {killed}{size}"


_SENTENCES = {
    "rematerialization": _left_over,
    "argument_limit": _arguments,
    "program_usage": _usage,
    "allocation_warning": _optional,
    "input_mismatch": _mismatch,
    "host_offload": _offload,
    "killed": _killed,
}

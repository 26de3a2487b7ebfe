"""The four figures on top of a page of `hlodb explain`."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.document.explanation import called, limit_of, line_of
from hlodb.reports.document.tiles import Tile, anchor
from hlodb.reports.read.capacity import limit_words
from hlodb.reports.read.overview import (
    Overview,
    Row,
    described_spaces,
    failures,
    memory_spaces,
    rows_of,
)
from hlodb.text import counted, plain_bytes, plain_percent

_VERDICTS = {"oom": "too large", "warn": "nearly full", "ok": "fits"}


def tiles(overview: Overview) -> list[Tile]:
    """Return verdict, largest holder, headroom, and the peak in its schedule."""
    spaces = memory_spaces(overview)
    if not spaces:
        return [_verdict(overview, [])]
    title, first = next(iter(described_spaces(overview, 1).items()), ("", spaces[0]))
    target = anchor(title) if title else None
    return [
        _verdict(overview, spaces),
        _holder(overview, first, target),
        _headroom(spaces),
        _peak(overview, first, target),
    ]


def _verdict(overview: Overview, spaces: Sequence[Row]) -> Tile:
    if reports := failures(overview):
        text = f"by {counted(len(reports), 'report')} of a log"
        return Tile("Verdict", "out of memory", text, "out-of-memory")
    programs = {row["program"] for row in spaces}
    statuses = {row["status"] for row in spaces}
    worst = next((each for each in _VERDICTS if each in statuses), None)
    value = _VERDICTS[worst] if worst else "not judged"
    text = counted(len(programs), "program")
    if worst is None:
        text += ", no limit of the device is known"
    return Tile("Verdict", value, text, "programs" if len(spaces) > 1 else None)


def _holder(overview: Overview, space: Row, target: str | None) -> Tile:
    buffers = rows_of(overview, "peak_contents", space)
    if not buffers:
        text = f"{space['program']} {space['space_name']}"
        size = plain_bytes(space["reserved_bytes"])
        return Tile("Largest program", size, text, target)
    row = max(buffers, key=lambda row: row["owned_bytes"])
    where = f", {line}" if (line := line_of(row)) else ""
    text = f"{called(row)} of {space['program']}{where}"
    return Tile("Largest buffer", plain_bytes(row["owned_bytes"]), text, target)


def _headroom(spaces: Sequence[Row]) -> Tile:
    if refused := [row for row in spaces if row["is_refused"]]:
        names = sorted({row["program"] for row in refused})
        return Tile("Headroom", "refused", f"by the compiler: {names[0]}", "refused")
    limited = [row for row in spaces if row["headroom_ratio"] is not None]
    if not limited:
        return Tile("Headroom", "unknown", "no limit of the device is known", None)
    row = min(limited, key=lambda row: row["headroom_ratio"])
    text = (
        f"{row['program']} {row['space_name']}: {plain_bytes(row['reserved_bytes'])}"
        f" of {limit_words(limit_of(row))}"
    )
    return Tile("Headroom", plain_percent(row["headroom_ratio"]), text, None)


def _peak(overview: Overview, space: Row, target: str | None) -> Tile:
    stretches = rows_of(overview, "live_timeline", space)
    if space.get("peak_step") is None or not stretches:
        return Tile("Live peak", "unknown", "no live ranges in the dump", target)
    last = max(row["to_step"] for row in stretches)
    text = f"{space['program']}: step {space['peak_step']:,} of {last:,}"
    size = plain_bytes(space["live_peak_bytes"])
    return Tile("Live peak", size, text, target)

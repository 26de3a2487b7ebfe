"""Says in words and figures what a map of arenas shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hlodb.reports.model.arenas import (
    ALONE,
    NOW,
    STATUSES,
    Arena,
    ArenaMap,
    MappedValue,
    PlacedValue,
    ValueFacts,
)
from hlodb.reports.outline.blocks import Table, table
from hlodb.reports.outline.escape import middle_cut
from hlodb.text import counted, plain_bytes

MOST_ROWS = 100
_LONGEST_NAME = 80


def sentence(arenas: ArenaMap, who: str) -> str:
    """Return a sentence on how full the arenas of a finding are, and their news."""
    alone = "program" if arenas.is_alone else "candidate"
    both = (("base", arenas.base), (alone, arenas.candidate))
    free = "; ".join(_state(name, arena) for name, arena in both if arena is not None)
    parts = (
        f"{who}: when most temporary memory is live, {free}.",
        _changes(arenas),
        _left_out(arenas),
    )
    return " ".join(part for part in parts if part)


def head(name: str, arena: Arena) -> str:
    """Return `base: arena of 4.00 MiB, 12.5 % free at step 17 (dashed)`."""
    size = plain_bytes(arena.size_bytes)
    free = f"{_free(arena)} free at step {arena.peak_step:,} (dashed)"
    return f"{name}: arena of {size}, {free}"


def value_text(value: MappedValue, placed: PlacedValue) -> str:
    """Return `larger by 2.00 MiB: fusion.3, 4.00 MiB at 1.00 MiB, step 12 to 40; …`.

    What follows are shape, role, source line and readers, as far as they are known.
    """
    base, candidate = value.base, value.candidate
    delta = candidate.size_bytes - base.size_bytes if base and candidate else 0
    change = f" by {plain_bytes(abs(delta))}" if delta else ""
    fate = "" if value.status == ALONE else f"{value.status}{change}: "
    return "; ".join([f"{fate}{words_of(placed)}", *_described(placed.facts)])


def _described(facts: ValueFacts | None) -> Iterator[str]:
    if facts is None:
        return
    if facts.shape:
        yield _cut(facts.shape)
    if facts.role:
        yield facts.role.replace("_", " ")
    if facts.line:
        yield f"{'first read' if facts.is_read else 'defined'} at {facts.line}"
    if facts.readers:
        rest = facts.reader_count - len(facts.readers)
        more = f" and {rest:,} more" if rest else ""
        yield f"read by {', '.join(map(_cut, facts.readers))}{more}"


def _cut(name: str) -> str:
    """Return a name or shape, without its middle where it is very long."""
    return middle_cut(name, _LONGEST_NAME)


def words_of(placed: PlacedValue) -> str:
    """Return `fusion.3, 4.00 MiB at 1.00 MiB, step 12 to 40`."""
    place = f"{plain_bytes(placed.size_bytes)} at {plain_bytes(placed.offset_bytes)}"
    return f"{_name(placed)}, {place}, step {_steps(placed)}"


def figures_of(arenas: ArenaMap) -> Table:
    """Return the place of every value on both sides; what one lacks is left open."""
    if arenas.is_alone:
        cells = [_cells(value.candidate) for value in arenas.values]
        header = ["value", "bytes", "at byte", "steps"]
        return table(header, cells, MOST_ROWS, numeric=(1, 2, 3))
    rows = [[v.status, *_cells(v.base), *_cells(v.candidate)] for v in arenas.values]
    side = ["bytes", "at byte", "steps"]
    header = ["", "base", *side, "candidate", *side]
    return table(header, rows, MOST_ROWS, numeric=(2, 3, 4, 6, 7, 8))


def _state(name: str, arena: Arena) -> str:
    which = "" if arena.arena_count == 1 else f" (the largest of {arena.arena_count})"
    place = f"of the arena of {plain_bytes(arena.size_bytes)}{which}"
    return f"{_free(arena)} {place} is free in the {name}, at step {arena.peak_step:,}"


def _free(arena: Arena) -> str:
    share = (arena.size_bytes - arena.live_bytes) / arena.size_bytes
    return f"{100 * share:.1f} %"


def _changes(arenas: ArenaMap) -> str:
    """Return the counts of values by status, how they are known, and the largest."""
    counts = Counter(value.status for value in arenas.values)
    if arenas.base is None or arenas.candidate is None:
        return ""
    kinds = ", ".join(f"{counts[s]:,} {s}" for s in STATUSES if counts[s])
    text = f"Values drawn: {kinds}"
    for status in ("new", NOW):
        now = [v.candidate for v in arenas.values if v.status == status and v.candidate]
        if now:
            text += f"; the largest {status} is {words_of(max(now, key=_size))}"
    how = "by instruction, operation, framework path or shape"
    return f"{text}. Base and candidate are matched {how}."


def _left_out(arenas: ArenaMap) -> str:
    """Return how many values are too small to be drawn, and their share."""
    base = [v.base for v in arenas.values if v.base is not None]
    candidate = [v.candidate for v in arenas.values if v.candidate is not None]
    said = []
    for name, arena, drawn in (
        ("base", arenas.base, base),
        ("candidate", arenas.candidate, candidate),
    ):
        if arena is not None and arena.value_count > len(drawn):
            count = counted(arena.value_count - len(drawn), "smaller value")
            share = 1 - sum(placed.byte_steps for placed in drawn) / arena.byte_steps
            part = f"{100 * share:.2f} % of its bytes times steps"
            said.append(f"{count} of the {name} ({part})")
    return f"Left out are {' and '.join(said)}." if said else ""


def _cells(placed: PlacedValue | None) -> list[str]:
    if placed is None:
        return [""] * 4
    sizes = plain_bytes(placed.size_bytes), plain_bytes(placed.offset_bytes)
    return [_name(placed), *sizes, _steps(placed)]


def _name(placed: PlacedValue) -> str:
    # Names may be of any length, and a page has hundreds of them twice.
    return middle_cut(placed.instruction or "-", _LONGEST_NAME)


def _steps(placed: PlacedValue) -> str:
    return f"{placed.start_step:,} to {placed.end_step:,}"


def _size(placed: PlacedValue) -> int:
    return placed.size_bytes

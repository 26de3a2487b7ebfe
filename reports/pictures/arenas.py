"""Reads where the values of arenas lie, of the findings that are drawn.

The query `matched_buffers` matches values as it matches the buffers at the peak, but
over the whole schedule: what is new at the peak may have been live at other steps, and
then is `at peak now`. Only one rule is stricter: of values that have nothing but their
size in common, the one is gone and the other is new. A map is to show what is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.compare.pairs import Verdict
from hlodb.reports.compare.read import rows
from hlodb.reports.model.arenas import (
    BEFORE,
    NOW,
    STATUSES,
    Arena,
    ArenaMap,
    MappedValue,
    PlacedValue,
)
from hlodb.reports.model.findings import Finding
from hlodb.reports.pictures.curves import drawn_verdicts
from hlodb.schema.connection import Connection

_SAME_SIZE = "size"

MOST_VALUES = 250
"""How many values of an arena are drawn; what they are matched with is drawn, too."""


class _Side(NamedTuple):
    """An arena, and where the warehouse has it."""

    module_id: int
    allocation_id: int
    arena: Arena


_Pair = tuple[PlacedValue | None, PlacedValue | None]
_Sides = Mapping[tuple[int, bool], _Side]


def read_arena_maps(
    connection: Connection,
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding],
) -> list[ArenaMap]:
    """Return the maps of the findings that are drawn, where live ranges are known."""
    shown = drawn_verdicts(verdicts, findings)
    sides = _sides(connection, shown)
    pairs_of = _pairs(connection, sides)
    maps = []
    for number, (finding, _) in enumerate(shown):
        base, candidate = ((number, False), (number, True))
        if base in sides or candidate in sides:
            arenas = _arena(sides, base), _arena(sides, candidate)
            pairs = pairs_of[number]
            mapped = [MappedValue(_status(*arenas, *pair), *pair) for pair in pairs]
            mapped.sort(key=_changed_first)
            maps.append(ArenaMap(finding.id, *arenas, mapped))
    return maps


def _arena(sides: _Sides, key: tuple[int, bool]) -> Arena | None:
    return sides[key].arena if key in sides else None


def _sides(connection: Connection, shown: Sequence[tuple[Finding, Verdict]]) -> _Sides:
    wanted = [
        (number, module.module_id, finding.color, is_candidate)
        for number, (finding, verdict) in enumerate(shown)
        for is_candidate, module in enumerate(verdict.pair[:2])
        if module is not None
    ]
    if not wanted:
        return {}
    found = rows(
        connection,
        "arenas",
        maps=[number for number, *_ in wanted],
        modules=[module_id for _, module_id, *_ in wanted],
        colors=[color for *_, color, _ in wanted],
        candidates=[bool(is_candidate) for *_, is_candidate in wanted],
    )
    return {
        (number, is_candidate): _Side(module_id, allocation_id, Arena(*arena))
        for number, is_candidate, module_id, allocation_id, *arena in found
    }


def _pairs(connection: Connection, sides: _Sides) -> dict[int, list[_Pair]]:
    """Return every value once, with what it is matched with, by number of the map."""
    numbers = sorted({number for number, _ in sides})
    found: dict[int, list[_Pair]] = {number: [] for number in numbers}
    if not numbers:
        return found
    bases = [sides.get((number, False)) for number in numbers]
    candidates = [sides.get((number, True)) for number in numbers]
    asked: dict[str, Any] = {
        "base_ids": [side and side.module_id for side in bases],
        "candidate_ids": [side and side.module_id for side in candidates],
        "base_arenas": [side and side.allocation_id for side in bases],
        "candidate_arenas": [side and side.allocation_id for side in candidates],
        "most": MOST_VALUES,
    }
    for row in run_query(connection, "matched_buffers", asked).dicts():
        pairs = found[numbers[row["pair"] - 1]]
        base, candidate = _placed(row, "base"), _placed(row, "candidate")
        if row["method"] == _SAME_SIZE:
            pairs += [(base, None), (None, candidate)]
        else:
            pairs.append((base, candidate))
    return found


def _status(
    base_arena: Arena | None,
    candidate_arena: Arena | None,
    base: PlacedValue | None,
    candidate: PlacedValue | None,
) -> str:
    if base is None or base_arena is None:
        return "new"
    if candidate is None or candidate_arena is None:
        return "gone"
    if base.size_bytes != candidate.size_bytes:
        return "larger" if candidate.size_bytes > base.size_bytes else "smaller"
    is_before = base.lives_at(base_arena.peak_step)
    is_now = candidate.lives_at(candidate_arena.peak_step)
    if is_before == is_now:
        return "same"
    return NOW if is_now else BEFORE


def _placed(row: Mapping[str, Any], side: str) -> PlacedValue | None:
    if row[f"{side}_place"] is None:
        return None
    name = (row[f"{side}_instruction"] or "") + (row[f"{side}_shape_index"] or "")
    fields = ("offset_bytes", "bytes", "start_step", "end_step")
    return PlacedValue(name, *(row[f"{side}_{field}"] for field in fields))


def _changed_first(value: MappedValue) -> tuple[int, int, str, int, int]:
    placed = value.candidate or value.base
    assert placed is not None
    covered = max(p.byte_steps for p in (value.base, value.candidate) if p is not None)
    order = STATUSES.index(value.status), -covered, placed.instruction
    return *order, placed.start_step, placed.offset_bytes

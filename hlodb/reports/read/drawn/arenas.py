"""Read the maps of memory: where and when values lie in the arena, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import (
    UNKNOWN,
    Answered,
    Module,
    Place,
    read_sources,
    rows,
)
from hlodb.reports.read.pairs import Drawn, Verdict
from hlodb.schema.connection import Connection

ALONE = "live"
"""Values of a program that is compared with none."""

NOW, BEFORE = "at peak now", "at peak before"
"""Values of equal size that live at the peak of one side only."""

STATUSES = ("new", "larger", NOW, "gone", "smaller", BEFORE, "same", ALONE)
"""The fates of a value, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """What a value is: `role` is known of those at the peak.

    `line` is FILE:LINE where it is defined, or read where `is_read`; `readers` are the
    first of `reader_count` instructions that read it.
    """

    shape: str | None
    role: str | None
    line: str | None
    is_read: bool
    readers: tuple[str, ...]
    reader_count: int

    @property
    def element_type(self) -> str | None:
        """The type of its elements; None of a tuple."""
        name, bracket, _ = (self.shape or "").partition("[")
        return name if bracket and name.isalnum() else None


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value of an arena; it lives from `start_step` through `end_step`."""

    instruction: str
    offset_bytes: int
    size_bytes: int
    start_step: int
    end_step: int
    facts: ValueFacts | None = field(default=None, compare=False)

    def lives_at(self, step: int) -> bool:
        """Return whether it is live at a step."""
        return self.start_step <= step <= self.end_step

    @property
    def byte_steps(self) -> int:
        """How much of the map it covers."""
        return self.size_bytes * (self.end_step - self.start_step + 1)


@dataclass(frozen=True, slots=True)
class MappedValue:
    """A value of base, candidate or both; `status` is one of STATUSES."""

    status: str
    base: PlacedValue | None
    candidate: PlacedValue | None


@dataclass(frozen=True, slots=True)
class Beside:
    """Memory beside an arena: an allocation, or the smaller ones of a `kind` together.

    `instruction` defines the largest value of a single one, which `facts` are of.
    """

    kind: str
    count: int
    size_bytes: int
    instruction: str | None = None
    start_step: int = 0
    facts: ValueFacts | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Arena:
    """The largest temporary allocation of one module in one memory space.

    `live_bytes` of it are live at `peak_step`, the first step of the most temporary
    memory of that space; `arena_count` is how many arenas the space has. Its values of
    any size are `value_count`, and cover `byte_steps` of the map. With what lies
    `beside` it, it is all that the program reserves there.
    """

    arena_count: int
    size_bytes: int
    live_bytes: int
    peak_step: int
    last_step: int
    value_count: int
    byte_steps: int
    beside: tuple[Beside, ...] = field(default=(), compare=False)

    @property
    def reserved_bytes(self) -> int:
        """All that the program reserves in the memory space."""
        return self.size_bytes + sum(each.size_bytes for each in self.beside)


@dataclass(frozen=True, slots=True)
class Owner:
    """A program of a run."""

    run: str
    program: str


@dataclass(frozen=True, slots=True)
class ArenaMap:
    """The arenas of a finding's base and candidate, and the values that are drawn.

    Owners are what a value of each side is asked of; `is_alone` where the candidate is
    compared with nothing.
    An arena is null where a side has none, or nothing is known of when its values live.
    """

    finding_id: str
    base: Arena | None
    candidate: Arena | None
    values: list[MappedValue]
    is_alone: bool = False
    base_owner: Owner | None = field(default=None, compare=False)
    candidate_owner: Owner | None = field(default=None, compare=False)


_MOST_READERS = 3


_READ = "read"


def read_value_facts(
    connection: Connection,
    shapes: Mapping[Place, str | None],
    answered: Answered | None = None,
) -> dict[Place, ValueFacts]:
    """Return the facts of values, whose shapes are known."""
    if not shapes:
        return {}
    sources = read_sources(connection, shapes.keys())
    places = sorted({(place.module_id, place.value_id) for place in shapes})
    modules, values = map(list, zip(*places, strict=True))
    found = rows(
        connection,
        "value_facts",
        answered,
        modules=modules,
        values=values,
        most=_MOST_READERS,
    )
    known = {(module_id, value_id): facts for module_id, value_id, *facts in found}
    described = {}
    for place, shape in shapes.items():
        role, readers, count = known[place.module_id, place.value_id]
        source = sources.get(place, UNKNOWN)
        line = None if source.file is None else f"{source.file}:{source.line}"
        is_read = source.attribution == _READ
        described[place] = ValueFacts(
            shape, role, line, is_read, tuple(readers or ()), count
        )
    return described


_SAME_SIZE = "size"


MOST_VALUES = 250
"""How many values of an arena are drawn; what they are matched with is drawn, too."""


MOST_BESIDE = 30
"""How many allocations beside an arena are drawn one by one."""


class Wanted(NamedTuple):
    """A map to read: its id, a memory space, and the modules of both sides."""

    id: str
    color: int
    base: Module | None
    candidate: Module | None
    runs: tuple[str | None, str | None]
    is_alone: bool = False


class _Side(NamedTuple):
    """An arena, and where the warehouse has it."""

    module: Module
    allocation_id: int
    arena: Arena


_Pair = tuple[PlacedValue | None, PlacedValue | None]


Facts = Mapping[Place, ValueFacts]


_Sides = Mapping[tuple[int, bool], _Side]


def read_arena_maps(
    connection: Connection,
    drawn: Iterable[Drawn],
) -> list[ArenaMap]:
    """Return the maps of what is drawn, where live ranges are known."""
    return read_maps(connection, [_wanted(*each) for each in drawn])


def _wanted(finding_id: str, verdict: Verdict, candidate_run: str) -> Wanted:
    pair = verdict.pair
    runs = pair.base_run and pair.base_run.name, candidate_run
    return Wanted(finding_id, verdict.color, pair.base, pair.candidate, runs)


def read_maps(
    connection: Connection,
    wanted: Sequence[Wanted],
    answered: Answered | None = None,
) -> list[ArenaMap]:
    """Return the maps that are wanted, where live ranges are known."""
    sides = _sides(connection, wanted)
    matched = _matched(connection, sides)
    beside = _read_beside(connection, wanted, sides)
    shapes = {row.place: row.shape for row in beside if row.place is not None}
    facts = read_value_facts(connection, _shapes(matched, sides) | shapes, answered)
    sides = _with_beside(sides, beside, facts)
    pairs_of = _pairs(sides, matched, facts)
    maps = []
    for number, each in enumerate(wanted):
        base, candidate = ((number, False), (number, True))
        if base in sides or candidate in sides:
            arenas = _arena(sides, base), _arena(sides, candidate)
            pairs = pairs_of[number]
            mapped = [
                MappedValue(ALONE if each.is_alone else _status(*arenas, *pair), *pair)
                for pair in pairs
            ]
            mapped.sort(key=_changed_first)
            owners = (
                _owner(run, module)
                for run, module in zip(
                    each.runs, (each.base, each.candidate), strict=True
                )
            )
            maps.append(ArenaMap(each.id, *arenas, mapped, each.is_alone, *owners))
    return maps


def _owner(run: str | None, module: Module | None) -> Owner | None:
    return Owner(run, module.program) if run is not None and module else None


def _arena(sides: _Sides, key: tuple[int, bool]) -> Arena | None:
    return sides[key].arena if key in sides else None


def _sides(connection: Connection, wanted: Sequence[Wanted]) -> _Sides:
    asked = [
        (number, each.color, is_candidate, module)
        for number, each in enumerate(wanted)
        for is_candidate, module in ((False, each.base), (True, each.candidate))
        if module is not None
    ]
    if not asked:
        return {}
    found = rows(
        connection,
        "arenas",
        maps=[number for number, *_ in asked],
        modules=[module.module_id for *_, module in asked],
        colors=[color for _, color, *_ in asked],
        candidates=[is_candidate for *_, is_candidate, _ in asked],
    )
    modules = {(number, side): module for number, _, side, module in asked}
    return {
        (number, side): _Side(modules[number, side], allocation_id, Arena(*arena))
        for number, side, _, allocation_id, *arena in found
    }


class _BesideRow(NamedTuple):
    """What lies beside the arena of a side, and the place of its largest value."""

    key: tuple[int, bool]
    beside: Beside
    place: Place | None
    shape: str | None


def _read_beside(
    connection: Connection, wanted: Sequence[Wanted], sides: _Sides
) -> list[_BesideRow]:
    if not sides:
        return []
    found = rows(
        connection,
        "beside_arenas",
        maps=[number for number, _ in sides],
        modules=[side.module.module_id for side in sides.values()],
        colors=[wanted[number].color for number, _ in sides],
        candidates=[is_candidate for _, is_candidate in sides],
        arenas=[side.allocation_id for side in sides.values()],
        most=MOST_BESIDE,
    )
    rows_beside = []
    for number, is_candidate, kind, count, size, value_id, name, shape, step in found:
        place = _place_of(sides[number, is_candidate].module, value_id)
        beside = Beside(kind, count, size, name or None, step)
        rows_beside.append(_BesideRow((number, is_candidate), beside, place, shape))
    return rows_beside


def _with_beside(sides: _Sides, beside: Iterable[_BesideRow], facts: Facts) -> _Sides:
    """Return the arenas with what lies beside them."""
    found: dict[tuple[int, bool], list[Beside]] = {key: [] for key in sides}
    for row in beside:
        known = None if row.place is None else facts[row.place]
        found[row.key].append(replace(row.beside, facts=known))
    return {
        key: side._replace(arena=replace(side.arena, beside=tuple(found[key])))
        for key, side in sides.items()
    }


def _numbers(sides: _Sides) -> list[int]:
    """Return the numbers of the maps that have an arena; pairs are in their order."""
    return sorted({number for number, _ in sides})


def _matched(connection: Connection, sides: _Sides) -> list[dict[str, Any]]:
    """Return every value once, with what it is matched with."""
    numbers = _numbers(sides)
    if not numbers:
        return []
    bases = [sides.get((number, False)) for number in numbers]
    candidates = [sides.get((number, True)) for number in numbers]
    asked: dict[str, Any] = {
        "base_ids": [side and side.module.module_id for side in bases],
        "candidate_ids": [side and side.module.module_id for side in candidates],
        "base_arenas": [side and side.allocation_id for side in bases],
        "candidate_arenas": [side and side.allocation_id for side in candidates],
        "most": MOST_VALUES,
    }
    return run_query(connection, "matched_buffers", asked).dicts()


def _pairs(
    sides: _Sides, matched: Iterable[Mapping[str, Any]], facts: Facts
) -> dict[int, list[_Pair]]:
    """Return pairs of values by number of the map."""
    numbers = _numbers(sides)
    found: dict[int, list[_Pair]] = {number: [] for number in numbers}
    for row in matched:
        number = numbers[row["pair"] - 1]
        base = _placed(row, "base", sides.get((number, False)), facts)
        candidate = _placed(row, "candidate", sides.get((number, True)), facts)
        if row["method"] == _SAME_SIZE:
            found[number] += [(base, None), (None, candidate)]
        else:
            found[number].append((base, candidate))
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


def _shapes(
    matched: Iterable[Mapping[str, Any]], sides: _Sides
) -> dict[Place, str | None]:
    numbers = _numbers(sides)
    shapes: dict[Place, str | None] = {}
    for row in matched:
        for name in ("base", "candidate"):
            side = sides.get((numbers[row["pair"] - 1], name == "candidate"))
            if (place := _place(row, name, side)) is not None:
                shapes[place] = row[f"{name}_shape"]
    return shapes


def _place(row: Mapping[str, Any], name: str, side: _Side | None) -> Place | None:
    if row[f"{name}_place"] is None or side is None:
        return None
    return _place_of(side.module, row[f"{name}_value_id"])


def _place_of(module: Module, value_id: int | None) -> Place | None:
    if value_id is None:
        return None
    return Place(module.module_id, module.locations_id or 0, value_id)


def _placed(
    row: Mapping[str, Any], name: str, side: _Side | None, facts: Facts
) -> PlacedValue | None:
    place = _place(row, name, side)
    if place is None:
        return None
    called = (row[f"{name}_instruction"] or "") + (row[f"{name}_shape_index"] or "")
    return PlacedValue(
        called,
        row[f"{name}_offset_bytes"],
        row[f"{name}_bytes"],
        row[f"{name}_start_step"],
        row[f"{name}_end_step"],
        facts[place],
    )


def _changed_first(value: MappedValue) -> tuple[int, int, str, int, int]:
    placed = value.candidate or value.base
    assert placed is not None
    covered = max(p.byte_steps for p in (value.base, value.candidate) if p is not None)
    order = STATUSES.index(value.status), -covered, placed.instruction
    return *order, placed.start_step, placed.offset_bytes

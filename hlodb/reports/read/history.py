"""Read the history of every program's memory: tracks, steps, and since when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hlodb.queries.answer_once import answered_once
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Module, Profiles, Run, reserved
from hlodb.reports.read.pairs import (
    Loaded,
    Pair,
    PairKey,
    Verdict,
    split,
    verdict_of,
)
from hlodb.schema.connection import Connection


class Base(NamedTuple):
    """The module that one of a series is compared with; `relation` as in the query."""

    run: Run
    module: Module
    relation: str
    method: str
    confidence: float


class Sighting(NamedTuple):
    """A program in one run, and what it is compared with.

    `shape` is the number of its shapes in the track, `like` are those that it can be
    compared with.
    """

    run: Run
    module: Module
    base: Base | None
    shape: int
    like: frozenset[int]

    def is_like(self, other: Sighting) -> bool:
        """Return whether the two, of one track, can be compared."""
        return other.shape in self.like


@dataclass(slots=True)
class Track:
    """One program through the runs that hold it, in their order."""

    number: int
    sightings: list[Sighting] = field(default_factory=list)

    @property
    def last(self) -> Module:
        """The module of the latest run that holds the program."""
        return self.sightings[-1].module


def read_tracks(
    connection: Connection,
    runs: Sequence[Run],
    modules: Mapping[tuple[int, int], Module],
    answered: Mapping[str, str],
) -> list[Track]:
    """Return a track per program, also of those that a run in between misses.

    `answered` is as for `run_query`.
    """
    by_id = {run.run_id: run for run in runs}
    tracks: dict[int, Track] = {}
    asked = {"run_ids": [run.run_id for run in runs]}
    for row in run_query(
        connection, "program_tracks", asked, answered=answered
    ).dicts():
        base = None
        if row["base_run_id"] is not None:
            base = Base(
                by_id[row["base_run_id"]],
                modules[row["base_run_id"], row["base_place"]],
                row["relation"],
                row["base_method"],
                row["base_confidence"],
            )
        sighting = Sighting(
            by_id[row["run_id"]],
            modules[row["run_id"], row["place"]],
            base,
            row["shape"],
            frozenset(map(int, split(row["comparable_shapes"]))),
        )
        number = row["track"]
        tracks.setdefault(number, Track(number)).sightings.append(sighting)
    return list(tracks.values())


@dataclass(frozen=True, slots=True)
class Point:
    """A program's memory in one run of the series."""

    run: str
    bytes: int
    mark: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A program's memory over the series, marked where it stepped."""

    program: str
    rank: int | None
    module_number: int | None
    color: int
    space: str
    points: list[Point]


MARKS = {"up": "▲", "down": "▼", "incomparable": "x", "same": ""}

Lines = Mapping[tuple[int, int], Trend]
"""The series of programs by the number of their track, and memory space."""


class Since(NamedTuple):
    """The first run with a difference, and what became of it.

    `first_module` is the program in that run, unless it is missing there. `before` is
    the last run with the program before that, `undone` the one with the rise that an
    improvement undoes. `fate` is `undone`, `stands` or None, see `pair_histories`.
    `last_bytes` is what the program needs in the last run that has it.
    """

    track: int | None
    first: Run
    first_module: Module | None
    before: Run | None
    before_module: Module | None
    undone: Run | None
    fate: str | None
    last_bytes: int | None


class Step(NamedTuple):
    """A step of one program in one memory space, as a verdict on two runs.

    `lost_bytes` of results lost their donation in it and still lack it, see
    `steps_with_losses`; None where it lost none.
    """

    verdict: Verdict
    run: Run
    since: Since
    lost_bytes: int | None = None


class History(NamedTuple):
    """Tracks and steps of a series, and since when its last run differs.

    `since` is by pair and memory space.
    """

    tracks: list[Track]
    steps: list[Step]
    since: Mapping[tuple[PairKey, int], Since]


class Followed(NamedTuple):
    """The programs of `line` followed through its runs; `answered` as for run_query."""

    line: Sequence[Run]
    tracks: list[Track]
    steps: list[Step]
    answered: Mapping[str, str]


@contextmanager
def followed_through(
    connection: Connection,
    line: Sequence[Run],
    loaded: Loaded,
    settings: Settings,
    *,
    has_steps: bool,
) -> Iterator[Followed]:
    """Yield tracks and steps of the runs of `line`, for several histories of it."""
    asked = {"run_ids": [run.run_id for run in line]}
    with answered_once(
        connection, ["program_tracks"], asked, load_catalogue()
    ) as answered:
        tracks = read_tracks(connection, line, loaded.modules, answered)
        steps = []
        if has_steps:
            steps = _read_steps(connection, line, tracks, loaded, settings, answered)
        yield Followed(line, tracks, steps, answered)


def read_history(
    connection: Connection,
    line: Sequence[Run],
    pairs: Sequence[Pair],
    loaded: Loaded,
    settings: Settings,
    *,
    has_steps: bool,
    first_runs: Sequence[Run] = (),
    known: Followed | None = None,
) -> History:
    """Return the history of the runs of `line`, and of `pairs` of its last run.

    A difference of a pair begins in one of `first_runs`. What is `known` of the same
    runs, with steps, is not read again.
    """
    with (
        nullcontext(known)
        if known is not None and known.line == line
        else followed_through(connection, line, loaded, settings, has_steps=has_steps)
    ) as (_, tracks, steps, answered):
        found = _read_since(connection, line, pairs, loaded, settings, answered)
    by_key = {pair.key: pair for pair in pairs}
    since = {
        (key, color): each
        if each.first in first_runs
        else _since_now(by_key[key], line[-1], each)
        for (key, color), each in found.items()
    }
    return History(tracks, steps, since)


def _read_steps(
    connection: Connection,
    line: Sequence[Run],
    tracks: Iterable[Track],
    loaded: Loaded,
    settings: Settings,
    answered: Mapping[str, str],
) -> list[Step]:
    if len(line) < 2:
        return []
    runs, modules, profiles = loaded
    bases = {
        (s.module.run_id, s.module.place): s.base for t in tracks for s in t.sightings
    }
    asked = {
        **settings.judging(),
        "run_ids": [run.run_id for run in line],
        "min_step_bytes": settings.step_bytes,
        "min_step_ratio": settings.step_ratio,
    }
    steps = []
    for row in run_query(connection, "memory_steps", asked, answered=answered).dicts():
        at = row["run_id"], row["place"]
        base, run = modules[row["base_run_id"], row["base_place"]], runs[row["run_id"]]
        base_run = runs[row["base_run_id"]]
        pair = Pair(base, None, base_run, "missing")
        if row["place"] is not None and (compared := bases[at]) is not None:
            pair = Pair(base, modules[at], base_run, *compared[2:])
        since = _since(row, loaded)
        steps.append(Step(verdict_of(pair, row, profiles), run, since))
    return steps


def _read_since(
    connection: Connection,
    line: Sequence[Run],
    pairs: Sequence[Pair],
    loaded: Loaded,
    settings: Settings,
    answered: Mapping[str, str],
) -> Mapping[tuple[PairKey, int], Since]:
    if not pairs:
        return {}
    asked: dict[str, Any] = {
        "base_runs": [p.base and p.base.run_id for p in pairs],
        "base_places": [p.base and p.base.place for p in pairs],
        "candidate_runs": [line[-1].run_id for _ in pairs],
        "candidate_places": [p.candidate and p.candidate.place for p in pairs],
        "run_ids": [run.run_id for run in line],
        "min_delta_bytes": settings.floor_bytes,
        "min_delta_ratio": settings.floor_ratio,
    }
    return {
        (pairs[row["pair"] - 1].key, row["color"]): _since(row, loaded)
        for row in run_query(
            connection, "pair_histories", asked, answered=answered
        ).dicts()
    }


def _since_now(pair: Pair, candidate: Run, found: Since) -> Since:
    """Return that a difference begins with the candidate itself."""
    return found._replace(
        first=candidate,
        first_module=pair.candidate,
        before=pair.base_run,
        before_module=pair.base,
    )


def _since(row: Mapping[str, Any], loaded: Loaded) -> Since:
    runs, modules, _ = loaded
    first, before = row["first_run_id"], row["before_run_id"]
    return Since(
        row["track"],
        runs[first],
        modules.get((first, row["first_place"])),
        runs.get(before),
        modules.get((before, row["before_place"])),
        runs.get(row["undone_run_id"]),
        row["fate"],
        row["last_reserved_bytes"],
    )


def trends(
    tracks: Iterable[Track], profiles: Profiles, found: Iterable[Step], last: Run
) -> Lines:
    """Return the series of every program that `last` holds, by track and space."""
    stepped = marks_of(found)
    rows = {}
    for track in tracks:
        if track.sightings[-1].run.run_id != last.run_id:
            continue
        for color in sorted(
            {c for s in track.sightings for c in profiles.get(s.module.module_id, {})}
        ):
            rows[track.number, color] = trend_of(track, color, profiles, stepped)
    in_order = sorted(
        rows.items(), key=lambda row: (row[1].program, row[1].rank or 0, row[1].color)
    )
    return dict(in_order)


def marks_of(steps: Iterable[Step]) -> dict[tuple[tuple[int, int], int], int]:
    """Return by how much memory stepped, by key of a module and memory space."""
    return {
        (module.key, step.verdict.color): step.verdict.delta_bytes or 0
        for step in steps
        if (module := step.verdict.pair.candidate) is not None
    }


def trend_of(
    track: Track,
    color: int,
    profiles: Profiles,
    stepped: Mapping[tuple[tuple[int, int], int], int],
) -> Trend:
    """Return the series of a program in a memory space; `stepped` as in `marks_of`."""
    points = []
    before: Sighting | None = None
    for sighting in track.sightings:
        step = stepped.get((sighting.module.key, color), 0)
        mark = _mark(before, sighting, step)
        level = reserved(sighting.module, color, profiles)
        points.append(Point(sighting.run.name, level, mark))
        before = sighting
    space = next(
        p[color].space_name
        for s in reversed(track.sightings)
        if color in (p := profiles.get(s.module.module_id, {}))
    )
    last = track.last
    return Trend(last.program, last.rank, last.module_number, color, space, points)


def _mark(before: Sighting | None, sighting: Sighting, step: int) -> str:
    if step:
        return MARKS["up" if step > 0 else "down"]
    is_comparable = before is None or sighting.is_like(before)
    return MARKS["same" if is_comparable else "incomparable"]

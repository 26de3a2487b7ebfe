"""The history of every program's memory: exact steps of a deterministic series.

A step is a verdict of `judged_pairs`, with the floors of [history], on a program and
the run before that holds it with the same shapes: worse, improved or mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import NamedTuple

from hlodb.reports.compare.pairs import Pair, Verdict, counts, judge
from hlodb.reports.compare.tracks import Sighting, Track
from hlodb.reports.config.settings import Settings
from hlodb.reports.model.facts import Module, Profiles, Run, reserved
from hlodb.reports.model.sections import Point, Trend
from hlodb.schema.connection import Connection

_STEPS = frozenset({"worse", "improved", "mixed"})
MARKS = {"up": "▲", "down": "▼", "incomparable": "x", "same": ""}


Lines = Mapping[tuple[int, int], Trend]
"""The series of programs by the `id` of their last module, and memory space."""


class Step(NamedTuple):
    """A step of one program in one memory space, as a verdict on two runs."""

    verdict: Verdict
    run: Run


def steps(
    connection: Connection,
    pairs: Iterable[tuple[Pair, Run]],
    profiles: Profiles,
    line: Sequence[Run],
    settings: Settings,
) -> list[Step]:
    """Return every step of the series, each with the run that it is in."""
    # Equal contents need equal memory.
    asked = [(pair, run) for pair, run in pairs if not _is_unchanged(pair)]
    runs = {id(pair): run for pair, run in asked}
    judging = {
        **settings.judging(),
        "min_delta_bytes": settings.step_bytes,
        "min_delta_ratio": settings.step_ratio,
    }
    verdicts = judge(connection, [p for p, _ in asked], profiles, line[::-1], judging)
    return [Step(v, runs[id(v.pair)]) for v in verdicts if v.change in _STEPS]


def pairs_of(tracks: Iterable[Track]) -> Iterator[tuple[Pair, Run]]:
    """Yield every module of a series beside what it is compared with."""
    for track in tracks:
        for run, module, base, _ in track.sightings:
            if base is not None:
                yield Pair(base.module, module, base.run, *base[2:]), run


def absences(
    connection: Connection,
    tracks: Iterable[Track],
    profiles: Profiles,
    line: Sequence[Run],
    base: Run,
) -> list[Step]:
    """Return what vanished up to the base, as verdicts on the runs that lack it.

    Neither the base nor the last run of `line`, the candidate, holds such a program:
    to compare the two does not show it.
    """
    until = line.index(base) + 1 if base in line else 0
    runs: dict[int, Run] = {}
    pairs = []
    for run, module, _, missing_in in (track.sightings[-1] for track in tracks):
        if missing_in is not None and missing_in in line[:until]:
            pair = Pair(module, None, run, "missing")
            runs[id(pair)] = missing_in
            pairs.append(pair)
    verdicts = judge(connection, pairs, profiles, (), {})
    return [Step(v, runs[id(v.pair)]) for v in verdicts]


def _is_unchanged(pair: Pair) -> bool:
    base, candidate = pair.base, pair.candidate
    return (
        base is not None
        and candidate is not None
        and (base.module_id == candidate.module_id)
    )


def first_run(
    track: Track, base: Module, candidate: Module, color: int, profiles: Profiles
) -> Run | None:
    """Return the run since which a difference stands: on the candidate's side of the
    middle between base and candidate, without a break but for other shapes.

    Where the base has other shapes: since which the candidate's are those of now.
    """
    if not track.comparable(base, candidate):
        return _first_alike(track, candidate)
    low = reserved(base, color, profiles)
    high = reserved(candidate, color, profiles)
    since: Run | None = None
    for sighting in reversed(_until(track, candidate)):
        level = reserved(sighting.module, color, profiles)
        if sighting.module is base or (2 * level - low - high) * (high - low) <= 0:
            break
        since = sighting.run
    return since


def _first_alike(track: Track, candidate: Module) -> Run | None:
    until = dropwhile(lambda s: s.module is not candidate, reversed(track.sightings))
    alike = list(takewhile(lambda s: track.comparable(s.module, candidate), until))
    return alike[-1].run if alike else None


def is_undone(track: Track, verdict: Verdict, profiles: Profiles) -> bool:
    """Return whether a step up came back to its middle, or below, in any later run."""
    low, high = verdict.base_bytes or 0, verdict.candidate_bytes or 0
    risen = verdict.pair.candidate
    modules = [s.module for s in track.level_of(risen)] if risen else []
    later = dropwhile(lambda module: module is not risen, modules)
    return any(2 * reserved(m, verdict.color, profiles) <= low + high for m in later)


def undone_step(
    track: Track,
    candidate: Module,
    color: int,
    profiles: Profiles,
    settings: Settings,
) -> Run | None:
    """Return the run of the last rise that stood, if the candidate has undone it."""
    level = reserved(candidate, color, profiles)
    earlier = _until(track, candidate)[:-1]
    sizes = [reserved(s.module, color, profiles) for s in earlier]
    for place in range(len(sizes) - 1, 0, -1):
        low, high = sizes[place - 1 : place + 1]
        stood = all(2 * size > low + high for size in sizes[place:])
        if stood and counts(low, high, settings):
            return earlier[place].run if level <= low else None
    return None


def _until(track: Track, module: Module) -> Sequence[Sighting]:
    level = track.level_of(module)
    places = [i for i, s in enumerate(level) if s.module is module]
    return level[: places[0] + 1] if places else []


def trends(
    tracks: Iterable[Track], profiles: Profiles, found: Iterable[Step], last: Run
) -> Lines:
    """Return the series of every program that `last` holds, by program and space."""
    stepped = {
        (s.verdict.pair.candidate, s.verdict.color): s.verdict.delta_bytes or 0
        for s in found
    }
    rows = {}
    for track in tracks:
        if track.sightings[-1].run.run_id != last.run_id:
            continue
        for color in sorted(
            {c for s in track.sightings for c in profiles.get(s.module.module_id, {})}
        ):
            key = id(track.last), color
            rows[key] = _trend(track, color, profiles, stepped)
    in_order = sorted(
        rows.items(), key=lambda row: (row[1].program, row[1].rank or 0, row[1].color)
    )
    return dict(in_order)


def _trend(
    track: Track,
    color: int,
    profiles: Profiles,
    stepped: dict[tuple[Module | None, int], int],
) -> Trend:
    points = []
    before: Module | None = None
    for sighting in track.sightings:
        step = stepped.get((sighting.module, color), 0)
        mark = _mark(track, before, sighting.module, step)
        level = reserved(sighting.module, color, profiles)
        points.append(Point(sighting.run.name, level, mark))
        before = sighting.module
    space = next(
        p[color].space_name
        for s in reversed(track.sightings)
        if color in (p := profiles.get(s.module.module_id, {}))
    )
    last = track.last
    return Trend(last.program, last.rank, last.module_number, color, space, points)


def _mark(track: Track, before: Module | None, module: Module, step: int) -> str:
    if step:
        return MARKS["up" if step > 0 else "down"]
    is_comparable = before is None or track.comparable(before, module)
    return MARKS["same" if is_comparable else "incomparable"]

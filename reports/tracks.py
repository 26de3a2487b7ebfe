"""Follows every program through the runs of a series, also under another name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.reports.facts import Module, Run
from hlodb.reports.match import (
    Match,
    Similarities,
    comparable,
    match_modules,
    similarity,
)
from hlodb.reports.read import Opcodes, read_opcodes
from hlodb.schema.connection import Connection


class Sighting(NamedTuple):
    """A program in one run; `match` ties it to the sighting before."""

    run: Run
    module: Module
    match: Match | None


@dataclass(slots=True)
class Track:
    """One program through the runs that hold it, in their order."""

    sightings: list[Sighting] = field(default_factory=list)

    @property
    def last(self) -> Module:
        """The module of the latest run that holds the program."""
        return self.sightings[-1].module

    def before(self, run_id: int, like: Module | None) -> Sighting | None:
        """Give the last sighting before a run's, of those comparable with `like`.

        Any where that is None; None where there is no such.
        """
        earlier: Sighting | None = None
        for sighting in self.sightings:
            if sighting.run.run_id == run_id:
                return earlier
            if like is None or comparable(sighting.module, like):
                earlier = sighting
        return None

    def level_of(self, module: Module) -> list[Sighting]:
        """Give the sightings comparable with a module: others are no level of it."""
        return [s for s in self.sightings if comparable(s.module, module)]

    def comparable_pairs(self) -> Iterator[tuple[Sighting, Sighting]]:
        """Pair every sighting with the last one before it that is comparable.

        A night with other shapes hides nothing of the nights around it.
        """
        for place, later in enumerate(self.sightings):
            if earlier := _last_comparable(self.sightings[:place], later.module):
                yield earlier, later


def _last_comparable(sightings: Sequence[Sighting], module: Module) -> Sighting | None:
    fitting = (s for s in reversed(sightings) if comparable(s.module, module))
    return next(fitting, None)


def sightings_before(tracks: Iterable[Track], candidate: Run) -> dict[int, Sighting]:
    """Give what a candidate's modules can be held against, by the module's `id`.

    The last sighting before that is comparable; where none is, the last.
    """
    found = {}
    for track in tracks:
        *earlier, now = track.sightings
        if earlier and now.run.run_id == candidate.run_id:
            fitting = _last_comparable(earlier, now.module)
            found[id(now.module)] = fitting or earlier[-1]
    return found


def follow(
    runs: Iterable[Run],
    modules: Mapping[int, Sequence[Module]],
    similarities: Similarities,
) -> list[Track]:
    """Give a track per program; a run that misses a program does not end its track."""
    tracks: list[Track] = []
    for run in runs:
        known = {id(track.last): track for track in tracks}
        present = [m for m in modules[run.run_id] if m.has_assignment]
        matches, _, new = match_modules(
            [track.last for track in tracks], present, similarities
        )
        for match in matches:
            known[id(match.base)].sightings.append(
                Sighting(run, match.candidate, match)
            )
        tracks += [Track([Sighting(run, module, None)]) for module in new]
    return tracks


def similarities_from(connection: Connection) -> Similarities:
    """Give a function that compares programs by their opcodes, sources if there are.

    It asks about each module once: night after night the same ones are compared.
    """
    counts: dict[int, Opcodes] = {}

    def similarities(pairs: Sequence[tuple[Module, Module]]) -> list[float]:
        ids = [_compared(b, c) for b, c in pairs]
        if unknown := {i for both in ids for i in both} - counts.keys():
            counts.update({module_id: {} for module_id in unknown})
            counts.update(read_opcodes(connection, unknown))
        return [similarity(counts[b], counts[c]) for b, c in ids]

    return similarities


def _compared(b: Module, c: Module) -> tuple[int, int]:
    if b.source_id is not None and c.source_id is not None:
        return b.source_id, c.source_id
    return b.module_id, c.module_id

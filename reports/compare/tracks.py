"""Programs through the runs of a series: rows of the query `program_tracks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.compare.read import read_differing
from hlodb.reports.model.facts import Module, Run, Shape
from hlodb.schema.connection import Connection


class Sighting(NamedTuple):
    """A program in one run; method and confidence tie it to the sighting before."""

    run: Run
    module: Module
    method: str | None
    confidence: float | None


@dataclass(slots=True)
class Track:
    """One program through the runs that hold it, in their order.

    `differing` are the pairs of shapes that are not comparable.
    """

    sightings: list[Sighting] = field(default_factory=list)
    differing: Set[tuple[Shape, Shape]] = frozenset()

    @property
    def last(self) -> Module:
        """The module of the latest run that holds the program."""
        return self.sightings[-1].module

    def comparable(self, one: Module, other: Module) -> bool:
        """Return whether two sightings are comparable, as `differing_keys` says."""
        return (one.shape, other.shape) not in self.differing

    def before(self, run_id: int, like: Module | None) -> Sighting | None:
        """Return the last sighting before a run's, of those comparable with `like`.

        Any where that is None; None where there is no such.
        """
        earlier: Sighting | None = None
        for sighting in self.sightings:
            if sighting.run.run_id == run_id:
                return earlier
            if like is None or self.comparable(sighting.module, like):
                earlier = sighting
        return None

    def level_of(self, module: Module) -> list[Sighting]:
        """Return the sightings comparable with a module: others are no level of it."""
        return [s for s in self.sightings if self.comparable(s.module, module)]

    def comparable_pairs(self) -> Iterator[tuple[Sighting, Sighting]]:
        """Pair every sighting with the last one before it that is comparable.

        A night with other shapes hides nothing of the nights around it.
        """
        for place, later in enumerate(self.sightings):
            earlier = reversed(self.sightings[:place])
            fitting = (s for s in earlier if self.comparable(s.module, later.module))
            if found := next(fitting, None):
                yield found, later


def read_tracks(
    connection: Connection,
    runs: Sequence[Run],
    modules: Mapping[tuple[int, int], Module],
) -> list[Track]:
    """Return a track per program, also of those that a run in between misses."""
    by_id = {run.run_id: run for run in runs}
    tracks: dict[int, Track] = {}
    asked = {"run_ids": [run.run_id for run in runs]}
    for row in run_query(connection, "program_tracks", asked).dicts():
        track = tracks.setdefault(row["track"], Track())
        module = modules[row["run_id"], row["place"]]
        run, method, confidence = by_id[row["run_id"]], row["method"], row["confidence"]
        track.sightings.append(Sighting(run, module, method, confidence))
    differing = _differing(connection, tracks.values())
    for track in tracks.values():
        track.differing = differing
    return list(tracks.values())


def _differing(
    connection: Connection, tracks: Iterable[Track]
) -> Set[tuple[Shape, Shape]]:
    pairs = set()
    for track in tracks:
        shapes = {s.module.shape for s in track.sightings}
        pairs |= {(a, b) for a in shapes for b in shapes if a != b}
    return read_differing(connection, sorted(pairs, key=repr))

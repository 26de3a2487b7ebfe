"""Programs through the runs of a series: rows of the query `program_tracks`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.compare.read import read_differing
from hlodb.reports.model.facts import Module, Run, Shape
from hlodb.schema.connection import Connection


class Base(NamedTuple):
    """The module that one of a series is compared with; `relation` as in the query."""

    run: Run
    module: Module
    relation: str
    method: str
    confidence: float


class Sighting(NamedTuple):
    """A program in one run, what it is compared with, and the run that lacks it."""

    run: Run
    module: Module
    base: Base | None
    missing_in: Run | None


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
            by_id.get(row["missing_run_id"]),
        )
        tracks.setdefault(row["track"], Track()).sightings.append(sighting)
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

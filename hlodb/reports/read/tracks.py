"""Programs through the runs of a series: rows of the query `program_tracks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.model.facts import Module, Run
from hlodb.reports.read.pairs import split
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

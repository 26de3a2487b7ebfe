"""Read what pages of `hlodb explain` draw of one run's programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hlodb.reports.read.drawn.arenas import ArenaMap, Wanted, read_maps
from hlodb.reports.read.drawn.peak_parts import PeakParts, read_peak_parts
from hlodb.reports.read.facts import Module, read_modules
from hlodb.reports.read.overview import Overview, compilation_of, described_spaces
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Drawings:
    """By title of a memory space: where its values lie, and what its peak holds."""

    maps: Mapping[str, ArenaMap] = field(default_factory=dict)
    peaks: Mapping[str, PeakParts] = field(default_factory=dict)


def read_drawings(
    connection: Connection, overview: Overview, programs: int
) -> Drawings:
    """Return what is drawn of the memory spaces that are described."""
    described = described_spaces(overview, programs)
    if not described:
        return Drawings()
    run = overview.run
    modules = {
        (m.program, m.path): m for m in read_modules(connection, [run], run)[run.run_id]
    }
    spaces = {
        title: (modules[compilation_of(space)], int(space["color"]))
        for title, space in described.items()
        if compilation_of(space) in modules
    }
    peaks = read_peak_parts(connection, spaces)
    return Drawings(_maps(connection, overview, spaces), peaks)


def _maps(
    connection: Connection,
    overview: Overview,
    spaces: Mapping[str, tuple[Module, int]],
) -> dict[str, ArenaMap]:
    run = overview.run
    titles: dict[str, str] = {}
    wanted: list[Wanted] = []
    for number, (title, (module, color)) in enumerate(spaces.items(), 1):
        name = f"{run.run_id}-{number}"
        titles[name] = title
        wanted.append(Wanted(name, color, None, module, (None, run.name), True))
    return {titles[found.finding_id]: found for found in read_maps(connection, wanted)}

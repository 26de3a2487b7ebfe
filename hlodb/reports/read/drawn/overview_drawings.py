"""Read what pages of `hlodb explain` draw of one run's programs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hlodb.reports.read.drawn.arenas import ArenaMap, Wanted, read_maps
from hlodb.reports.read.drawn.peak_parts import PeakParts, read_peak_parts
from hlodb.reports.read.facts import Answered, Module, Run, read_modules
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
    return read_drawings_of(connection, [overview], programs)[0]


def read_drawings_of(
    connection: Connection,
    overviews: Sequence[Overview],
    programs: int,
    answered: Answered | None = None,
) -> list[Drawings]:
    """Return what is drawn of each overview, read for all of them at once.

    `answered` is what `asked_of` yields for the only run that they are of.
    """
    described = [described_spaces(each, programs) for each in overviews]
    runs = {each.run.run_id: each.run for each in overviews}
    if not any(described):
        return [Drawings() for _ in overviews]
    modules = {
        (module.run_id, module.program, module.path): module
        for of_run in _modules(connection, runs.values())
        for module in of_run
    }
    spaces: dict[_Title, tuple[Module, int]] = {}
    for number, (overview, of_one) in enumerate(zip(overviews, described, strict=True)):
        for title, space in of_one.items():
            module = modules.get((overview.run.run_id, *compilation_of(space)))
            if module is not None:
                spaces[number, title] = module, int(space["color"])
    peaks = read_peak_parts(connection, spaces, answered)
    maps = _maps(connection, runs, spaces, answered)
    return [
        Drawings(_of_one(maps, number), _of_one(peaks, number))
        for number in range(len(overviews))
    ]


_Title = tuple[int, str]
"""The number of an overview, and the title of one of its memory spaces."""

_Drawn = TypeVar("_Drawn")


def _of_one(found: Mapping[_Title, _Drawn], number: int) -> dict[str, _Drawn]:
    return {title: drawn for (of, title), drawn in found.items() if of == number}


def _modules(connection: Connection, runs: Collection[Run]) -> Iterable[list[Module]]:
    """Return the modules of runs; ranks of a single run are in its own words."""
    words_of = next(iter(runs)) if len(runs) == 1 else None
    return read_modules(connection, runs, words_of).values()


def _maps(
    connection: Connection,
    runs: Mapping[int, Run],
    spaces: Mapping[_Title, tuple[Module, int]],
    answered: Answered | None,
) -> dict[_Title, ArenaMap]:
    titles: dict[str, _Title] = {}
    names: dict[_Title, str] = {}
    wanted: list[Wanted] = []
    for title, (module, color) in spaces.items():
        run = runs[module.run_id]
        asked = f"{len(wanted)}"
        titles[asked] = title
        wanted.append(Wanted(asked, color, None, module, (None, run.name), True))
        # On a page is one overview of a run: which others are read is the same to it.
        place = sum(number == title[0] for number, _ in titles.values())
        names[title] = f"{run.run_id}-{place}"
    found = read_maps(connection, wanted, answered)
    return {
        (title := titles[each.finding_id]): replace(each, finding_id=names[title])
        for each in found
    }

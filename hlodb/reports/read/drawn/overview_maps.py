"""Read where the values of one run's programs lie, for pages of `hlodb explain`."""

from __future__ import annotations

from collections.abc import Mapping

from hlodb.reports.read.drawn.arenas import ArenaMap, Wanted, read_maps
from hlodb.reports.read.facts import read_modules
from hlodb.reports.read.overview import Overview, compilation_of, described_spaces
from hlodb.schema.connection import Connection

Maps = Mapping[str, ArenaMap]


def read_overview_maps(
    connection: Connection, overview: Overview, programs: int
) -> Maps:
    """Return maps by title of the memory spaces that are described, if any is known."""
    spaces = described_spaces(overview, programs)
    if not spaces:
        return {}
    run = overview.run
    modules = {
        (m.program, m.path): m for m in read_modules(connection, [run], run)[run.run_id]
    }
    wanted: list[Wanted] = []
    titles: dict[str, str] = {}
    for title, space in spaces.items():
        if (module := modules.get(compilation_of(space))) is not None:
            name = f"{run.run_id}-{len(wanted) + 1}"
            titles[name] = title
            runs = (None, run.name)
            wanted.append(Wanted(name, space["color"], None, module, runs, True))
    return {titles[found.finding_id]: found for found in read_maps(connection, wanted)}

"""Find what programs were called before: budgets and owners follow a renamed one."""

from __future__ import annotations

from collections.abc import Mapping

from hlodb.reports.read.compared_runs import ComparedRuns

FormerNames = Mapping[str, tuple[str, ...]]
"""By the name of a program of the candidate, its other names in base and history."""


def former_names(compared: ComparedRuns) -> FormerNames:
    """Return the former names of renamed programs, the latest first.

    A name that a program of the candidate still has is no former name.
    """
    present = {module.program for module in compared.present}
    found: dict[str, dict[str, None]] = {}
    for pair in compared.pairs:
        if pair.both is not None and pair.other_name is not None:
            found.setdefault(pair.program, {})[pair.other_name] = None
    for track in compared.history.tracks:
        last = track.sightings[-1]
        if last.run != compared.candidate:
            continue
        for sighting in reversed(track.sightings):
            names = found.setdefault(last.module.program, {})
            names[sighting.module.program] = None
    return {
        program: tuple(name for name in names if name not in present)
        for program, names in found.items()
    }

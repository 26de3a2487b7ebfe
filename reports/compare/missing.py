"""Which programs a run no longer holds, and which of them are still missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from hlodb.reports.compare.tracks import Sighting, Track
from hlodb.reports.model.facts import Module, Run


def kind(module: Module) -> tuple[str, int | None, int | None]:
    """Return the common traits of several compilations of one program."""
    return (module.program, module.rank, module.program_key)


def first_of_kinds(
    modules: Iterable[Module],
) -> dict[tuple[str, int | None, int | None], Module]:
    """Return the first compilation of every program of a run that has an assignment."""
    found: dict[tuple[str, int | None, int | None], Module] = {}
    for module in modules:
        if module.has_assignment:
            found.setdefault(kind(module), module)
    return found


def missing(
    gone: Sequence[Module], kept: Sequence[Module], new: Sequence[Module]
) -> list[Module]:
    """Return those of `gone` that a run lacks that holds `kept`, matched, and `new`.

    What is compiled less often is not missing. Nor are as many programs of a name as
    there are new ones: these may be what became of them.
    """
    known = {kind(m) for m in kept}
    arrived = {kind(m) for m in new} - known
    became = Counter((program, rank) for program, rank, _ in arrived)
    lost = set()
    for which in dict.fromkeys(kind(m) for m in gone if m.has_assignment):
        program, rank, _ = which
        if which not in known | arrived:
            became[program, rank] -= 1
            if became[program, rank] < 0:
                lost.add(which)
    return [m for m in gone if m.has_assignment and kind(m) in lost]


def still_missing(
    tracks: Iterable[Track],
    modules: Mapping[int, Sequence[Module]],
    line: Sequence[Run],
    base: Run,
) -> list[tuple[Sighting, Run]]:
    """Return the last sighting of what vanished before the base, and the run after it.

    Neither the base nor the last run of `line`, the candidate, holds such a program:
    to compare the two does not show it.
    """
    begun: dict[int, list[Module]] = defaultdict(list)
    ended: dict[int, list[Sighting]] = defaultdict(list)
    for track in tracks:
        first, last = track.sightings[0], track.sightings[-1]
        begun[first.run.run_id].append(first.module)
        ended[last.run.run_id].append(last)
    places = [run.run_id for run in line]
    until = places.index(base.run_id) if base.run_id in places else 0
    held = {kind(m) for m in _read(modules, line[-1])}
    found = []
    for earlier, later in pairwise(line[: until + 1]):
        gone = {id(s.module): s for s in ended[earlier.run_id]}
        new = begun[later.run_id]
        ids = {id(m) for m in new}
        kept = [m for m in _read(modules, later) if id(m) not in ids]
        lost = missing([s.module for s in gone.values()], kept, new)
        found += [(gone[id(m)], later) for m in lost if kind(m) not in held]
    return found


def _read(modules: Mapping[int, Sequence[Module]], run: Run) -> list[Module]:
    return [m for m in modules[run.run_id] if m.has_assignment]

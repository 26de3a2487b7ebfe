"""Make ids of findings: the same every night, as long as a difference lasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b

from hlodb.reports.judge.findings import Finding
from hlodb.reports.read.compared_runs import ComparedRuns
from hlodb.reports.read.facts import Module, Run

METRIC = "reserved_bytes"

Places = Mapping[tuple[int, int], int]
"""Places of modules among those of the same program, by key."""


def finding_id(module: Module, color: int, first_run: str, place: int) -> str:
    """Return the id of a finding: the same every night, as long as it lasts.

    A hash of program, entry shapes, rank, memory space, metric and the run in which the
    difference first appeared. `module` is the program there, `place` its place among
    those of that run that share all this. The cause is left out: it is evaluated anew
    with every base.
    """
    who = (module.program, module.program_key, module.own_rank, color)
    plain = _hashed(*map(str, who), METRIC, first_run)
    return _hashed(plain, str(place)) if place else plain


def with_own_ids(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings of which none has the id of another, in their order.

    A program that is missing may have the id of one that is there.
    """
    places: Counter[str] = Counter()
    found = []
    for finding in findings:
        place = places[finding.id]
        places[finding.id] += 1
        own = _hashed(finding.id, str(place)) if place else finding.id
        found.append(replace(finding, id=own))
    return found


def _hashed(*texts: str) -> str:
    return blake2b("|".join(texts).encode(), digest_size=6).hexdigest()


def places_of(compared: ComparedRuns) -> Places:
    """Return each module's place among those of its run that share program, shapes and
    rank."""
    places = {}
    for modules in compared.modules.values():
        counts: Counter[tuple[object, ...]] = Counter()
        for module in modules:
            kind = (module.program, module.program_key, module.rank)
            places[module.key] = counts[kind]
            counts[kind] += 1
    return places


def former_ids(compared: ComparedRuns) -> dict[str, list[str]]:
    """Return the ids that findings had before a late run took their first place.

    By the id that a finding has now that the late run is there: that of the same
    difference, first found in a run that follows it and was there before it.
    """
    late = {run.run_id for run in compared.late_runs()}
    places = places_of(compared) if late else {}
    found = {}
    for track in compared.history.tracks:
        for number, sighting in enumerate(track.sightings):
            run, module = sighting[:2]
            if run.run_id not in late:
                continue
            level = [s for s in track.sightings[number:] if s.is_like(sighting)]
            later = [s for s in level if _was_there(s.run, run)]
            for color in compared.profiles.get(module.module_id, {}):
                now, *former = (
                    finding_id(m, color, r.name, places[m.key])
                    for r, m, *_ in [track.sightings[number], *later]
                )
                found[now] = former
    return found


def _was_there(run: Run, late: Run) -> bool:
    if run.ingested_at is None or late.ingested_at is None:
        return False
    return run.ingested_at < late.ingested_at

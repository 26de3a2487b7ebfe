"""Pairs every program with its best of the last runs, in each memory space."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.facts import Module, Profiles, Run, reserved
from hlodb.reports.match import comparable
from hlodb.reports.missing import missing_pairs
from hlodb.reports.pairs import Pair
from hlodb.reports.tracks import Sighting, Track, sightings_before


def window_pairs(
    tracks: Sequence[Track],
    candidate: Run,
    window: Sequence[Run],
    profiles: Profiles,
) -> list[Pair]:
    """Pair what a candidate holds, and what of the window's latest run it lacks."""
    ids = {run.run_id for run in window}
    before = sightings_before(tracks, candidate)
    pairs: list[Pair] = []
    gone: list[Module] = []
    kept: list[Module] = []
    new: list[Module] = []
    for track in tracks:
        known = [s for s in track.sightings if s.run.run_id in ids]
        now = track.sightings[-1]
        if now.run.run_id == candidate.run_id:
            pairs += _best_pairs(known, before.get(id(now.module)), now, profiles)
            (kept if known else new).append(now.module)
        elif now.run.run_id == window[-1].run_id:
            gone.append(now.module)
    return [*pairs, *missing_pairs(gone, kept, new, window[-1])]


def _best_pairs(
    known: Sequence[Sighting],
    before: Sighting | None,
    now: Sighting,
    profiles: Profiles,
) -> list[Pair]:
    """Give a pair per best sighting, for the memory spaces in which it is the best.

    Only what is comparable with `now` can be that; where nothing of the window is, what
    was `before` stands for all.
    """
    if not known or before is None:
        return [Pair(None, now.module, None, None, None)]
    fitting = [s for s in known if comparable(s.module, now.module)] or [before]
    is_older = before.run not in [s.run for s in known]
    instead_of = known[-1].run if is_older else None
    modules = [s.module for s in (*fitting, now)]
    best: dict[int, set[int]] = {}
    for color in sorted({c for m in modules for c in profiles.get(m.module_id, {})}):
        sizes = [reserved(s.module, color, profiles) for s in fitting]
        best.setdefault(sizes.index(min(sizes)), set()).add(color)
    match = now.match
    method, confidence = (match.method, match.confidence) if match else (None, None)
    return [
        Pair(
            fitting[place].module,
            now.module,
            fitting[place].run,
            method,
            confidence,
            colors=frozenset(colors),
            instead_of=instead_of,
        )
        for place, colors in (best or {0: set()}).items()
    ]

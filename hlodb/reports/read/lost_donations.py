"""Read which results lost the memory of a donated argument, and where they still lack
it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hlodb.reports.config.settings import Settings
from hlodb.reports.read.differences import Modules, read_lost_donations
from hlodb.reports.read.facts import Profiles, Run
from hlodb.reports.read.history import Base, Sighting, Since, Step, Track
from hlodb.reports.read.pairs import Pair, Verdict, read_verdicts_of
from hlodb.schema.connection import Connection

LostDonations = Mapping[tuple[Modules, int], int]
"""Bytes by pair of modules, and memory space."""

_SMALL = ("below_floor", "equal_bytes")
"""Rules of differences that do not alert, and may hide one that does."""


def lost_donations(
    connection: Connection, verdicts: Sequence[Verdict]
) -> dict[tuple[Modules, int], int]:
    """Return the bytes of results that lost their donation in pairs that differ."""
    found = [v for v in verdicts if v.change != "same" or v.rule in _SMALL]
    return _lost(connection, [both for v in found if (both := v.pair.both)])


def failed_losses(
    connection: Connection, verdicts: Sequence[Verdict], settings: Settings
) -> LostDonations:
    """Return the losses that fail the gate `donation_loss`; none where it is off."""
    if not settings.donation_loss:
        return {}
    lost = lost_donations(connection, verdicts)
    judged = {
        (both, v.color)
        for v in verdicts
        if v.change != "not_comparable" and (both := v.pair.both) is not None
    }
    floor = settings.floor_bytes
    return {at: n for at, n in lost.items() if at in judged and n > floor}


def hidden_losses(
    verdicts: Sequence[Verdict], lost: LostDonations, settings: Settings
) -> list[Verdict]:
    """Return verdicts `same` behind which the gate `donation_loss` finds something.

    The loss may be small in comparison, or made up for by something else.
    """
    return [
        v
        for v in verdicts
        if v.rule in _SMALL
        and (pair := v.pair.both) is not None
        and lost.get((pair, v.color), 0) > settings.floor_bytes
    ]


class _Loss(NamedTuple):
    """A run of a track whose results lost donations in a memory space."""

    track: Track
    place: int
    base: Base
    color: int

    @property
    def sighting(self) -> Sighting:
        return self.track.sightings[self.place]

    @property
    def later(self) -> list[Sighting]:
        """The following runs that can be compared, and the last one in any case."""
        *between, last = self.track.sightings[self.place :]
        return [*(s for s in between if s.is_like(self.sighting)), last]

    @property
    def key(self) -> tuple[tuple[int, int], int]:
        return self.sighting.module.key, self.color


def steps_with_losses(
    connection: Connection,
    tracks: Iterable[Track],
    steps: Sequence[Step],
    until: Sequence[Run],
    last: Run,
    profiles: Profiles,
    settings: Settings,
) -> list[Step]:
    """Return steps with the donations that they lost, and those that lost nothing else.

    Losses of the runs in `until` count, of programs that the run `last` holds. What a
    later run of the same shapes gave back is no longer lost.
    """
    losses = _losses(connection, tracks, until, last, settings.floor_bytes)
    asked = [(x.base.module, later.module) for x in losses for later in x.later]
    lost = _lost(connection, asked)
    left: dict[tuple[tuple[int, int], int], int] = {}
    for loss in losses:
        pairs = [(loss.base.module, later.module) for later in loss.later]
        sizes = [lost.get((pair, loss.color), 0) for pair in pairs]
        is_lost = min(sizes) > settings.floor_bytes
        is_back = min(sizes[:-1], default=0) <= settings.floor_bytes
        if is_lost or is_back or loss.later[-1].is_like(loss.sighting):
            left[loss.key] = sizes[-1] if is_lost else 0
    known = {
        (module.key, step.verdict.color): step
        for step in steps
        if (module := step.verdict.pair.candidate) is not None
    }
    more = [x for x in losses if x.key in left and x.key not in known]
    return [
        *(
            step._replace(lost_bytes=left.get((module.key, step.verdict.color)))
            if (module := step.verdict.pair.candidate) is not None
            else step
            for step in steps
        ),
        *_steps(connection, more, left, until, profiles, settings),
    ]


def _losses(
    connection: Connection,
    tracks: Iterable[Track],
    until: Sequence[Run],
    last: Run,
    floor: int,
) -> list[_Loss]:
    """Return each loss above the floor, in runs of `until`."""
    within = {run.run_id for run in until}
    found = [
        (track, place, s.base)
        for track in tracks
        if track.sightings[-1].run == last
        for place, s in enumerate(track.sightings)
        if s.run.run_id in within and s.base is not None
    ]
    lost = _lost(connection, [(b.module, t.sightings[at].module) for t, at, b in found])
    colors: dict[Modules, list[int]] = defaultdict(list)
    for (pair, color), size in lost.items():
        if size > floor:
            colors[pair].append(color)
    return [
        _Loss(track, place, base, color)
        for track, place, base in found
        for color in colors.get((base.module, track.sightings[place].module), [])
    ]


def _steps(
    connection: Connection,
    losses: Sequence[_Loss],
    left: Mapping[tuple[tuple[int, int], int], int],
    until: Sequence[Run],
    profiles: Profiles,
    settings: Settings,
) -> list[Step]:
    """Return a step per loss, though memory may not have moved."""
    by_pair = {
        pair.key: (pair, x)
        for x in losses
        for pair in [Pair(x.base.module, x.sighting.module, x.base.run, *x.base[2:])]
    }
    pairs = [pair for pair, _ in by_pair.values()]
    wanted = {x.key for x in losses}
    verdicts = read_verdicts_of(
        connection, pairs, profiles, until[::-1], settings.judging()
    )
    return [
        Step(
            verdict,
            x.sighting.run,
            Since(
                x.track.number,
                x.sighting.run,
                x.sighting.module,
                x.base.run,
                x.base.module,
                None,
                None,
                None,
            ),
            left[x.sighting.module.key, verdict.color],
        )
        for verdict in verdicts
        for _, x in [by_pair[verdict.pair.key]]
        if (x.sighting.module.key, verdict.color) in wanted
    ]


def _lost(
    connection: Connection, pairs: Iterable[Modules]
) -> dict[tuple[Modules, int], int]:
    """Return the bytes that pairs lost; pairs of equal contents are read once."""
    of_contents: dict[tuple[int, int], list[Modules]] = {}
    for pair in dict.fromkeys(pairs):
        base, candidate = pair[0].module_id, pair[1].module_id
        if base != candidate:
            of_contents.setdefault((base, candidate), []).append(pair)
    first = [found[0] for found in of_contents.values()]
    lost = read_lost_donations(connection, first)
    return {
        (pair, color): size
        for same, by_color in zip(of_contents.values(), lost, strict=True)
        for pair in same
        for color, size in by_color.items()
    }

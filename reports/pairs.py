"""Pairs of modules that are compared, and what the comparison of each says.

A verdict is per program and memory space. It mirrors when base and candidate change
places: worse and improved swap, new and failed swap, the rest stays, but for noise: of
that only what is not judged bears witness.
"""

from __future__ import annotations

from typing import NamedTuple

from hlodb.reports.facts import Module, Profile, Profiles, Run
from hlodb.reports.match import Match, differing_keys
from hlodb.reports.noise import NoiseBands
from hlodb.reports.settings import Settings
from hlodb.reports.tracks import Sighting

_AGAIN = "compiled again"


class Pair(NamedTuple):
    """A program in base and candidate; one of them None where it is new or failed.

    `colors` are the memory spaces that it is about, None for all. `instead_of` is the
    base of the report, where the program is not comparable in it.
    """

    base: Module | None
    candidate: Module | None
    base_run: Run | None
    method: str | None
    confidence: float | None
    is_recovered: bool = False
    is_other_device: bool = False
    colors: frozenset[int] | None = None
    instead_of: Run | None = None

    @property
    def differing_keys(self) -> list[str]:
        """Name what makes base and candidate incomparable; [] where nothing does."""
        if self.base is None or self.candidate is None:
            return []
        device = ["device"] if self.is_other_device else []
        return differing_keys(Match(self.base, self.candidate, "", 0)) + device

    @property
    def is_again(self) -> bool:
        """Tell whether it is about one more compilation of a program."""
        return self.method == _AGAIN

    @property
    def program(self) -> str:
        """The program's name, the candidate's where both have one."""
        module = self.candidate or self.base
        assert module is not None
        return module.program


def followed_pair(earlier: Sighting, module: Module) -> Pair:
    """Pair a module with an earlier sighting of the program that its series follows."""
    return Pair(earlier.module, module, earlier.run, "series", 0.9)


def compiled_again(first: Module, module: Module, base: Run) -> Pair:
    """Pair one more compilation of a program with the first one of the base."""
    return Pair(first, module, base, _AGAIN, 0.9)


class Verdict(NamedTuple):
    """What happened to one program in one memory space, and which rule says so."""

    pair: Pair
    color: int
    base: Profile | None
    candidate: Profile | None
    change: str
    rule: str
    noise_band_bytes: int

    @property
    def base_bytes(self) -> int | None:
        """Reserved bytes of the base, 0 where it does not use this space."""
        return _known_bytes(self.pair.base, self.base)

    @property
    def candidate_bytes(self) -> int | None:
        """Reserved bytes of the candidate, 0 where it does not use this space."""
        return _known_bytes(self.pair.candidate, self.candidate)

    @property
    def delta_bytes(self) -> int | None:
        """Candidate minus base; None where one of them is missing."""
        if self.base_bytes is None or self.candidate_bytes is None:
            return None
        return self.candidate_bytes - self.base_bytes

    @property
    def space(self) -> str:
        """Name of the memory space."""
        profile = self.candidate or self.base
        assert profile is not None
        return profile.space_name


def _known_bytes(module: Module | None, profile: Profile | None) -> int | None:
    if module is None or not module.has_assignment:
        return None
    return profile.reserved_bytes if profile else 0


def judge(
    pair: Pair, profiles: Profiles, bands: NoiseBands, settings: Settings
) -> list[Verdict]:
    """Give the verdict on every memory space that the pair is about, by colour."""
    base = profiles.get(pair.base.module_id, {}) if pair.base else {}
    candidate = profiles.get(pair.candidate.module_id, {}) if pair.candidate else {}
    verdicts = []
    used = base.keys() | candidate.keys()
    for color in sorted(used if pair.colors is None else used & pair.colors):
        band = bands.of(pair.base, pair.candidate, color)
        verdict = Verdict(
            pair, color, base.get(color), candidate.get(color), "same", "", band
        )
        change, rule = _change(verdict, settings)
        verdicts.append(verdict._replace(change=change, rule=rule))
    return verdicts


def _change(v: Verdict, settings: Settings) -> tuple[str, str]:
    base, candidate = v.pair.base, v.pair.candidate
    if candidate is None or not candidate.has_assignment:
        return "failed", "no_buffer_assignment" if candidate else "only_in_base"
    if base is None or not base.has_assignment:
        return "new", "no_buffer_assignment" if base else "only_in_candidate"
    if v.pair.differing_keys:
        return "not_comparable", "differing_keys"
    change, rule = _difference(v, base, candidate, settings)
    is_back = v.pair.is_recovered and change in ("same", "improved")
    return ("recovered" if is_back else change), rule


def _difference(
    v: Verdict, base: Module, candidate: Module, settings: Settings
) -> tuple[str, str]:
    delta, live = v.delta_bytes or 0, _live_delta(v)
    if is_identical(base, candidate) and same_profile(v.base, v.candidate):
        return "same", "identical_artefact"
    if delta == 0:
        return "same", "equal_bytes"
    if abs(delta) <= v.noise_band_bytes:
        return "same", "inside_noise_band"
    if not counts(v.base_bytes or 0, v.candidate_bytes or 0, settings):
        return "same", "below_floor"
    live_counts = live is not None and counts(*_lives(v), settings)
    if live_counts and live is not None and (live > 0) != (delta > 0):
        return "mixed", "live_peak_opposite"
    return ("worse", "more_bytes") if delta > 0 else ("improved", "fewer_bytes")


def counts(base: int, candidate: int, settings: Settings) -> bool:
    """Tell whether a difference is at or above both floors.

    The share is of the smaller side, so that it is the same seen from either.
    """
    delta = abs(candidate - base)
    return (
        delta > 0
        and delta >= settings.floor_bytes
        and delta >= settings.floor_ratio * min(base, candidate)
    )


def is_identical(base: Module, candidate: Module) -> bool:
    """Tell whether two modules are the same but for names and source lines."""
    return (
        base.exact_fingerprint is not None
        and base.exact_fingerprint == candidate.exact_fingerprint
    )


def same_profile(base: Profile | None, candidate: Profile | None) -> bool:
    """Tell whether two modules use a memory space alike."""
    if base is None or candidate is None:
        return base is candidate
    return base[3:] == candidate[3:]


def _lives(v: Verdict) -> tuple[int, int]:
    return (
        (v.base.live_peak_bytes or 0) if v.base else 0,
        (v.candidate.live_peak_bytes or 0) if v.candidate else 0,
    )


def _live_delta(v: Verdict) -> int | None:
    """Give the difference of live peaks; a side without the space counts as 0."""
    for profile in (v.base, v.candidate):
        if profile is not None and profile.live_peak_bytes is None:
            return None
    base, candidate = _lives(v)
    return candidate - base


def live_delta(v: Verdict) -> int | None:
    """Give the difference of live peaks; None where one side is missing or unknown."""
    return None if v.delta_bytes is None else _live_delta(v)


def tags(v: Verdict) -> list[str]:
    """Give what else to know of a difference.

    `schedule-only` or `packing-only` where the graphs of both are equal, `recovered`
    where the program is back and needs more; which run stands in for the base.
    """
    base, candidate = v.pair.base, v.pair.candidate
    untold = ("identical_artefact", "no_buffer_assignment")
    if base is None or candidate is None or v.rule in untold:
        return []
    back = v.pair.is_recovered and v.change != "recovered"
    found = ["recovered"] if back else []
    if v.pair.instead_of is not None and v.pair.base_run is not None:
        found.append(held_against(v.pair.base_run, v.pair.instead_of))
    if is_identical(base, candidate):
        return [*found, "packing-only"]
    same_graph = base.graph_fingerprint == candidate.graph_fingerprint
    is_scheduled = base.graph_fingerprint is not None and same_graph
    return [*found, "schedule-only"] if is_scheduled else found


def held_against(run: Run, base: Run) -> str:
    """Say which run a program is held against that is not comparable in the base."""
    return f"held against {run.name}, as not comparable in {base.name}"

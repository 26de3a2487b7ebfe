"""Read pairs of modules, and the verdict of the queries on each.

A verdict is per program and memory space: a row of `judged_modules` or `judged_pairs`.
It mirrors when base and candidate change places: worse and improved swap, new and
failed swap, the rest stays, but for noise: of that only what is not judged bears
witness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Module, Profile, Profiles, Run
from hlodb.schema.connection import Connection

Modules = Mapping[tuple[int, int], Module]
"""Modules by the number of their run and their place in it."""


class Loaded(NamedTuple):
    """All runs by number, and the modules and profiles of those that are compared."""

    runs: Mapping[int, Run]
    modules: Modules
    profiles: Profiles


PairKey = tuple[tuple[int, int] | None, tuple[int, int] | None]


class Pair(NamedTuple):
    """A program in base and candidate; one of them None where it is new or failed.

    `relation` says how the base was found, see the query `matched_compilations`.
    `instead_of` is the base of the report, where the program is not comparable in it.
    """

    base: Module | None
    candidate: Module | None
    base_run: Run | None
    relation: str
    method: str | None = None
    confidence: float | None = None
    differing_keys: tuple[str, ...] = ()
    instead_of: Run | None = None

    @property
    def is_again(self) -> bool:
        """Whether it is about one more compilation of a program."""
        return self.relation == "again"

    @property
    def both(self) -> tuple[Module, Module] | None:
        """Base and candidate, where both are there."""
        if self.base is None or self.candidate is None:
            return None
        return self.base, self.candidate

    @property
    def key(self) -> PairKey:
        """The keys of base and candidate, which no other pair has."""
        return self.base and self.base.key, self.candidate and self.candidate.key

    @property
    def module(self) -> Module:
        """The candidate, or the base of a missing program."""
        module = self.candidate or self.base
        assert module is not None
        return module

    @property
    def program(self) -> str:
        """The program's name, the candidate's where both have one."""
        return self.module.program

    @property
    def other_name(self) -> str | None:
        """The program's name in the base, where it differs."""
        base, candidate = self.base, self.candidate
        if base is None or candidate is None or base.program == candidate.program:
            return None
        return base.program


class Verdict(NamedTuple):
    """What happened to one program in one memory space, and which rule says so.

    Bytes are reserved ones: 0 where a side does not use the space, None where it is
    missing or has no buffer assignment.
    """

    pair: Pair
    color: int
    space: str
    base: Profile | None
    candidate: Profile | None
    change: str
    rule: str
    base_bytes: int | None
    candidate_bytes: int | None
    delta_bytes: int | None
    delta_live_peak_bytes: int | None
    noise_band_bytes: int
    tags: tuple[str, ...] = ()

    @property
    def delta_ratio(self) -> float | None:
        """The difference as a share of the base; None where there is no base."""
        if self.delta_bytes is None or not self.base_bytes:
            return None
        return round(self.delta_bytes / self.base_bytes, 6)


class Drawn(NamedTuple):
    """A verdict that is drawn, with the id of its finding and the candidate's name."""

    finding_id: str
    verdict: Verdict
    candidate_run: str


def read_verdicts(
    connection: Connection,
    base: Run,
    candidate: Run,
    parameters: Mapping[str, Any],
    loaded: Loaded,
) -> tuple[list[Pair], list[Verdict]]:
    """Return the pairs of modules of two runs, and the verdicts on them."""
    runs, _, profiles = loaded
    by_name = {run.name: run for run in runs.values()}
    asked = {"base": base.name, "candidate": candidate.name, **parameters}
    pairs: dict[PairKey, Pair] = {}
    verdicts = []
    for row in run_query(connection, "judged_modules", asked).dicts():
        instead_of = by_name[row["instead_of"]] if row["instead_of"] else None
        pair = _pair(row, loaded)._replace(instead_of=instead_of)
        pair = pairs.setdefault(pair.key, pair)
        if row["color"] is not None:
            verdicts.append(verdict_of(pair, row, profiles))
    return list(pairs.values()), verdicts


def read_pairs_of(
    connection: Connection, runs: Sequence[tuple[Run, Run]], loaded: Loaded
) -> dict[int, list[Pair]]:
    """Return the pairs of modules of many (base, candidate), as in a diff of each.

    They are by the run_id of the candidate, of which each has one base.
    """
    found: dict[int, list[Pair]] = {run.run_id: [] for _, run in runs}
    if runs:
        asked: dict[str, Any] = {
            "base_ids": [base.run_id for base, _ in runs],
            "candidate_ids": [run.run_id for _, run in runs],
            "follow": False,
        }
        for row in run_query(connection, "matched_modules", asked).dicts():
            found[row["candidate_run_id"]].append(_pair(row, loaded))
    return found


def _pair(row: Mapping[str, Any], loaded: Loaded) -> Pair:
    base = _module(loaded.modules, row, "base")
    return Pair(
        base,
        _module(loaded.modules, row, "candidate"),
        loaded.runs[row["base_run_id"]] if base else None,
        row["relation"],
        row["method"],
        row["confidence"],
        split(row["differing_keys"]),
    )


def read_verdicts_of(
    connection: Connection,
    pairs: Sequence[Pair],
    profiles: Profiles,
    earlier: Iterable[Run],
    judging: Mapping[str, Any],
) -> list[Verdict]:
    """Return the verdicts on pairs, in their order; `earlier` is the latest first.

    `judging` holds the floors and limits, see `Settings.judging`.
    """
    bases, candidates = [p.base for p in pairs], [p.candidate for p in pairs]
    asked: dict[str, Any] = {
        "base_runs": [m and m.run_id for m in bases],
        "base_places": [m and m.place for m in bases],
        "candidate_runs": [m and m.run_id for m in candidates],
        "candidate_places": [m and m.place for m in candidates],
        "earlier_ids": [run.run_id for run in earlier],
        **judging,
    }
    if not pairs:
        return []
    found = run_query(connection, "judged_pairs", asked).dicts()
    found.sort(key=lambda row: (row["pair"], row["color"]))
    return [verdict_of(pairs[row["pair"] - 1], row, profiles) for row in found]


def verdict_of(pair: Pair, row: Mapping[str, Any], profiles: Profiles) -> Verdict:
    """Return the verdict that a row of a query gives on a pair."""
    sides = (m and profiles.get(m.module_id, {}).get(row["color"]) for m in pair[:2])
    base, candidate = sides
    return Verdict(
        pair,
        row["color"],
        row["space_name"],
        base,
        candidate,
        row["verdict"],
        row["rule"],
        row["base_reserved_bytes"],
        row["candidate_reserved_bytes"],
        row["delta_reserved_bytes"],
        row["delta_live_peak_bytes"],
        row["noise_band_bytes"],
        split(row.get("tags")),
    )


def split(text: str | None) -> tuple[str, ...]:
    """Return the parts of a column that lists several."""
    return tuple(text.split(", ")) if text else ()


def _module(modules: Modules, row: Mapping[str, Any], side: str) -> Module | None:
    place = row[f"{side}_place"]
    return None if place is None else modules[row[f"{side}_run_id"], place]


def tags(v: Verdict) -> list[str]:
    """Return what else to know of a difference: `tags` of the query `judged_modules`,
    and which run stands in for the base."""
    pair = v.pair
    if (
        pair.instead_of is None
        or pair.base_run is None
        or v.rule == "identical_artefact"
    ):
        return list(v.tags)
    return [held_against(pair.base_run, pair.instead_of), *v.tags]


def held_against(run: Run, base: Run) -> str:
    """Return the run that a program not comparable in the base is compared with."""
    return (
        f'compared with run "{run.name}", because run "{base.name}" is not comparable'
    )

"""The sections of a report beside its findings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest program of a memory space, against the limit of the device."""

    color: int
    space: str
    limit_bytes: int | None
    used_bytes: int
    headroom_bytes: int | None
    headroom_ratio: float | None
    program: str
    near_limit: list[str]
    plateau_ratio: float | None


@dataclass(frozen=True, slots=True)
class Waste:
    """Memory the candidate holds for nothing, and what the total would fall by.

    A `donation` that needs no copy lowers the live peak, `fragmentation` and `padding`
    the total. `replicated` parameters, of at least the floor, are in fewer parts than
    there are partitions; what is `idle` of a memory space could hold some of
    the default one. Places overlap: they are no sum.
    """

    kind: str
    program: str
    color: int | None
    space: str | None
    waste_bytes: int
    leverage_bytes: int
    note: str


@dataclass(frozen=True, slots=True)
class Health:
    """Compilations worth a look: repeated, nondeterministic, or slower passes."""

    kind: str
    name: str
    base: int
    candidate: int
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Point:
    """A program's memory in one run of the series."""

    run: str
    bytes: int
    mark: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A program's memory over the series, marked where it stepped."""

    program: str
    rank: int | None
    module_number: int | None
    color: int
    space: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class QualityRow:
    """Something in the data of a run that is not sound."""

    run: str
    kind: str
    code: str
    count: int
    example: str
    is_gating: bool


@dataclass(frozen=True, slots=True)
class WaiverRow:
    """A waiver of the settings and what became of it: used, unused or expired."""

    program: str
    space: str | None
    gate: str
    owner: str
    reason: str
    until: str
    status: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A number used above: unit, which way is better, and its definition."""

    name: str
    unit: str
    polarity: str
    definition: str

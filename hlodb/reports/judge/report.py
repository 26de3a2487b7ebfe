"""The report as data: computed once, rendered by every `render_*`, published as JSON.

Byte counts are integers; `delta_*` is candidate minus base, so less is better. Lists
are in their final order. Nothing here depends on the clock (`stamp` is what the caller
gave). `report.schema.json` is made from these classes, see `json_schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from hlodb.reports.judge.definitions import Metric
from hlodb.reports.judge.findings import CauseGroup, Finding
from hlodb.reports.read.capacity import Capacity
from hlodb.reports.read.compilations import Health
from hlodb.reports.read.drawn.arenas import ArenaMap
from hlodb.reports.read.drawn.curves import Curve
from hlodb.reports.read.drawn.flames import FlamePair
from hlodb.reports.read.drawn.role_histories import RoleHistory
from hlodb.reports.read.environment import EnvironmentChange, RunFacts
from hlodb.reports.read.history import Trend
from hlodb.reports.read.programs import ProgramRow
from hlodb.reports.read.scaling import ScalingLaw
from hlodb.reports.read.soundness import QualityRow
from hlodb.reports.read.waste import Waste


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
class Gate:
    """One limit and how the candidate stands against it: pass, fail, warn or waived.

    Rank and module number are those of the program, where the gate is about one module.
    """

    gate: str
    program: str | None
    rank: int | None
    module_number: int | None
    color: int | None
    space: str | None
    unit: str
    limit: float | int
    value: float | int
    margin: float | int
    status: str
    finding_id: str | None
    owner: str | None
    reason: str
    until: str | None


REPORT_SCHEMA = "3.0.0"
"""Version of the model: fields are only added within a major version."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared with what, and by which rule the base was chosen."""

    candidate: RunFacts
    base: RunFacts | None
    rule: str
    rule_text: str
    series: str | None
    series_runs: list[str]
    environment: list[EnvironmentChange]
    matched: int
    comparable: int
    identical: int
    same_source: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The parts of a report that its verdict is about."""

    kind: str
    comparison: Comparison
    findings: list[Finding]
    programs: list[ProgramRow]
    gates: list[Gate]
    capacity: list[Capacity]
    quality: list[QualityRow]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    report_schema: str
    report_id: str
    kind: str
    hlodb_version: str
    stamp: str | None
    today: str | None
    verdict: str
    exit_code: int
    headline: str
    counts: dict[str, int]
    comparison: Comparison
    gates: list[Gate]
    causes: list[CauseGroup]
    findings: list[Finding]
    programs: list[ProgramRow]
    capacity: list[Capacity]
    waste: list[Waste]
    health: list[Health]
    trends: list[Trend]
    role_histories: list[RoleHistory]
    scaling: list[ScalingLaw]
    quality: list[QualityRow]
    waivers: list[WaiverRow]
    settings: dict[str, str]
    metrics: list[Metric]
    notes: list[str]
    # Drawn, not published: not in report.json, nor in what the report's id is made of.
    curves: list[Curve] = field(repr=False)
    arenas: list[ArenaMap] = field(repr=False)
    flames: list[FlamePair] = field(repr=False)
    # The warehouse, where printed commands have to name it.
    db: str | None = field(default=None, repr=False)


def plain(value: Any) -> Any:
    """Return records of a report as dictionaries: dataclasses.asdict copies more."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return {
        name: plain(getattr(value, name)) for name in _published_names(value.__class__)
    }


def published(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the published fields of a record of a report that `values` has."""
    return {
        name: plain(values[name]) for name in _published_names(kind) if name in values
    }


@cache
def _published_names(kind: type) -> list[str]:
    return [field.name for field in fields(kind) if field.repr]

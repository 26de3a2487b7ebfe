"""The report as data: computed once, rendered by every `render_*`, published as JSON.

Byte counts are integers; `delta_*` is candidate minus base, so less is better. Lists
are in their final order. Nothing here depends on the clock (`stamp` is what the caller
gave). `report.schema.json` is made from these classes, see `json_schema`.
"""

from __future__ import annotations

from dataclasses import dataclass

REPORT_SCHEMA = "1.0.0"
"""Version of the model: fields are only added within a major version."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run that takes part in the comparison."""

    name: str
    series: str | None
    started_at: str | None
    commit_sha: str | None
    branch: str | None
    compiler_version: str | None
    framework_version: str | None
    platform: str | None
    device: str | None
    rank_count: int


@dataclass(frozen=True, slots=True)
class EnvironmentChange:
    """A fact or compiler flag in which candidate and base differ."""

    key: str
    base: str | None
    candidate: str | None
    is_memory_relevant: bool


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
class Part:
    """Bytes of a difference that have one reason, in one kind of allocation."""

    part: str
    kind: str
    delta_bytes: int
    buffer_count: int


@dataclass(frozen=True, slots=True)
class BufferChange:
    """One buffer's share of a difference; base or candidate facts are null where new
    or gone."""

    part: str
    kind: str
    delta_bytes: int
    base_instruction: str | None
    candidate_instruction: str | None
    op_path: str | None
    base_shape: str | None
    candidate_shape: str | None
    base_bytes: int | None
    candidate_bytes: int | None
    source_file: str | None
    source_line: int | None
    match_method: str
    match_confidence: float
    note: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two compilations part: the first stage or pass whose result differs."""

    last_equal: str | None
    first_different: str | None
    blame: str
    reason: str


@dataclass(frozen=True, slots=True)
class Count:
    """How often something stands in base and candidate."""

    name: str
    base: int
    candidate: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a figure moved: a stable key to group by, and a sentence."""

    key: str
    title: str
    blame: str
    share_ratio: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Triage:
    """What somebody decided about a finding."""

    status: str
    reason: str
    until: str | None
    actor: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A program whose memory in one space moved, appeared or cannot be compared.

    `scope` is candidate (base against candidate, judged by gates) or history (an
    earlier step of the series). `change` is what happened, `state` what is left of it
    after waivers and triage.
    """

    id: str
    scope: str
    state: str
    change: str
    rule: str
    program: str
    base_program: str | None
    rank: int | None
    module_number: int | None
    path: str
    color: int
    space: str
    metric: str
    base_run: str | None
    candidate_run: str
    first_run: str | None
    base_bytes: int | None
    candidate_bytes: int | None
    delta_bytes: int | None
    delta_ratio: float | None
    delta_live_peak_bytes: int | None
    relevance: int
    tags: list[str]
    differing_keys: list[str]
    match_method: str | None
    match_confidence: float | None
    owner: str | None
    cause: Cause | None
    divergence: Divergence | None
    parts: list[Part]
    residual_bytes: int
    buffers: list[BufferChange]
    other_buffer_count: int
    other_buffer_bytes: int
    op_mix: list[Count]
    triage: Triage | None
    history: list[str]
    commands: list[str]


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """One program in one memory space, whatever became of it."""

    program: str
    base_program: str | None
    rank: int | None
    path: str
    color: int
    space: str
    change: str
    state: str
    rule: str
    base_bytes: int | None
    candidate_bytes: int | None
    delta_bytes: int | None
    delta_ratio: float | None
    base_live_peak_bytes: int | None
    candidate_live_peak_bytes: int | None
    fragmentation_bytes: int | None
    padding_bytes: int | None
    noise_band_bytes: int


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit and how the candidate stands against it: pass, fail or waived."""

    gate: str
    program: str | None
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


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Findings of one cause, as one row."""

    key: str
    title: str
    blame: str
    direction: str
    programs: list[str]
    sum_delta_bytes: int
    max_delta_bytes: int
    first_run: str | None
    owners: list[str]
    next_query: str


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
    color: int
    space: str
    points: list[Point]


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
    """Memory the candidate holds for nothing, and what the total would fall by."""

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
    quality: list[QualityRow]
    waivers: list[WaiverRow]
    settings: dict[str, str]
    metrics: list[Metric]
    notes: list[str]

"""The findings of a report, and why each figure moved."""

from __future__ import annotations

from dataclasses import dataclass


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
    or gone.

    The source line is where the buffer is defined, or, for what the compiler adds,
    where it is first read: `attribution` is defined or read, null without a line.
    """

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
    attribution: str | None
    match_method: str
    match_confidence: float
    note: str


@dataclass(frozen=True, slots=True)
class HeldBuffer:
    """A buffer that fills memory of base or candidate, and the bytes that it owns.

    `status` is as in `buffer_changes`.
    """

    status: str
    kind: str
    base_instruction: str | None
    candidate_instruction: str | None
    op_path: str | None
    base_shape: str | None
    candidate_shape: str | None
    base_bytes: int | None
    candidate_bytes: int | None


@dataclass(frozen=True, slots=True)
class Contents:
    """What fills the memory of both sides, the largest first, and the rest summed up.

    On each side the bytes add up to what is reserved without the room lost to packing.
    """

    held: list[HeldBuffer]
    other_count: int
    other_base_bytes: int
    other_candidate_bytes: int


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
    """Why a figure moved: a stable key to group by, and a sentence.

    `share_ratio` is what it is of all parts that go the same way, 0 to 1. `effect` is
    what the compiler made of it, where the title names edits of the source.
    """

    key: str
    title: str
    blame: str
    share_ratio: float
    confidence: float
    effect: str | None = None


@dataclass(frozen=True, slots=True)
class InputChange:
    """How arguments of a program differ from those of the base.

    `change` is resized, retyped, repeated, new or gone; `meaning` what differs: batch,
    layers, devices, or a dimension. `arguments` names the first of them.
    """

    change: str
    meaning: str
    base_size: str | None
    candidate_size: str | None
    argument_count: int
    arguments: str
    delta_bytes: int


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """One edit between the sources of base and candidate, as `source_edits` has it.

    `delta_bytes` is by how much the results of its operations grew, in the source.
    """

    change: str
    rule_id: str | None
    sentence: str
    advice: str | None
    subject: str | None
    operation_count: int
    delta_bytes: int | None
    source_file: str | None
    source_path: str | None
    function_name: str | None
    base_line: int | None
    candidate_line: int | None


@dataclass(frozen=True, slots=True)
class EditShare:
    """The part of a difference that follows from one edit, or from none.

    `origin` is edit, inputs, several (edits, or edits and inputs) or unexplained;
    `edit` is the position in `edits`, from 1, where it is one edit.
    """

    origin: str
    edit: int | None
    delta_bytes: int
    buffer_count: int


@dataclass(frozen=True, slots=True)
class Triage:
    """What somebody decided about a finding that needed `candidate_bytes` then."""

    status: str
    reason: str
    until: str | None
    actor: str | None
    candidate_bytes: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A program whose memory in one space moved, appeared or cannot be compared.

    One whose memory did not move (`change` is same) lost donations all the same.
    `scope` is candidate (base against candidate, judged by gates) or history (an
    earlier step of the series). `change` is what happened, `state` what is left of it
    after waivers and triage, `undone` where a later run took an earlier rise back.
    `stands` where an earlier rise, above both floors, is still in the candidate, or a
    program that vanished is still missing.
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
    stands: bool
    buffers: list[BufferChange]
    other_buffer_count: int
    other_buffer_bytes: int
    contents: Contents | None
    op_mix: list[Count]
    inputs: list[InputChange]
    edits: list[SourceEdit]
    shares: list[EditShare]
    triage: Triage | None
    history: list[str]
    commands: list[str]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Live bytes over the schedule of one module, in one memory space.

    Each of `points` is the most of a stretch of steps, the last may be a shorter one.
    """

    points: list[int]
    peak_bytes: int
    peak_step: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The schedules of a finding's base and candidate, cut into stretches of `steps`.

    A schedule is null where the program does not use the memory space, or nothing is
    known of when its values live.
    """

    finding_id: str
    steps: int
    base: Schedule | None
    candidate: Schedule | None


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Findings of one cause in one memory space, as one row."""

    key: str
    title: str
    blame: str
    direction: str
    color: int
    space: str
    programs: list[str]
    sum_delta_bytes: int
    max_delta_bytes: int
    first_run: str | None
    owners: list[str]
    next_query: str

"""The findings of a report, their order, and their groups by cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlodb.reports.config.settings import MEBIBYTE
from hlodb.reports.read.causes import Cause, edit_words, explaining
from hlodb.reports.read.claims import Claim
from hlodb.reports.read.decisions import Triage
from hlodb.reports.read.details import (
    BufferChange,
    Contents,
    Divergence,
)
from hlodb.reports.read.differences import Count, InputChange, Part

ALERTING = ("worse", "mixed")
"""Changes that fail the gate `regression`."""


RELEASE_KEY = "release"
"""How the key of a cause begins that is another release of the compiler."""


DONATION_LOST = "donation_lost"
"""State of a finding whose memory moved little, and that lost donations."""


OPEN = (*ALERTING, "changed", DONATION_LOST)
"""States that a gate may report, and somebody may allow."""


OF_EDITS = ("edit", "several")
"""Kinds of claims that say what edits did, one alone or several together."""


ORDER = (
    "worse",
    "mixed",
    "failed",
    "changed",
    "same",
    "new",
    "not_comparable",
    "recovered",
    "fixed",
    "improved",
)
"""Changes, the most urgent first; a finding is `same` where donations were lost."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A program whose memory in one space moved, appeared or cannot be compared.

    One whose memory did not move (`change` is same) lost donations all the same.
    `scope` is candidate (base against candidate, judged by gates) or history (an
    earlier step of the series). `change` is what happened, `state` what is left of it
    after waivers and triage, `undone` where a later run took an earlier rise back.
    `stands` where an earlier rise, above both floors, is still in the candidate, a
    program that vanished is still missing, or lost donations are not back.
    `left_bytes` is by how much the program then needs more than before that rise, None
    without one. `since_run` is `first_run` where that alone has the same difference,
    else None. `lost_donation_bytes` are results that no longer take over the memory of
    arguments, though they could; of an earlier step, those of the candidate.
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
    since_run: str | None
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
    left_bytes: int | None
    lost_donation_bytes: int
    buffers: list[BufferChange]
    other_buffer_count: int
    other_buffer_bytes: int
    contents: Contents | None
    op_mix: list[Count]
    inputs: list[InputChange]
    claims: list[Claim]
    triage: Triage | None
    history: list[str]
    commands: list[str]


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


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Put the candidate's findings first, the most urgent and relevant on top."""
    return sorted(
        findings,
        key=lambda f: (
            f.scope != "candidate",
            ORDER.index(f.change),
            -abs(f.relevance),
            f.program,
            -1 if f.rank is None else f.rank,
            f.color,
            f.id,
        ),
    )


def undecided(findings: Iterable[Finding]) -> list[Finding]:
    """Return the open findings that are not triaged, the largest first."""
    found = [
        f for f in findings if f.stands and f.triage is None and f.state != "waived"
    ]
    return sorted(found, key=lambda f: -(f.delta_bytes or 0))


_REGROUPED = 0.1
"""Greatest share of new arguments by which they differ from what is gone."""


def edited_bytes(f: Finding) -> int:
    """Return by how many bytes edits alone grew a program that has other inputs.

    Arguments that are new or gone need their own bytes, and those that are reshaped
    none. One of another size or type scales what else there is: how much of a
    difference is its own is not known, and nothing is said to be of edits, unless
    memory grew although the inputs take less, or the reverse. Where those that are new
    take the bytes of those that are gone, an edit put the same data into other arrays:
    what it copies of them is no more than they take.
    """
    if f.change != "changed":
        return 0
    of_inputs = sum(c.delta_bytes or 0 for c in f.claims if c.kind == "inputs")
    is_scaled = not {i.change for i in f.inputs} <= {"new", "gone", "reshaped"}
    if is_scaled and of_inputs * (f.delta_bytes or 0) >= 0:
        return 0
    edited = sum(c.delta_bytes or 0 for c in f.claims if c.kind in OF_EDITS)
    return edited or _regrouping_bytes(f)


def _regrouping_bytes(f: Finding) -> int:
    new = sum(i.delta_bytes for i in f.inputs if i.change == "new")
    gone = sum(i.delta_bytes for i in f.inputs if i.change == "gone")
    rest = (f.delta_bytes or 0) - new - gone
    is_regrouped = gone < 0 and abs(new + gone) <= _REGROUPED * new
    return rest if is_regrouped and 0 < rest <= new else 0


def has_lost_donations(f: Finding) -> bool:
    """Return whether a finding of the candidate lost donations that nobody allowed."""
    is_open = f.state in (*OPEN, "improved", "fixed")
    return f.scope == "candidate" and f.lost_donation_bytes > 0 and is_open


def is_loss(f: Finding) -> bool:
    """Return whether an earlier step is still open for its lost donations alone."""
    return f.stands and f.lost_donation_bytes > 0 and f.left_bytes is None


def cause_groups(findings: Sequence[Finding]) -> list[CauseGroup]:
    """Group the candidate's findings by cause and direction, greatest sum first.

    Each group is of one memory space: bytes of several are no sum. What is not
    comparable, or has other inputs, is neither worse nor improved: in no group.
    """
    groups: dict[_GroupKey, list[Finding]] = {}
    for f in findings:
        if (key := _group_key(f)) is not None:
            groups.setdefault(key, []).append(f)
    rows = [_group(direction, found) for (direction, *_), found in groups.items()]
    return sorted(
        rows,
        key=lambda g: (
            g.direction != "worse",
            -abs(g.sum_delta_bytes),
            g.key,
            g.color,
        ),
    )


def findings_of(group: CauseGroup, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a group, the largest first."""
    key = (group.direction, group.key, group.color)
    found = [f for f in findings if _group_key(f) == key]
    return sorted(found, key=lambda f: -abs(f.delta_bytes or 0))


_GroupKey = tuple[str, str, int]


def cause_in_short(f: Finding) -> str:
    """Return the cause of a finding, of several edits the first; empty without one."""
    if f.cause is None:
        return ""
    edits = explaining(f.claims)
    return edit_words(edits, 1) if len(edits) > 1 else f.cause.title


def cause_label(cause: Cause) -> str:
    """Return whether a title names a cause, or no more than the largest part."""
    return "largest part" if cause.is_part else "cause"


def is_by_release(f: Finding) -> bool:
    """Return whether another release of the compiler is the likely cause."""
    return f.cause is not None and f.cause.key.startswith(f"{RELEASE_KEY}/")


def is_little(f: Finding) -> bool:
    """Return whether less than a mebibyte moved."""
    return f.delta_bytes is not None and abs(f.delta_bytes) < MEBIBYTE


def _group_key(f: Finding) -> _GroupKey | None:
    """Return direction, cause and memory space; None of what is in no group."""
    if f.scope != "candidate" or f.change in ("not_comparable", "changed"):
        return None
    if f.cause is None or not f.delta_bytes:
        return None
    return "worse" if f.delta_bytes > 0 else "improved", f.cause.key, f.color


def _group(direction: str, findings: Sequence[Finding]) -> CauseGroup:
    largest = max(findings, key=lambda f: abs(f.delta_bytes or 0))
    cause = largest.cause
    assert cause is not None
    since = {f.since_run for f in findings}
    return CauseGroup(
        key=cause.key,
        title=cause_in_short(largest),
        blame=cause.blame,
        direction=direction,
        color=largest.color,
        space=largest.space,
        programs=sorted({f.program for f in findings}),
        sum_delta_bytes=sum(f.delta_bytes or 0 for f in findings),
        max_delta_bytes=largest.delta_bytes or 0,
        first_run=since.pop() if len(since) == 1 else None,
        owners=sorted({f.owner for f in findings if f.owner}),
        next_query=largest.commands[0] if largest.commands else "",
    )

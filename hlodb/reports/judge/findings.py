"""Findings: what moved, with a stable id, its cause and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hlodb.printed_commands import positional
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.finding_ids import METRIC
from hlodb.reports.judge.sentences import cause_line
from hlodb.reports.model.facts import Run
from hlodb.reports.model.findings import CauseGroup, Finding
from hlodb.reports.read.details import UNEXPLAINED, Explanation
from hlodb.reports.read.pairs import Pair, Verdict, tags

ALERTING = ("worse", "mixed")
"""Changes that fail the gate `regression`."""

OPEN = (*ALERTING, "changed")
"""Changes that a gate may report, and somebody may allow."""

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


class Movement(NamedTuple):
    """A verdict on two runs, with all that a finding says of it.

    `fate` is what became of an earlier rise: `undone`, `stands`, else empty.
    """

    verdict: Verdict
    id: str
    scope: str
    candidate_run: Run
    first_run: Run | None
    run_before: Run | None
    undone_run: Run | None
    fate: str
    explanation: Explanation | None
    history: Sequence[str]


def make_finding(m: Movement, settings: Settings, limit_bytes: int | None) -> Finding:
    """Return the finding of a movement; `limit_bytes` is the memory of the device."""
    v = m.verdict
    module = v.pair.candidate or v.pair.base
    assert module is not None
    first = m.first_run or m.candidate_run
    change = "fixed" if m.undone_run is not None else v.change
    finding = Finding(
        id=m.id,
        scope=m.scope,
        state="undone" if m.fate == "undone" else change,
        change=change,
        rule=v.rule,
        program=module.program,
        base_program=other_name(v.pair),
        rank=module.rank,
        module_number=module.module_number,
        path=module.path,
        color=v.color,
        space=v.space,
        metric=METRIC,
        base_run=v.pair.base_run.name if v.pair.base_run else None,
        candidate_run=m.candidate_run.name,
        first_run=first.name,
        base_bytes=v.base_bytes,
        candidate_bytes=v.candidate_bytes,
        delta_bytes=v.delta_bytes,
        delta_ratio=ratio(v.delta_bytes, v.base_bytes),
        delta_live_peak_bytes=v.delta_live_peak_bytes,
        relevance=_relevance(v, settings, limit_bytes),
        tags=tags(v),
        differing_keys=list(v.pair.differing_keys),
        match_method=v.pair.method,
        match_confidence=v.pair.confidence,
        owner=None,
        **(m.explanation or UNEXPLAINED)._asdict(),
        stands=m.fate == "stands",
        triage=None,
        history=list(m.history),
        commands=[*_commands(v, m.candidate_run), *_bisection(m.run_before, first)],
    )
    return _owned(finding, settings)


def _owned(finding: Finding, settings: Settings) -> Finding:
    at = cause_line(finding)
    path = at[0] if at else None
    return replace(finding, owner=settings.owner_of(finding.program, path))


def ratio(delta: int | None, base: int | None) -> float | None:
    """Return a difference as a share of the base; None where there is no base."""
    return round(delta / base, 6) if delta is not None and base else None


def other_name(pair: Pair) -> str | None:
    """Return the program's name in the base, where it differs."""
    base, candidate = pair.base, pair.candidate
    if base is None or candidate is None or base.program == candidate.program:
        return None
    return base.program


def _relevance(v: Verdict, settings: Settings, limit_bytes: int | None) -> int:
    """Return Δbytes times weight times the share of the device's memory in use."""
    amount = v.delta_bytes
    if amount is None:
        amount = v.candidate_bytes or v.base_bytes or 0
    used = max(v.base_bytes or 0, v.candidate_bytes or 0)
    consumed = used / limit_bytes if limit_bytes else 1.0
    return round(amount * settings.weight_of(v.pair.program) * consumed)


def _commands(v: Verdict, candidate_run: Run) -> list[str]:
    base, candidate = v.pair.base, v.pair.candidate
    if candidate is None:
        return []
    run = shlex.quote(f"run={candidate_run.name}")
    name = shlex.quote(f"program={candidate.program}")
    if not candidate.has_assignment:
        return [f"hlodb query incomplete_modules -p {run} -p {name}"]
    commands = []
    if base is not None and base.has_assignment and v.pair.base_run:
        old = f"{v.pair.base_run.name}:{base.program}"
        new = f"{candidate_run.name}:{candidate.program}"
        commands.append(shlex.join(["hlodb", "diff", *positional(old, new)]))
    return [*commands, f"hlodb query peak_contents -p {run} -p {name}"]


def _bisection(before: Run | None, first: Run) -> list[str]:
    """Return the command that names the commit to dump next, if there may be one."""
    ends = (before.commit_sha if before else None, first.commit_sha)
    if None in ends or ends[0] == ends[1]:
        return []
    return [f"git rev-list --bisect {shlex.quote(f'{ends[0]}..{ends[1]}')}"]


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
    firsts = sorted({f.first_run for f in findings if f.first_run})
    return CauseGroup(
        key=cause.key,
        title=cause.title,
        blame=cause.blame,
        direction=direction,
        color=largest.color,
        space=largest.space,
        programs=sorted({f.program for f in findings}),
        sum_delta_bytes=sum(f.delta_bytes or 0 for f in findings),
        max_delta_bytes=largest.delta_bytes or 0,
        first_run=firsts[0] if len(firsts) == 1 else None,
        owners=sorted({f.owner for f in findings if f.owner}),
        next_query=largest.commands[0] if largest.commands else "",
    )

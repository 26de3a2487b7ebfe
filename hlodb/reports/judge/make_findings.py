"""Findings: what moved, with a stable id, its cause and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hlodb.printed_commands import positional
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.finding_ids import METRIC
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.sentences import cause_line
from hlodb.reports.read.details import UNEXPLAINED, Explanation
from hlodb.reports.read.facts import Run
from hlodb.reports.read.pairs import Pair, Verdict, tags


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

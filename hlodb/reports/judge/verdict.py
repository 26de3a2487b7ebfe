"""Decide the verdict of a report and its exit code."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.judge.findings import ALERTING, Finding
from hlodb.reports.judge.gates import ABSOLUTE
from hlodb.reports.judge.report import Gate, Judged, Report
from hlodb.reports.read.baseline import FIRST

FAIL_ON = ("regression", "budget", "quality", "none")
"""What makes the process fail: any gate, budgets only, unsound data only, nothing."""


GATE_FAILED = 1


UNSOUND_DATA = 3


NOTHING_TO_COMPARE = 4


def judged_gates(report: Judged) -> list[Gate]:
    """Return the gates, without those that nothing fails as nothing was compared."""
    if is_compared(report):
        return report.gates
    judged = ABSOLUTE if holds_programs(report) else ()
    return [g for g in report.gates if g.gate in judged or g.status != "pass"]


def unjudged_growth(report: Judged | Report) -> list[Finding]:
    """Return the programs that grew and are not comparable, which no gate judges."""
    found = [
        f
        for f in report.findings
        if (f.scope, f.change) == ("candidate", "not_comparable")
        and (f.candidate_bytes or 0) > (f.base_bytes or 0)
    ]
    return sorted(found, key=lambda f: -(f.delta_bytes or 0))


def is_of_other_platform(report: Judged | Report) -> bool:
    """Return whether both runs are of one platform each, and of another."""
    base, candidate = report.comparison.base, report.comparison.candidate
    platforms = {run.platform for run in (base, candidate) if run is not None}
    return len(platforms - {None}) > 1


def verdict_of(report: Judged) -> str:
    """Return pass, warn, fail, unknown (unsound data) or nothing (to compare).

    A program above a known limit fails no gate of its own (`budget` does that), but is
    never a pass.
    """
    if any(row.is_gating for row in report.quality):
        return "unknown"
    if nothing_compared(report):
        return "nothing"
    statuses = {g.status for g in report.gates}
    if is_above_limit(report):
        statuses.add("warn")
    return next((each for each in ("fail", "warn") if each in statuses), "pass")


def is_above_limit(report: Judged | Report) -> bool:
    """Return whether a program of the candidate reserves more than a known limit."""
    return any((row.headroom_ratio or 0) < 0 for row in report.capacity)


def nothing_compared(report: Judged) -> bool:
    """Return whether there is nothing to judge.

    Limits need programs, but no base. A run without any program has lost those of its
    base; of one that holds others nobody knows whether these were to be there.
    """
    if is_compared(report):
        return False
    if not holds_programs(report):
        return not any(g.program is not None for g in report.gates)
    return not any(g.gate in ABSOLUTE for g in report.gates)


def holds_programs(report: Judged) -> bool:
    """Return whether any program of the candidate has a buffer assignment."""
    return any(p.candidate_bytes is not None for p in report.programs)


def is_compared(report: Judged) -> bool:
    """Return whether any program of the base was judged, whatever its inputs."""
    if report.comparison.base is None:
        return False
    is_followed = any(p.change == "changed" for p in report.programs)
    return report.comparison.comparable > 0 or is_followed


def exit_code_of(report: Judged, verdict: str, fail_on: str, allow_empty: bool) -> int:
    """Return the exit code of a verdict; `fail_on` is one of FAIL_ON."""
    if fail_on == "none":
        return 0
    if verdict == "unknown":
        return UNSOUND_DATA
    if verdict == "nothing":
        # The first run of a series is no failure: the next one has a base. A run
        # without a program is one.
        is_first = report.comparison.rule == FIRST and holds_programs(report)
        return 0 if allow_empty or is_first else NOTHING_TO_COMPARE
    failed = {g.gate for g in report.gates if g.status == "fail"}
    if fail_on == "budget":
        failed &= {"budget"}
    return GATE_FAILED if failed and fail_on != "quality" else 0


_TRACE = 100
"""What is this many times smaller than a fall is a trace of it."""


def worst_finding(
    findings: Sequence[Finding], failed: Sequence[Gate]
) -> Finding | None:
    """Return the first finding that fails a gate, else the first that alerts."""
    ids = {g.finding_id for g in failed}
    mine = [f for f in findings if f.scope == "candidate"]
    return next((f for f in mine if f.id in ids), None) or next(
        (f for f in mine if f.state in ALERTING), None
    )


def leading_fall(report: Judged | Report, worst: Finding | None) -> Finding | None:
    """Return the largest fall of a diff beside which what grew is a trace.

    Gates judge reports: there what grew comes first, however small.
    """
    if report.kind != "diff" or worst is None or worst.delta_bytes is None:
        return None
    mine = [f for f in report.findings if f.scope == "candidate"]
    grown = [worst, *(f for f in mine if f.state in ALERTING)]
    most = max(abs(f.delta_bytes or 0) for f in grown)
    falls = [
        f
        for f in mine
        if f.change == "improved" and abs(f.delta_bytes or 0) > _TRACE * most
    ]
    return max(falls, key=lambda f: abs(f.delta_bytes or 0), default=None)


def warned_finding(report: Judged | Report) -> Finding | None:
    """Return the finding with other inputs that moved most, where a gate warns."""
    ids = {g.finding_id for g in report.gates if g.status == "warn"}
    found = [f for f in report.findings if f.id in ids]
    if report.kind == "diff":
        found = [f for f in report.findings if f.change == "changed"]
    return max(found, key=lambda f: abs(f.delta_bytes or 0), default=None)

"""The verdict of a report, its exit code, and the one sentence on top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hlodb.reports.judge.findings import ALERTING, Finding
from hlodb.reports.judge.gates import ABSOLUTE
from hlodb.reports.judge.names import Names, called, shared_names
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import (
    changed_inputs,
    gate_sentence,
    input_words,
    lack,
    moved,
)
from hlodb.reports.read.baseline import FIRST
from hlodb.reports.read.limits import limit_of, limit_words
from hlodb.text import (
    bytes_from_to,
    counted,
    plain_bytes,
    plain_percent,
    signed_bytes,
    signed_percent,
)

FAIL_ON = ("regression", "budget", "quality", "none")
"""What makes the process fail: any gate, budgets only, unsound data only, nothing."""

MARKS = {"pass": "✅", "warn": "⚠️", "fail": "❌", "unknown": "❓", "nothing": "⚪"}

_WORDS = {
    "improved": "improved",
    "fixed": "fixed",
    "waived": "waived",
    "accepted": "accepted",
    "invalid": "invalid",
    "duplicate": "duplicate",
    "new": "new",
    "failed": "missing",
    "recovered": "recovered",
    "same": "same",
    "changed": "with other inputs",
    "not_comparable": "not comparable",
}

GATE_FAILED = 1
UNSOUND_DATA = 3
NOTHING_TO_COMPARE = 4


def conclude(report: Report, fail_on: str, allow_empty: bool) -> Report:
    """Return the report with verdict, exit code, counts and headline.

    Unsound data leaves the verdict unknown, whatever the gates say: neither a pass nor
    a failure can be relied on. Where there is nothing to judge, no gate is.
    """
    counts = Counter(row.state for row in report.programs)
    verdict = _verdict(report)
    return replace(
        report,
        verdict=verdict,
        gates=[] if verdict == "nothing" else _judged(report),
        exit_code=_exit_code(report, verdict, fail_on, allow_empty),
        counts=dict(sorted(counts.items())),
        headline=" ".join(
            [
                _mark(report, verdict),
                *_refused(report),
                _headline(report, verdict, counts),
            ]
        ),
    )


def _judged(report: Report) -> list[Gate]:
    """Return the gates, without those that nothing fails as nothing was compared."""
    if _is_compared(report):
        return report.gates
    judged = ABSOLUTE if _holds_programs(report) else ()
    return [g for g in report.gates if g.gate in judged or g.status != "pass"]


def _mark(report: Report, verdict: str) -> str:
    """Return the mark of a verdict: none is green where growth was not judged.

    A diff judges nothing.
    """
    if report.kind == "diff" and verdict in ("pass", "warn"):
        return "±"
    if verdict != "pass":
        return MARKS[verdict]
    return MARKS["nothing" if unjudged_growth(report) else "pass"]


def unjudged_growth(report: Report) -> list[Finding]:
    """Return the programs that grew and are not comparable, which no gate judges."""
    found = [
        f
        for f in report.findings
        if (f.scope, f.change) == ("candidate", "not_comparable")
        and (f.candidate_bytes or 0) > (f.base_bytes or 0)
    ]
    return sorted(found, key=lambda f: -(f.delta_bytes or 0))


def is_of_other_platform(report: Report) -> bool:
    """Return whether both runs are of one platform each, and of another."""
    base, candidate = report.comparison.base, report.comparison.candidate
    platforms = {run.platform for run in (base, candidate) if run is not None}
    return len(platforms - {None}) > 1


def _verdict(report: Report) -> str:
    if any(row.is_gating for row in report.quality):
        return "unknown"
    if _nothing_compared(report):
        return "nothing"
    statuses = {g.status for g in report.gates}
    return next((each for each in ("fail", "warn") if each in statuses), "pass")


def _nothing_compared(report: Report) -> bool:
    """Return whether there is nothing to judge.

    Limits need programs, but no base. A run without any program has lost those of its
    base; of one that holds others nobody knows whether these were to be there.
    """
    if _is_compared(report):
        return False
    if not _holds_programs(report):
        return not any(g.program is not None for g in report.gates)
    return not any(g.gate in ABSOLUTE for g in report.gates)


def _holds_programs(report: Report) -> bool:
    return any(p.candidate_bytes is not None for p in report.programs)


def _is_compared(report: Report) -> bool:
    """Return whether any program of the base was judged, whatever its inputs."""
    if report.comparison.base is None:
        return False
    is_followed = any(p.change == "changed" for p in report.programs)
    return report.comparison.comparable > 0 or is_followed


def _exit_code(report: Report, verdict: str, fail_on: str, allow_empty: bool) -> int:
    if fail_on == "none":
        return 0
    if verdict == "unknown":
        return UNSOUND_DATA
    if verdict == "nothing":
        # The first run of a series is no failure: the next one has a base. A run
        # without a program is one.
        is_first = report.comparison.rule == FIRST and _holds_programs(report)
        return 0 if allow_empty or is_first else NOTHING_TO_COMPARE
    failed = {g.gate for g in report.gates if g.status == "fail"}
    if fail_on == "budget":
        failed &= {"budget"}
    return GATE_FAILED if failed and fail_on != "quality" else 0


def _headline(report: Report, verdict: str, counts: Counter[str]) -> str:
    if verdict == "unknown":
        unsound = _unsound(report)
        if report.kind != "diff" or _nothing_compared(report):
            return unsound
        return f"{unsound}; as it stands, {_found(report, counts)}"
    if verdict == "nothing":
        if report.comparison.rule == FIRST:
            return f"nothing to compare yet: {report.comparison.rule_text}"
        why = f"nothing to compare: {_why_nothing(report)}"
        if is_of_other_platform(report):
            return why
        grown = unjudged_growth(report)
        return f"{why}; {_unjudged_text(grown[0], report)}" if grown else why
    return _found(report, counts)


def _unsound(report: Report) -> str:
    bad = [row for row in report.quality if row.is_gating]
    total = sum(row.count for row in bad)
    what = f"{counted(total, bad[0].kind)}: {bad[0].code}"
    if bad[0].count < total:
        what = f"{counted(total, 'problem')}, first {bad[0].kind}: {bad[0].code}"
    return f"unknown: the data is not sound ({what})"


def _found(report: Report, counts: Counter[str]) -> str:
    failed = [g for g in report.gates if g.status == "fail"]
    worst = worst_finding(report.findings, failed)
    headroom = _headroom(report)
    shared = shared_names(report)
    if not _is_compared(report):
        parts = [_limits(failed, shared), _why_nothing(report)]
    elif report.kind == "diff":
        parts = [_differences(counts, worst, shared)]
    else:
        parts = [_regressions(counts, failed, worst, shared)]
    if not failed and (f := warned_finding(report)):
        parts.insert(0, _changed_text(f, shared))
    if not failed and report.kind != "diff" and (grown := unjudged_growth(report)):
        parts.insert(0, _unjudged_text(grown[0], report))
        counts = counts - Counter(["not_comparable"])
    others = _others(counts) if report.comparison.base is not None else []
    return "; ".join([*parts, *others, *([headroom] if headroom else [])])


def _why_nothing(report: Report) -> str:
    comparison = report.comparison
    if comparison.base is None:
        return comparison.rule_text
    if not report.programs:
        return "neither run holds a program with a buffer assignment"
    if not _holds_programs(report):
        return f"{comparison.candidate.name} holds no program"
    if is_of_other_platform(report):
        platforms = f"{comparison.base.platform} → {comparison.candidate.platform}"
        return f"no program is comparable (platform {platforms})"
    reasons = {key for f in report.findings for key in f.differing_keys}
    if reasons:
        return f"no program is comparable ({changed_inputs(sorted(reasons))})"
    return "the runs have no program in common"


def worst_finding(
    findings: Sequence[Finding], failed: Sequence[Gate]
) -> Finding | None:
    """Return the first finding that fails a gate, else the first that alerts."""
    ids = {g.finding_id for g in failed}
    mine = [f for f in findings if f.scope == "candidate"]
    return next((f for f in mine if f.id in ids), None) or next(
        (f for f in mine if f.state in ALERTING), None
    )


def warned_finding(report: Report) -> Finding | None:
    """Return the finding with other inputs that moved most, where a gate warns."""
    ids = {g.finding_id for g in report.gates if g.status == "warn"}
    found = [f for f in report.findings if f.id in ids]
    if report.kind == "diff":
        found = [f for f in report.findings if f.change == "changed"]
    return max(found, key=lambda f: abs(f.delta_bytes or 0), default=None)


def _changed_text(f: Finding, shared: Names) -> str:
    words = input_words(f.inputs)
    why = f"inputs changed: {words}" if words else changed_inputs(f.differing_keys)
    sizes = bytes_from_to(f.base_bytes or 0, f.candidate_bytes or 0)
    delta = f"{signed_bytes(f.delta_bytes)}, {signed_percent(f.delta_ratio)}"
    return f"{called(f, shared)} {f.space} {sizes} ({delta}), {why}"


def _regressions(
    counts: Counter[str], failed: Sequence[Gate], worst: Finding | None, shared: Names
) -> str:
    worse = counts["worse"] + counts["mixed"]
    text = counted(worse, "regression") if worse else "no regression"
    if failed:
        text += f" ({counted(len(failed), 'gate')} failed)"
    gate = next((g for g in failed if worst and g.finding_id == worst.id), None)
    if gate is not None and worst is not None and worst.change == "changed":
        text += f": {_changed_text(worst, shared)}"
    elif gate is not None and gate.gate == "donation_loss":
        text += f": {gate_sentence(gate, worst, shared)}"
    elif worst is not None:
        text += f": {_worst_text(worst, shared)}"
    elif failed:
        text += f": {_failed_text(failed[0], shared)}"
    return text


def _limits(failed: Sequence[Gate], shared: Names) -> str:
    if not failed:
        return "no gate failed"
    return f"{counted(len(failed), 'gate')} failed: {_failed_text(failed[0], shared)}"


def _failed_text(g: Gate, shared: Names) -> str:
    who = called(g, shared) if g.program is not None else "the run"
    text = f"{g.gate} of {who}"
    if g.unit == "bytes":
        over = plain_bytes(int(g.value - g.limit))
        text += f" by {over} over {plain_bytes(int(g.limit))}"
    return text


def _differences(counts: Counter[str], worst: Finding | None, shared: Names) -> str:
    worse = counts["worse"] + counts["mixed"]
    text = f"{worse:,} worse" if worse else "nothing worse"
    return text + (f": {_worst_text(worst, shared)}" if worst is not None else "")


def _worst_text(f: Finding, shared: Names) -> str:
    who = f"{called(f, shared)} {f.space}"
    if f.change == "failed":
        return f"{who} {lack(f)}"
    if f.delta_bytes is None:
        return f"{who} is {_WORDS.get(f.change, f.change)}"
    text = f"{who} {moved(f)}"
    return text + (f", cause: {f.cause.title}" if f.cause else "")


def _unjudged_text(f: Finding, report: Report) -> str:
    who = f"{called(f, shared_names(report))} {f.space}"
    sizes = bytes_from_to(f.base_bytes or 0, f.candidate_bytes or 0)
    return f"{who} not comparable ({changed_inputs(f.differing_keys)}): {sizes}"


def _others(counts: Counter[str]) -> list[str]:
    return [f"{counts[k]:,} {word}" for k, word in _WORDS.items() if counts[k]]


def _refused(report: Report) -> list[str]:
    """Return the programs that the compiler refused, which come before all else."""
    names = sorted({name for c in report.capacity for name in c.refused})
    if not names:
        return []
    who = names[0] if len(names) == 1 else counted(len(names), "program")
    return [f"the compiler refused {who}, which does not fit;"]


def _headroom(report: Report) -> str | None:
    known = [c for c in report.capacity if c.headroom_ratio is not None]
    if not known or any(c.refused for c in report.capacity):
        return None
    tightest = min(known, key=lambda c: c.headroom_ratio or 0)
    device = report.comparison.candidate.device
    return (
        f"headroom {plain_percent(tightest.headroom_ratio)} of"
        f" {limit_words(limit_of(tightest, device))} {tightest.space}"
    )

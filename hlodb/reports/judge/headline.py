"""Write the headline of a report: its verdict and the most important figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hlodb.reports.judge.findings import (
    Finding,
    cause_in_short,
    cause_label,
    has_lost_donations,
    is_by_release,
    is_little,
)
from hlodb.reports.judge.names import Names, called, memory, shared_names, state_words
from hlodb.reports.judge.report import Gate, Judged
from hlodb.reports.judge.sentences import (
    against_limit,
    are_inputs_little,
    changed_inputs,
    changes_of_inputs,
    gate_sentence,
    lack,
    lost_words,
    moved,
)
from hlodb.reports.judge.verdict import (
    holds_programs,
    is_above_limit,
    is_compared,
    is_of_other_platform,
    leading_fall,
    nothing_compared,
    unjudged_growth,
    warned_finding,
    worst_finding,
)
from hlodb.reports.read.baseline import FIRST
from hlodb.reports.read.capacity import limit_of, limit_words
from hlodb.reports.read.causes import explaining
from hlodb.reports.read.environment import release_flags
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import (
    bytes_from_to,
    counted,
    plain_percent,
    signed_bytes,
    signed_percent,
)

MARKS = {"pass": "✅", "warn": "⚠️", "fail": "❌", "unknown": "❓", "nothing": "⚪"}

_WORDS = {
    "improved": "improved",
    "fixed": state_words("fixed"),
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


def _mark(report: Judged, verdict: str) -> str:
    """Return the mark of a verdict: none is green where growth was not judged.

    A diff judges nothing.
    """
    if report.kind == "diff" and verdict in ("pass", "warn"):
        return "±"
    if verdict != "pass":
        return MARKS[verdict]
    return MARKS["nothing" if unjudged_growth(report) else "pass"]


def headline_of(report: Judged, verdict: str, counts: Counter[str]) -> str:
    """Return the sentence on top of a report, with the mark of its verdict."""
    text = _headline(report, verdict, counts)
    return " ".join([_mark(report, verdict), *_refused(report), text])


def _headline(report: Judged, verdict: str, counts: Counter[str]) -> str:
    if verdict == "unknown":
        unsound = _unsound(report)
        if report.kind != "diff" or nothing_compared(report):
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


def _unsound(report: Judged) -> str:
    bad = [row for row in report.quality if row.is_gating]
    total = sum(row.count for row in bad)
    what = f"{counted(total, bad[0].kind)}: {bad[0].code}"
    if bad[0].count < total:
        what = f"{counted(total, 'problem')}, first {bad[0].kind}: {bad[0].code}"
    return f"unknown: the data is not sound ({what})"


def _found(report: Judged, counts: Counter[str]) -> str:
    failed = [g for g in report.gates if g.status == "fail"]
    worst = worst_finding(report.findings, failed)
    headroom = _headroom(report)
    shared = shared_names(report)
    # With other inputs a program is a regression where a gate says that edits grew it.
    ids = {g.finding_id for g in failed if g.gate == "regression"}
    edited = sum(f.change == "changed" and f.id in ids for f in report.findings)
    counts = counts - Counter(changed=edited) + Counter(worse=edited)
    if not is_compared(report):
        parts = [_limits(failed, shared), _why_nothing(report)]
    elif report.kind == "diff":
        fall = leading_fall(report, worst)
        parts = [_worst_text(fall, shared)] if fall is not None else []
        parts += _differences(report, worst, shared)
    else:
        parts = [_regressions(counts, failed, worst, shared)]
    if not failed and (f := warned_finding(report)):
        # Nothing is green beside what grew.
        told = [_changed_text(f, shared)]
        is_all = report.kind == "diff" and worst is None
        parts = told if is_all else [*told, *parts]
        # A program has a row per memory space.
        rows = [p for p in report.programs if p.state == "changed"]
        counts = counts - Counter(changed=sum(_place(p) == _place(f) for p in rows))
    if not failed and report.kind != "diff" and (grown := unjudged_growth(report)):
        parts.insert(0, _unjudged_text(grown[0], report))
        counts = counts - Counter(["not_comparable"])
    others = _others(counts, report) if report.comparison.base is not None else []
    released = []
    is_said = worst is not None and is_by_release(worst)
    is_other = release_flags(report.comparison.environment) and is_compared(report)
    if is_other and not is_said:
        released = ["compiled by another release of XLA"]
    said = [headroom] if headroom else []
    if not failed and report.kind != "diff" and is_above_limit(report):
        # Nothing that could pass comes before it.
        return "; ".join([*said, *parts, *released, *others])
    return "; ".join([*parts, *released, *others, *said])


def _place(row: Finding | ProgramRow) -> tuple[str, int | None, int | None]:
    return row.program, row.rank, row.module_number


def _why_nothing(report: Judged) -> str:
    comparison = report.comparison
    if comparison.base is None:
        return comparison.rule_text
    if not report.programs:
        return "neither run holds a program with a buffer assignment"
    if not holds_programs(report):
        return f'run "{comparison.candidate.name}" holds no program'
    if is_of_other_platform(report):
        platforms = f"{comparison.base.platform} → {comparison.candidate.platform}"
        return f"no program is comparable (platform {platforms})"
    reasons = {key for f in report.findings for key in f.differing_keys}
    if reasons:
        return f"no program is comparable ({changed_inputs(sorted(reasons))})"
    return "the runs have no program in common"


def _changed_text(f: Finding, shared: Names) -> str:
    words = changes_of_inputs(f)
    why = f"inputs changed: {words}" if f.inputs else words
    if are_inputs_little(f):
        why = f"cause: {cause_in_short(f)}; and {why}"
    elif explaining(f.claims):
        why += f"; and {cause_in_short(f)}"
    sizes = bytes_from_to(f.base_bytes or 0, f.candidate_bytes or 0)
    delta = f"{signed_bytes(f.delta_bytes)}, {signed_percent(f.delta_ratio)}"
    change = f.delta_bytes or 0
    moved = " grew" if change > 0 else " shrank" if change < 0 else ""
    return f"{called(f, shared)} {memory(f)}{moved} {sizes} ({delta}), {why}"


def _regressions(
    counts: Counter[str], failed: Sequence[Gate], worst: Finding | None, shared: Names
) -> str:
    worse = counts["worse"] + counts["mixed"]
    gates = f"{counted(len(failed), 'gate')} failed"
    text = counted(worse, "regression") if worse else "no regression"
    if failed:
        text = f"{text} ({gates})" if worse else gates
    gate = next((g for g in failed if worst and g.finding_id == worst.id), None)
    if gate is not None and gate.gate == "donation_loss":
        text += f": {gate_sentence(gate, worst, shared)}"
    elif gate is not None and worst is not None and worst.change == "changed":
        text += f": {_changed_text(worst, shared)}"
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
    if g.gate == "budget":
        return f"{who} {memory(g)} is {against_limit(g)}"
    return f"{text}: {against_limit(g)}" if g.unit == "bytes" else text


def _differences(report: Judged, worst: Finding | None, shared: Names) -> list[str]:
    """Return what is worse; nothing of the kind beside what may fail another gate."""
    worse = [f for f in report.findings if f.state in ("worse", "mixed")]
    if not worse:
        if lost := [f for f in report.findings if has_lost_donations(f)]:
            return [_lost_text(lost, shared)]
        is_missing = any(f.change == "failed" for f in report.findings)
        return [] if is_missing else ["nothing worse"]
    little = sum(is_little(f) for f in worse)
    counts = Counter(f.state for f in worse)
    text = ", ".join(f"{counts[s]:,} {s}" for s in ("worse", "mixed") if counts[s])
    if little:
        number = "" if little == len(worse) else f", {little:,}"
        text += f"{number} by less than 1 MiB"
    return [text + (f": {_worst_text(worst, shared)}" if worst is not None else "")]


def _lost_text(lost: Sequence[Finding], shared: Names) -> str:
    first = max(lost, key=lambda f: f.lost_donation_bytes)
    who = f"{called(first, shared)} {memory(first)}"
    text = f"{who}: {lost_words(first.lost_donation_bytes)}"
    more = len({_place(f) for f in lost}) - 1
    return f"{text}, and {counted(more, 'more program')}" if more else text


def _worst_text(f: Finding, shared: Names) -> str:
    who = f"{called(f, shared)} {memory(f)}"
    if f.change == "failed":
        return f"{who} {lack(f)}"
    if f.delta_bytes is None:
        return f"{who} is {_WORDS.get(f.change, f.change)}"
    text = f"{who} {moved(f)}"
    if f.cause is None:
        return text
    return f"{text}, {cause_label(f.cause)}: {cause_in_short(f)}"


def _unjudged_text(f: Finding, report: Judged) -> str:
    who = f"{called(f, shared_names(report))} {memory(f)}"
    sizes = bytes_from_to(f.base_bytes or 0, f.candidate_bytes or 0)
    return f"{who} not comparable ({changed_inputs(f.differing_keys)}): {sizes}"


def _others(counts: Counter[str], report: Judged) -> list[str]:
    grown = {"changed": _growth(report)}
    return [
        f"{counts[k]:,} {word}{grown.get(k, '')}"
        for k, word in _WORDS.items()
        if counts[k]
    ]


def _growth(report: Judged) -> str:
    """Return by how much a program with other inputs grew that is not named."""
    failed = {g.finding_id for g in report.gates if g.status == "fail"}
    named = None if failed else warned_finding(report)
    deltas = [
        f.delta_bytes or 0
        for f in report.findings
        if (f.scope, f.state) == ("candidate", "changed")
        and f.id not in failed
        and (named is None or _place(f) != _place(named))
    ]
    most = max(deltas, default=0)
    if report.kind == "diff" or most <= 0:
        return ""
    return f" ({'up to ' if len(deltas) > 1 else ''}{signed_bytes(most)})"


def _refused(report: Judged) -> list[str]:
    """Return the programs that the compiler refused, which come before all else."""
    names = sorted({name for c in report.capacity for name in c.refused})
    if not names:
        return []
    who = names[0] if len(names) == 1 else counted(len(names), "program")
    return [f"the compiler refused {who}, which does not fit;"]


def _headroom(report: Judged) -> str | None:
    known = [c for c in report.capacity if c.headroom_ratio is not None]
    if not known or any(c.refused for c in report.capacity):
        return None
    tightest = min(known, key=lambda c: c.headroom_ratio or 0)
    device = report.comparison.candidate.device
    limit = f"{limit_words(limit_of(tightest, device))} {memory(tightest)}"
    ratio = tightest.headroom_ratio or 0
    if ratio < 0:
        return f"does not fit: {plain_percent(-ratio)} over {limit}"
    return f"headroom {plain_percent(ratio)} of {limit}"

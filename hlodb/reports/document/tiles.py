"""The four figures on top of a report's page."""

from __future__ import annotations

from typing import NamedTuple

from hlodb.reports.document.blocks import sparkline
from hlodb.reports.judge.names import called, shared_names
from hlodb.reports.judge.report import Report
from hlodb.reports.read.capacity import limit_of, limit_words
from hlodb.text import (
    counted,
    few,
    plain_bytes,
    plain_percent,
    signed_bytes,
    signed_percent,
)

_VERDICTS = {
    "pass": "pass",
    "warn": "warning",
    "fail": "fail",
    "unknown": "unknown",
    "nothing": "not judged",
}
_STATES = {
    "worse": ("worse", "mixed"),
    "missing": ("failed",),
    "improved": ("improved",),
    "fixed": ("fixed",),
    "new": ("new",),
    "same": ("same",),
}


class Tile(NamedTuple):
    """A figure with its name and a line about it; `target` is what a click shows."""

    name: str
    value: str
    text: str
    target: str | None


def tiles(report: Report) -> list[Tile]:
    """Return verdict, largest change or program, headroom and trend."""
    largest = _largest_change(report) or _largest_program(report)
    return [_verdict(report), largest, _headroom(report), _trend(report)]


def anchor(title: str) -> str:
    """Return the id of the section with this title."""
    return title.lower().replace(" ", "-")


def finding_anchor(finding_id: str) -> str:
    """Return the id of the card of a finding."""
    return f"finding-{finding_id}"


def _verdict(report: Report) -> Tile:
    counts = [
        f"{count:,} {words}"
        for words, states in _STATES.items()
        if (count := sum(report.counts.get(state, 0) for state in states))
    ]
    text = ", ".join(counts) or counted(len(report.programs), "row")
    failed = sum(g.status == "fail" for g in report.gates)
    if failed:
        text = f"{counted(failed, 'gate')} failed; {text}"
    # A diff applies no gate.
    is_judged = report.kind == "report"
    value = _VERDICTS[report.verdict] if is_judged else "compared"
    target = "gates" if report.gates else "what-was-compared"
    return Tile("Verdict", value, text, target)


def _largest_change(report: Report) -> Tile | None:
    moved = [f for f in report.findings if f.scope == "candidate" and f.delta_bytes]
    if not moved:
        return None
    f = max(moved, key=lambda f: abs(f.delta_bytes or 0))
    who = f"{called(f, shared_names(report))} {f.space}"
    text = f"{who} ({signed_percent(f.delta_ratio)})"
    value = signed_bytes(f.delta_bytes)
    return Tile("Largest change", value, text, finding_anchor(f.id))


def _largest_program(report: Report) -> Tile:
    held = [p for p in report.programs if p.candidate_bytes]
    if not held:
        return Tile("Largest program", "-", "no program with memory", None)
    p = max(held, key=lambda p: p.candidate_bytes or 0)
    who = f"{called(p, shared_names(report))} {p.space}"
    return Tile("Largest program", plain_bytes(p.candidate_bytes), who, "programs")


def _headroom(report: Report) -> Tile:
    if refused := [name for c in report.capacity for name in c.refused]:
        text = f"by the compiler: {few(refused, 3)}"
        return Tile("Headroom", "refused", text, "capacity")
    known = [c for c in report.capacity if c.headroom_ratio is not None]
    if not known:
        target = "capacity" if report.capacity else None
        return Tile("Headroom", "unknown", "no limit of the device is known", target)
    c = min(known, key=lambda c: c.headroom_ratio or 0)
    value = plain_percent(c.headroom_ratio)
    limit = limit_words(limit_of(c, report.comparison.candidate.device))
    text = f"{c.program} {c.space}: {plain_bytes(c.used_bytes)} of {limit}"
    return Tile("Headroom", value, text, "capacity")


def _trend(report: Report) -> Tile:
    moved = [t for t in report.trends if len({p.bytes for p in t.points}) > 1]
    if not moved:
        runs = 0 if report.kind == "diff" else len(report.comparison.series_runs)
        text = f"no step in {counted(runs, 'run')}" if runs > 1 else "no series"
        return Tile("Trend", "-", text, None)
    trend = max(moved, key=lambda t: abs(t.points[-1].bytes - t.points[0].bytes))
    first, last = trend.points[0].bytes, trend.points[-1].bytes
    who = f"{called(trend, shared_names(report))} {trend.space}"
    text = f"{who}: {signed_bytes(last - first)} in {counted(len(trend.points), 'run')}"
    bars = sparkline([point.bytes for point in trend.points])
    return Tile("Trend", bars, text, "history")

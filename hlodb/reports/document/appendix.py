"""The sections of a report below its findings."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.document.blocks import Block, Paragraph, sparkline, table
from hlodb.reports.judge.findings import Finding, cause_in_short
from hlodb.reports.judge.names import called, memory, shared_names
from hlodb.reports.judge.report import Report
from hlodb.reports.read.capacity import NOT_INCLUDED, Capacity, limit_of, limit_words
from hlodb.reports.read.compilations import Health
from hlodb.reports.read.history import Trend
from hlodb.text import (
    counted,
    few,
    json_text,
    plain_bytes,
    plain_percent,
    signed_bytes,
    signed_percent,
)

_MOST_CAVEATS = 3


def needs(report: Report, top: int) -> list[Block]:
    """Return the needs of every program of a candidate without a base, by space."""
    programs = sorted(
        report.programs,
        key=lambda p: (p.color, -(p.candidate_bytes or 0), p.program, p.rank or 0),
    )
    shared = shared_names(report)
    rows = [
        [
            called(p, shared),
            memory(p),
            plain_bytes(p.candidate_bytes),
            plain_bytes(p.candidate_live_peak_bytes),
            plain_bytes(p.fragmentation_bytes),
            plain_bytes(p.padding_bytes),
        ]
        for p in programs
    ]
    header = ["program", "space", "reserved", "live peak", "fragmentation", "padding"]
    return [table(header, rows, top, numeric=(2, 3, 4, 5))] if rows else []


def capacity(report: Report) -> list[Block]:
    """Return the largest program of every memory space."""
    device = report.comparison.candidate.device
    is_judged = any(c.limit_bytes is not None or c.refused for c in report.capacity)
    rows = [_capacity_row(c, device, is_judged) for c in report.capacity]
    judged = ["limit", "headroom", "programs at 95 % of limit"] if is_judged else []
    header = ["space", "largest program", "reserved", *judged, "steps at 95 % of peak"]
    if not rows:
        return []
    numeric = (2, 3, 4, 6) if is_judged else (2, 3)
    blocks: list[Block] = [table(header, rows, 20, numeric=numeric)]
    blocks = [*_refused(report), *blocks]
    if unlimited := [c for c in report.capacity if c.limit_bytes is None]:
        blocks.append(Paragraph(_without_limit(report, unlimited)))
    return [*blocks, Paragraph(NOT_INCLUDED), *_caveats(report)]


def _refused(report: Report) -> list[Block]:
    """Return what the compiler refused, and by which limit."""
    device = report.comparison.candidate.device
    return [
        Paragraph(
            f"The compiler refused {few(c.refused, 3)}:"
            f" {limit_words(limit_of(c, device))} of {memory(c)} do not suffice."
        )
        for c in report.capacity
        if c.refused
    ]


def _caveats(report: Report) -> list[Block]:
    """Return what the figures of some programs lack."""
    found = sorted({each for c in report.capacity for each in c.caveats})
    texts = [f"{each}." for each in found[:_MOST_CAVEATS]]
    if left := len(found) - len(texts):
        texts.append(f"The same holds for {counted(left, 'other program')}.")
    return [Paragraph(text) for text in texts]


def _capacity_row(c: Capacity, device: str | None, is_judged: bool) -> list[str]:
    limited = ["-"] * 3 if is_judged else []
    if c.limit_bytes is not None:
        near = few(c.near_limit, 3) or "none"
        left = "refused" if c.refused else plain_percent(c.headroom_ratio)
        limited = [limit_words(limit_of(c, device)), left, near]
    plateau = "-"
    if c.plateau_ratio is not None:
        plateau = f"{100 * c.plateau_ratio:.0f} %"
    return [memory(c), c.program, plain_bytes(c.used_bytes), *limited, plateau]


def _without_limit(report: Report, spaces: Sequence[Capacity]) -> str:
    candidate = report.comparison.candidate
    device, space = json_text(candidate.device or "*"), json_text(spaces[0].space)
    wanted = f"[[device]] with device = {device}, space = {space} and bytes"
    names = ", ".join(map(memory, spaces))
    option = "" if spaces[0].color else "pass --limit SIZE, or "
    return f"Limit unknown for {names}: {option}set it in hlodb.toml, {wanted}."


def waste(report: Report, top: int) -> list[Block]:
    """Return the waste of the candidate."""
    rows = [
        [w.kind, w.program, memory(w) or "-", plain_bytes(w.leverage_bytes), w.note]
        for w in report.waste
    ]
    header = ["waste", "program", "space", "saves up to", "what"]
    return [table(header, rows, top, numeric=(3,))] if rows else []


def health(report: Report, top: int) -> list[Block]:
    """Return compilations worth a look."""
    rows = [
        [
            h.kind,
            h.name,
            _health_amount(h.base, h.unit) if _has_base(report, h) else "-",
            _health_amount(h.candidate, h.unit),
        ]
        for h in report.health
    ]
    header = ["what", "name", "base", "candidate"]
    return [table(header, rows, 3 * top, numeric=(2, 3))] if rows else []


def _has_base(report: Report, h: Health) -> bool:
    """Return whether the base is known: a noise band is no side's."""
    return report.comparison.base is not None and h.kind != "nondeterministic"


def _health_amount(value: int, unit: str) -> str:
    if unit == "microseconds":
        return f"{value / 1000:,.1f} ms"
    return plain_bytes(value) if unit == "bytes" else str(value)


def history(report: Report, top: int) -> list[Block]:
    """Return the steps of the series, the latest first, and every series that moved.

    A diff has no series: its findings are all there is.
    """
    if report.kind == "diff":
        return []
    places = {run: i for i, run in enumerate(report.comparison.series_runs)}
    steps = sorted(
        (f for f in report.findings if _is_step(f)),
        key=lambda f: (-places.get(f.candidate_run, 0), -abs(f.delta_bytes or 0)),
    )
    blocks: list[Block] = []
    rows = [_step_row(f) for f in steps]
    if rows:
        blocks.append(Paragraph("Steps of the series, the latest run first:"))
        header = ["run", "program", "space", "Δ", "Δ %", "cause", "finding"]
        about = [f.id for f in steps]
        most = max(top, 50)
        blocks.append(table(header, rows, most, numeric=(3, 4), findings=about))
    moved = [t for t in report.trends if len({p.bytes for p in t.points}) > 1]
    shared = shared_names(report)
    lines = [_trend_row(t, called(t, shared)) for t in moved]
    if lines:
        text = (
            "Reserved memory, run by run; ▲ a step up, ▼ a step down, x not comparable"
            " with the run before:"
        )
        blocks.append(Paragraph(text))
        header = ["program", "space", "run by run", "steps", "latest"]
        blocks.append(table(header, lines, max(top, 50), numeric=(4,)))
    return blocks


def _is_step(f: Finding) -> bool:
    """Return whether a finding is a step of the series, the candidate's included."""
    moved = f.change in ("worse", "mixed", "improved", "fixed")
    return moved and (f.scope == "history" or f.first_run == f.candidate_run)


def _step_row(f: Finding) -> list[str]:
    return [
        f.candidate_run,
        f.program,
        memory(f),
        signed_bytes(f.delta_bytes),
        signed_percent(f.delta_ratio),
        f"{f.cause.blame}: {cause_in_short(f)}" if f.cause else "-",
        f.id,
    ]


def _trend_row(t: Trend, who: str) -> list[str]:
    steps = [f"{p.mark} {p.run}" for p in t.points if p.mark]
    return [
        who,
        memory(t),
        sparkline([p.bytes for p in t.points]),
        few(steps, 6) or "-",
        plain_bytes(t.points[-1].bytes),
    ]


def quality(report: Report, top: int) -> list[Block]:
    """Return the faults in the data."""
    rows = [
        [
            "GATING" if q.is_gating else "noted",
            q.run,
            q.kind,
            q.code,
            str(q.count),
            q.example,
        ]
        for q in report.quality
    ]
    header = ["", "run", "kind", "code", "count", "example"]
    if not rows:
        return [Paragraph("All files were read, and no figures contradict each other.")]
    blocks: list[Block] = [table(header, rows, top, numeric=(4,))]
    if any(q.is_gating for q in report.quality):
        blocks.append(
            Paragraph(
                "GATING rows make the verdict unknown: ingest a sound dump under"
                " another name."
            )
        )
    return blocks


def waivers(report: Report, top: int) -> list[Block]:
    """Return every waiver and what became of it."""
    rows = [
        [w.status, w.gate, w.program, w.until, w.owner, w.reason]
        for w in report.waivers
    ]
    header = ["status", "gate", "program", "until", "owner", "reason"]
    return [table(header, rows, max(top, 20))] if rows else []

"""The sections of a site's pages that no report and no explanation has."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from hlodb.reports.document.blocks import Block, Paragraph, Section, sparkline, table
from hlodb.reports.document.report import MARKS
from hlodb.reports.judge.names import called, shared_names, state_words
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.sentences import gate_sentence
from hlodb.reports.read.baseline import branch
from hlodb.reports.read.facts import Run
from hlodb.reports.read.history import Trend
from hlodb.text import (
    counted,
    few,
    plain,
    plain_bytes,
    signed_bytes,
    signed_percent,
    space_words,
)

HISTORY = "History"
MOST_RUNS = 200
"""How many runs a page lists and draws, the latest."""

_MOST_OPEN = 10
_OPEN = ("open", "outgrown", "expired")

Row = Mapping[str, Any]
"""A row of `hlodb triage`."""


class ListedRun(NamedTuple):
    """A run with a page: `says` is the headline there."""

    run: Run
    programs: int
    says: str
    link: str


class ListedProgram(NamedTuple):
    """A program with a page, and its memory over the runs."""

    trend: Trend
    who: str
    link: str

    @property
    def sizes(self) -> list[int]:
        """Its reserved bytes, run by run."""
        return [point.bytes for point in self.trend.points]


def is_open(finding: Row) -> bool:
    """Return whether somebody has to decide about a finding."""
    return finding["status"] in _OPEN


def moved_first(programs: Sequence[ListedProgram]) -> list[ListedProgram]:
    """Return programs, those first whose memory moved furthest, then the largest.

    Main memory comes before memory that the compiler fills on purpose.
    """

    def order(program: ListedProgram) -> tuple[bool, int, int]:
        sizes = program.sizes
        moved = max(sizes) - min(sizes)
        return not moved or program.trend.color != 0, -moved, -sizes[-1]

    return sorted(programs, key=order)


def open_findings(findings: Sequence[Row], links: Sequence[str | None]) -> list[Block]:
    """Return the findings that wait for a decision; nothing where none does."""
    waiting = [
        (row, link)
        for row, link in zip(findings, links, strict=True)
        if is_open(row)
    ]  # fmt: skip
    if not waiting:
        return []
    rows, targets = zip(*waiting, strict=True)
    return [_findings(rows, targets, _MOST_OPEN)]


def all_findings(findings: Sequence[Row], links: Sequence[str | None]) -> list[Block]:
    """Return every finding with the last decision about it."""
    if not findings:
        text = "No findings are recorded; `hlodb report` records them."
        return [Paragraph(text)]
    return [_findings(findings, links, None)]


def _findings(
    findings: Sequence[Row], links: Sequence[str | None], top: int | None
) -> Block:
    header = ["program", "space", "Δ", "status", "change", "first run", "cause"]
    header += ["until", "by", "reason", "finding"]
    rows = [
        [
            row["program"],
            row["space_name"] or "-",
            signed_bytes(row["delta_bytes"]),
            row["status"],
            state_words(row["change"]),
            row["first_run"] or "-",
            row["cause_title"] or "-",
            row["until"] or "-",
            row["actor"] or "-",
            row["reason"] or "-",
            row["finding_id"],
        ]
        for row in findings
    ]
    return table(header, rows, top, numeric=(2,), links=links)


def line_sections(
    title: str,
    runs: Sequence[ListedRun],
    programs: Sequence[ListedProgram],
    report: Report | None,
) -> list[Section]:
    """Return the latest run of a line, its programs, and all of its runs.

    `report` judges the latest run by the gates, where it was made.
    """
    latest = runs[-1]
    blocks: list[Block] = [Paragraph(f"Latest run: {latest.says}")]
    if report is not None:
        blocks += _judged(report)
        if report.verdict == "fail":
            # Budgets and such are of no difference to the run before.
            runs = [*runs[:-1], latest._replace(says=report.headline)]
    if programs:
        blocks.append(_programs(programs, latest.run))
    return [
        Section(title, blocks),
        Section(f"{title}: runs", [_runs(runs)]),
    ]


def _judged(report: Report) -> list[Block]:
    """Return what `hlodb report` says of a run, and every gate that it fails."""
    shared = shared_names(report)
    findings = {f.id: f for f in report.findings}
    failed = [
        f"Gate {g.gate} failed:"
        f" {gate_sentence(g, findings.get(g.finding_id or ''), shared)}."
        for g in report.gates
        if g.status == "fail"
    ]
    return [*map(Paragraph, [f"Report: {report.headline}", *failed])]


def _programs(programs: Sequence[ListedProgram], latest: Run) -> Block:
    rows = []
    for each in sorted(programs, key=lambda p: (p.trend.color, -p.sizes[-1], p.who)):
        points = each.trend.points[-MOST_RUNS:]
        steps = [f"{point.mark} {point.run}" for point in points if point.mark]
        last = points[-1].run
        rows.append(
            [
                each.who,
                space_words(each.trend.space, each.trend.color),
                plain_bytes(each.sizes[-1]),
                sparkline(_sampled([point.bytes for point in points])),
                few(steps[::-1], 3) or "-",
                "" if last == latest.name else last,
            ]
        )
    header = ["program", "space", "reserved", "run by run", "steps", "last run"]
    if not any(row[-1] for row in rows):
        # Every program is in the latest run.
        header, rows = header[:-1], [row[:-1] for row in rows]
    in_order = sorted(programs, key=lambda p: (p.trend.color, -p.sizes[-1], p.who))
    links = [each.link for each in in_order]
    return table(header, rows, MOST_RUNS, numeric=(2,), links=links)


_MOST_BARS = 40


def _sampled(sizes: Sequence[int]) -> Sequence[int]:
    """Return so many sizes that they fit a cell, each the most of its stretch."""
    step = -(-len(sizes) // _MOST_BARS)
    return [max(sizes[at : at + step]) for at in range(0, len(sizes), step)]


def _runs(runs: Sequence[ListedRun]) -> Block:
    rows = [
        [
            each.run.name,
            _started(each.run),
            (each.run.commit_sha or "-")[:12],
            _compiler(each.run),
            f"{each.programs:,}",
            each.says.removeprefix(f"{each.run.name}: "),
        ]
        for each in reversed(runs)
    ]
    header = ["run", "started", "commit", "compiler", "programs", "what changed"]
    links = [each.link for each in reversed(runs)]
    return table(header, rows, MOST_RUNS, numeric=(4,), links=links)


def _started(run: Run) -> str:
    return f"{run.started_at:%Y-%m-%d %H:%M}" if run.started_at else "-"


def _compiler(run: Run) -> str:
    return run.compiler_version or run.framework_version or "-"


def run_sections(report: Report, run: Run, links: Mapping[str, str]) -> list[Section]:
    """Return every program of a run, and what is known of the run.

    `links` are the pages of programs by their names.
    """
    rows = sorted(
        (row for row in report.programs if row.candidate_bytes is not None),
        key=lambda r: (r.color, -(r.candidate_bytes or 0), r.program, r.rank or 0),
    )
    gone = [row for row in report.programs if row.candidate_bytes is None]
    shared = shared_names(report)
    has_base = report.comparison.base is not None
    cells = [
        [
            MARKS.get(row.state, " ") if has_base else "",
            called(row, shared),
            space_words(row.space, row.color),
            plain_bytes(row.candidate_bytes),
            plain_bytes(row.candidate_live_peak_bytes),
            signed_bytes(row.delta_bytes) if has_base else "",
            signed_percent(row.delta_ratio) if has_base else "",
            state_words(row.state) if has_base else "",
        ]
        for row in [*rows, *gone]
    ]
    header = ["", "program", "space", "reserved", "live peak", "Δ", "Δ %", "state"]
    programs: list[Block] = []
    if cells:
        targets = [links.get(row.program) for row in [*rows, *gone]]
        programs = [
            table(header, cells, MOST_RUNS, numeric=(3, 4, 5, 6), links=targets)
        ]
    found = [Section("Programs", programs)] if programs else []
    return [*found, Section("About the run", [_about(run)])]


def _about(run: Run) -> Block:
    labels = json.loads(run.labels) if run.labels else {}
    if not isinstance(labels, dict):
        labels = {}
    facts = {
        "series": run.series,
        "started": _started(run),
        "commit": run.commit_sha,
        "branch": branch(run),
        "compiler": run.compiler_version,
        "framework": run.framework_version,
        "platform": run.platform,
        "device": run.device,
        "topology": run.topology,
        **{f"label {key}": plain(value) for key, value in labels.items()},
    }
    rows = [[key, value] for key, value in facts.items() if value not in (None, "-")]
    return table(["what", "value"], rows)


def history_section(trends: Sequence[Trend], links: Mapping[str, str]) -> Section:
    """Return a program's memory in each run, the latest first; `links` are by run."""
    rows, targets = [], []
    for trend in trends:
        points, space = trend.points, space_words(trend.space, trend.color)
        changes = [b.bytes - a.bytes for a, b in pairwise(points)]
        listed = list(zip(points, [None, *changes], strict=True))[::-1]
        for point, change in listed:
            moved = "" if change is None else signed_bytes(change)
            rows.append([point.run, space, plain_bytes(point.bytes), moved, point.mark])
            targets.append(links.get(point.run))
    header = ["run", "space", "reserved", "Δ", "step"]
    shown = table(header, rows, MOST_RUNS, numeric=(2, 3), links=targets)
    return Section(HISTORY, [shown])


def index_title(title: str, runs: int, programs: int, waiting: int) -> str:
    """Return the sentence on top of a site."""
    held = f"{counted(runs, 'run')}, {counted(programs, 'program')}"
    return f"{title}: {held}, {counted(waiting, 'open finding')}"

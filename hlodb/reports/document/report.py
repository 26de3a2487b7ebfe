"""The sections of a report, the most important first.

Sections come in the order of their weight; a form with a size limit drops them from the
bottom. Nothing here is escaped or aligned: that is the renderer's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from hlodb.reports.document import appendix
from hlodb.reports.document.blocks import (
    Block,
    Paragraph,
    Section,
    filled,
    named,
    table,
    texts,
    without_empty,
)
from hlodb.reports.document.brief import brief
from hlodb.reports.document.cards import finding_card
from hlodb.reports.judge.findings import CauseGroup, Finding, findings_of
from hlodb.reports.judge.names import (
    PART_TERMS,
    Names,
    called,
    memory,
    place,
    shared_names,
    state_words,
)
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import gate_sentence
from hlodb.reports.judge.verdict import is_of_other_platform
from hlodb.reports.read.environment import RunFacts
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import counted, few, plain_bytes, signed_bytes, signed_percent

MARKS = {
    "worse": "+",
    "mixed": "~",
    "improved": "-",
    "fixed": "-",
    "changed": "c",
    "donation_lost": "d",
    "same": "=",
    "new": "*",
    "failed": "!",
    "recovered": "*",
    "not_comparable": "x",
    "waived": "w",
    "accepted": "w",
    "invalid": "w",
    "duplicate": "w",
}
"""One character per state, as in asv."""

SAID_FIRST = "In short"

_MANY = 100
"""Of so many rows a table has room for every finding of a cause."""


_CALLED = {
    "reserved_bytes": "reserved",
    "live_peak_bytes": "live peak",
    "blame": "blame",
    "attribution": "(read)",
    "cause_share": "accounts for",
    "noise_band_bytes": "noise band",
    "standing": "likely",
}
"""What cards of findings call some definitions."""

_OF_NEEDS = {
    "reserved_bytes": "reserved",
    "live_peak_bytes": "live peak",
    "fragmentation_bytes": "fragmentation",
    "padding_bytes": "padding",
}
"""What the table of programs calls them, where there is no base."""


def outline_with_words(
    report: Report, top: int, *, has_warehouse: bool
) -> list[Section]:
    """Return all sections, with the words that are used in place of all definitions."""
    *sections, _ = outline(report, top, has_warehouse=has_warehouse)
    said = [text for each in sections for block in each.blocks for text in texts(block)]
    words = Section("Words", _words(report, top, "\n".join(said)))
    return [*sections, *([words] if words.blocks else [])]


def outline(report: Report, top: int, *, has_warehouse: bool = True) -> list[Section]:
    """Return all sections that have something to say; `top` rows per table."""
    sections = [
        Section(SAID_FIRST, brief(report, has_warehouse=has_warehouse)),
        Section("What was compared", _compared(report)),
        Section("Gates", _gates(report, top)),
        Section("Causes of regressions", _causes(report, "worse", top)),
        Section("Findings", _cards(report, top)),
        Section("Causes of improvements", _causes(report, "improved", top)),
        Section("Programs", _programs(report, top)),
        Section("Capacity", appendix.capacity(report)),
        Section("Waste", appendix.waste(report, top)),
        Section("Compile health", appendix.health(report, top)),
        Section("History", appendix.history(report, top)),
        Section("Data quality", appendix.quality(report, top)),
        Section("Waivers", appendix.waivers(report, top)),
        Section("Notes", [named(Paragraph(n), report.db) for n in report.notes]),
        Section("Definitions", _definitions(report)),
    ]
    return [section for section in sections if section.blocks]


def subtitle(report: Report) -> str:
    """Return which runs a page is about, and the largest program."""
    c = report.comparison
    text = f'Run "{c.candidate.name}"'
    if c.base is not None:
        text += f' compared with run "{c.base.name}"'
    if report.capacity:
        largest = min(report.capacity, key=lambda row: row.color)
        size = plain_bytes(largest.used_bytes)
        text += f"; the largest program is {largest.program}, {size} reserved in"
        text += f" {memory(largest)}"
    return f"{text}."


def _compared(report: Report) -> list[Block]:
    c = report.comparison
    is_report = report.kind == "report"
    base = f'base "{c.base.name}"' if c.base else "no base"
    why = f": {c.rule_text}" if is_report else ""
    text = f'Candidate "{c.candidate.name}", {base}{why}.'
    # --run may name a run of another series than that of hlodb.toml.
    if is_report and (series := c.candidate.series):
        runs = counted(len(c.series_runs), "comparable run")
        text += f' Series "{series}": its history has {runs}, the candidate included.'
    blocks: list[Block] = [Paragraph(text)]
    if c.matched:
        blocks.append(
            Paragraph(
                f"{counted(c.matched, 'program')} in both runs: {c.comparable:,} with"
                f" the same inputs, platform and device, {c.same_source:,} with the"
                f" same instructions for XLA, {c.identical:,} compiled to the same"
                " result."
            )
        )
    facts = [_run_line(run) for run in (c.base, c.candidate) if run is not None]
    header = ["run", "started", "commit", "compiler", "device"]
    blocks.append(table(*filled(header, facts)))
    changes = [
        [
            e.key,
            e.base or "-",
            e.candidate or "-",
            "yes" if e.is_memory_relevant else "",
        ]
        for e in c.environment
    ]
    if changes:
        header = ["differs", "base", "candidate", "memory"]
        blocks.append(table(*filled(header, changes), 20))
    return blocks


def _run_line(run: RunFacts) -> list[str]:
    compiler = run.compiler_version or run.framework_version
    device = run.device or run.platform
    facts = (run.started_at, run.commit_sha, compiler, device)
    return [run.name, *(fact or "-" for fact in facts)]


def _gates(report: Report, top: int) -> list[Block]:
    if report.kind == "diff":
        return []
    if report.verdict == "nothing":
        return [Paragraph("No gate was judged: nothing was compared.")]
    order = {"fail": 0, "warn": 1, "waived": 2, "pass": 3}
    findings = {f.id: f for f in report.findings}
    shared = shared_names(report)
    passed = [g.gate for g in report.gates if g.status == "pass" and g.program is None]
    shown = [
        g
        for g in sorted(report.gates, key=lambda g: order[g.status])
        if g.status != "pass" or g.program is not None
    ]
    rows = [
        [
            g.status.upper(),
            g.gate,
            called(g, shared) if g.program is not None else "all",
            memory(g) or "-",
            _amount(g.value, g.unit),
            _amount(g.limit, g.unit),
            _against(g.margin, g.unit),
            g.owner or "-",
            _gate_note(g, findings.get(g.finding_id or ""), shared),
        ]
        for g in shown
    ]
    header = ["status", "gate", "program", "space"]
    header += ["value", "limit", "against limit", "owner", "what"]
    blocks: list[Block] = []
    if rows:
        about = [g.finding_id for g in shown]
        blocks.append(
            without_empty(
                table(header, rows, max(top, 20), numeric=(4, 5, 6), findings=about)
            )
        )
    if passed:
        blocks.append(Paragraph(f"Passed: {', '.join(passed)}."))
    return blocks


def _gate_note(g: Gate, finding: Finding | None, shared: Names) -> str:
    text = gate_sentence(g, finding, shared)
    return f"{text} (until {g.until})" if g.until else text


def _amount(value: float, unit: str) -> str:
    return plain_bytes(int(value)) if unit == "bytes" else f"{value:g}"


def _against(margin: float, unit: str) -> str:
    """Return `1.00 MiB over` or `1.00 MiB below`."""
    if not margin:
        return "at the limit"
    amount = _amount(abs(margin), unit)
    return f"{amount} {'over' if margin < 0 else 'below'}"


def _causes(report: Report, direction: str, top: int) -> list[Block]:
    groups = [g for g in report.causes if g.direction == direction]
    rows = [_cause_row(g) for g in groups]
    header = ["cause", "blame", "programs", "space", "sum", "largest", "since", "owner"]
    others = _sums((memory(g), g.sum_delta_bytes) for g in groups[top:])
    if not rows:
        return []
    found = [findings_of(g, report.findings) for g in groups]
    name = "regression" if direction == "worse" else "improvement"
    count = counted(sum(map(len, found)), name)
    about = [ids[0].id if ids else None for ids in found]
    return [
        Paragraph(f"{count}, {counted(len(groups), 'cause')}."),
        table(header, rows, top, numeric=(4, 5), others=(4, others), findings=about),
        *_findings_by_cause(report, groups[:top], name, top),
    ]


def _findings_by_cause(
    report: Report, groups: Iterable[CauseGroup], name: str, top: int
) -> Iterator[Block]:
    """Yield the findings of each cause that has several, where there is room."""
    if top < _MANY:
        return
    shared = shared_names(report)
    header = ["program", "space", "Δ", "Δ %", "since"]
    for group in groups:
        found = findings_of(group, report.findings)
        if len(found) > 1:
            rows = [
                [
                    called(f, shared),
                    memory(f),
                    signed_bytes(f.delta_bytes),
                    signed_percent(f.delta_ratio),
                    f.since_run or "-",
                ]
                for f in found
            ]
            others = (2, _sums((memory(f), f.delta_bytes) for f in found[top:]))
            about = [f.id for f in found]
            yield Paragraph(f"{counted(len(found), name)} by {group.title}:")
            yield table(
                header, rows, top, numeric=(2, 3), others=others, findings=about
            )


def _by_state(states: Iterable[str]) -> str:
    """Return how many rows are in each state: their bytes are no sum."""
    counts = Counter(states)
    order = (*MARKS, *sorted(counts.keys() - MARKS.keys()))
    return ", ".join(
        f"{counts[each]:,} {state_words(each)}" for each in order if counts[each]
    )


def _sums(amounts: Iterable[tuple[str, int | None]]) -> str:
    """Return the sum of some differences, one for each space that has any."""
    sums: dict[str, int] = defaultdict(int)
    for space, delta in amounts:
        sums[space] += delta or 0
    moved = {space: delta for space, delta in sums.items() if delta}
    if len(moved) < 2:
        return signed_bytes(sum(moved.values()))
    return ", ".join(f"{space} {signed_bytes(moved[space])}" for space in sorted(moved))


def _cause_row(g: CauseGroup) -> list[str]:
    return [
        g.title,
        g.blame,
        few(g.programs, 3),
        memory(g),
        signed_bytes(g.sum_delta_bytes),
        signed_bytes(g.max_delta_bytes),
        g.first_run or "-",
        few(g.owners, 2) or "-",
    ]


def _cards(report: Report, top: int) -> list[Block]:
    mine = [f for f in report.findings if f.scope == "candidate"]
    shared = shared_names(report)
    shown = [finding_card(f, called(f, shared), MARKS, report.db) for f in mine[:top]]
    blocks: list[Block] = list(shown)
    if len(mine) > top:
        rest = _by_state(f.state for f in mine[top:])
        blocks.append(Paragraph(f"[{counted(len(mine) - top, 'other')}] {rest}"))
    return blocks


def _programs(report: Report, top: int) -> list[Block]:
    if report.comparison.base is None:
        return appendix.needs(report, top)
    rows = sorted(
        (p for p in report.programs if p.change != "same" or p.delta_bytes),
        key=lambda p: (-abs(p.delta_bytes or 0), p.program, p.rank or 0, p.color),
    )
    shared = shared_names(report)
    is_apart = is_of_other_platform(report)
    cells = [
        [
            MARKS.get(p.state, " "),
            called(p, shared),
            memory(p),
            plain_bytes(p.base_bytes),
            plain_bytes(p.candidate_bytes),
            *(("", "") if is_apart else _moved(p)),
            _state(p),
        ]
        for p in rows
    ]
    header = ["", "program", "space", "base", "candidate", "Δ", "Δ %", "state"]
    others = _by_state(p.state for p in rows[top:])
    same = sum(p.change == "same" and not p.delta_bytes for p in report.programs)
    blocks: list[Block] = []
    if same:
        blocks.append(Paragraph(f"{counted(same, 'row')} without any difference."))
    if any(p.rule == "below_floor" for p in rows):
        blocks.append(Paragraph(_floors(report)))
    if not cells:
        return blocks if report.programs else []
    found = {place(f): f.id for f in report.findings if f.scope == "candidate"}
    listed = table(
        header,
        cells,
        top,
        numeric=(3, 4, 5, 6),
        others=(7, others),
        findings=[found.get(place(p)) for p in rows],
    )
    return [listed, *blocks]


def _moved(p: ProgramRow) -> tuple[str, str]:
    return signed_bytes(p.delta_bytes), signed_percent(p.delta_ratio)


def _floors(report: Report) -> str:
    size = plain_bytes(int(report.settings["floor_bytes"]))
    ratio = float(report.settings["floor_ratio"])
    return f"Below floor: less than {size}, or {100 * ratio:g} % of the smaller side."


def _state(p: ProgramRow) -> str:
    words = state_words(p.state)
    return f"{words} ({p.rule.replace('_', ' ')})" if p.state == "same" else words


def _words(report: Report, top: int, said: str) -> list[Block]:
    """Return what the words of findings mean, or without a base those of needs.

    `said` is the text of the report: words that do not occur in it are left out.
    """
    shown = report.findings[:top]
    known = _CALLED
    if not shown:
        known = {} if report.comparison.base else _OF_NEEDS
    used = {name for name, word in known.items() if _occurs(word, said)}
    if not any(c.standing == "likely" for f in shown for c in f.claims):
        used.discard("standing")
    used |= {p.part for f in shown for p in f.parts}
    names = PART_TERMS | _CALLED | _OF_NEEDS
    return [
        Paragraph(f"{names.get(m.name, m.name)}: {m.definition}")
        for m in report.metrics
        if m.name in used
    ]


def _occurs(word: str, text: str) -> bool:
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _definitions(report: Report) -> list[Block]:
    rows = [
        [PART_TERMS.get(m.name, m.name), m.unit, m.definition] for m in report.metrics
    ]
    return [table(["number", "unit", "what it is"], rows, len(rows))]

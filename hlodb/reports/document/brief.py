"""The brief below the headline: why, the likely cause, and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hlodb.reports.document.blocks import (
    Block,
    Commands,
    Paragraph,
    command_blocks,
    named,
)
from hlodb.reports.judge.budgets import exact_glob
from hlodb.reports.judge.findings import (
    ALERTING,
    OPEN,
    Finding,
    cause_label,
    is_by_release,
    is_little,
    is_loss,
    undecided,
)
from hlodb.reports.judge.names import called, memory, shared_names, state_words
from hlodb.reports.judge.notes import BUDGET
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import (
    EXPIRED,
    absence,
    are_inputs_little,
    cause_line,
    changed_inputs,
    changes_of_inputs,
    gate_sentence,
    is_read,
    lost_words,
    moved,
    share_words,
)
from hlodb.reports.judge.verdict import (
    NOTHING_TO_COMPARE,
    leading_fall,
    unjudged_growth,
    warned_finding,
    worst_finding,
)
from hlodb.reports.read.baseline import FIRST
from hlodb.reports.read.causes import SHOWN_EDITS, edit_words, explaining
from hlodb.reports.read.claims import Claim
from hlodb.reports.read.details import SOURCE
from hlodb.reports.read.unassigned import CAPTURED, PARTIAL
from hlodb.rules import rule_rows
from hlodb.text import bytes_from_to, counted, json_text, plain_bytes, signed_bytes

BLAMES = {
    "program": "the program or its framework",
    "partitioner": "XLA partitioner",
    "fusion": "XLA fusion",
    "layout": "XLA layout assignment",
    "scheduler": "XLA scheduler",
    "packing": "XLA buffer assignment",
    "environment": "compiler flags",
    "optimisation": "another XLA pass",
}
"""What likely caused a change, by the blame of its cause."""

_SHOWN_OTHERS = 2

_LOST = "donation_lost"
"""The rule of the claim that arguments are no longer donated."""

_WORTH_TELLING = 0.1
"""A fall of less than this share of the largest is not told in short."""

_NO_PASS = ("program", "environment")


def brief(report: Report, *, has_warehouse: bool = True) -> list[Block]:
    """Return the worst finding in short; nothing where all is well.

    Where readers have no warehouse, such as below a pull request, findings are
    accepted by a waiver in hlodb.toml.
    """
    unused = [note for note in report.notes if note.startswith(BUDGET)]
    blocks = [
        *_worst(report, has_warehouse),
        *_standing(report, has_warehouse),
        *map(Paragraph, unused),
    ]
    return [named(block, report.db) for block in blocks]


def _accepting(f: Finding, has_warehouse: bool) -> Commands:
    """Return what accepts a finding: a command, or lines of hlodb.toml."""
    if has_warehouse:
        return Commands((f"hlodb triage {f.id} accept --reason '…'",))
    lines = (
        "# in hlodb.toml",
        "[[waiver]]",
        f"program = {json_text(exact_glob(f.program))}",
        f"space = {json_text(f.space)}",
        'owner = "…"',
        'reason = "…"',
        "until = …  # the first day on which it no longer holds",
    )
    return Commands(lines, "toml")


def _worst(report: Report, has_warehouse: bool) -> list[Block]:
    if report.verdict == "unknown":
        return _unsound(report)
    if report.verdict == "nothing":
        return _nothing(report)
    failed = [g for g in report.gates if g.status == "fail"]
    worst = worst_finding(report.findings, failed)
    if leading_fall(report, worst) is not None:
        return [*_ratchet(report), *_others(report, None)]
    if worst is not None:
        blocks = _finding(report, worst, has_warehouse)
        return [*blocks, *_others(report, worst)]
    if failed:
        return _gate(report, failed[0])
    if report.comparison.base is None:
        return _nothing(report)
    if changed := warned_finding(report):
        blocks = _finding(report, changed, has_warehouse)
        return [*blocks, *_others(report, changed)]
    if grown := unjudged_growth(report):
        return _unjudged(grown)
    return _ratchet(report)


def _nothing(report: Report) -> list[Block]:
    """Return the next steps where nothing was compared."""
    base, candidate = report.comparison.base, report.comparison.candidate
    names = [shlex.quote(run.name) for run in (base, candidate) if run is not None]
    if base is not None and (apart := _of_other_platform(report)):
        return apart
    if said := [note for note in report.notes if note.startswith(CAPTURED)]:
        text = f"Not judged, but different: {said[0]}"
        command = f"hlodb query memory_analysis_diff -p base={names[0]}"
        command += f" -p candidate={names[-1]}"
        return [Paragraph(text), Commands((command,))]
    if base is not None and (told := _told_by_files(report, names)):
        return told
    if base is not None and report.kind == "diff":
        text = "The runs have no program in common. To compare two of other names,"
        text += " pass RUN:PROGRAM twice; these commands list the names:"
        commands = [f"hlodb modules --run {name}" for name in names]
        return [Paragraph(text), Commands(tuple(commands))]
    if report.comparison.rule == FIRST:
        text = "Next: ingest another run and report again. Budgets set limits already:"
        command = _propose(names[-1])
        return [Paragraph(text), Commands((command,))]
    if base is None:
        return _without_base(report)
    text = "No comparable program. Pass --baseline RUN; `hlodb runs` lists the runs."
    return [Paragraph(text), Commands(("hlodb runs",))]


def _told_by_files(report: Report, names: Sequence[str]) -> list[Block]:
    """Return what HLO or memory reports say of programs without an assignment."""
    said = [note for note in report.notes if note.startswith(PARTIAL)]
    if not said:
        return []
    text = f"Not judged, but different: {said[0]}"
    command = f"hlodb query partial_memory_diff -p base={names[0]}"
    command += f" -p candidate={names[-1]}"
    return [Paragraph(text), Commands((command,))]


def _of_other_platform(report: Report) -> list[Block]:
    """Return what to ask about programs of two platforms, whose bytes do not compare.

    Nothing where the runs share no name.
    """
    found = [f for f in report.findings if f.change == "not_comparable"]
    programs = sorted({f.program for f in found})
    if not programs:
        return []
    keys = {key for f in found for key in f.differing_keys}
    what = "platform" if "platform" in keys else "device"
    text = f"{counted(len(programs), 'program')} in both runs, but compiled for"
    text += f" another {what}: the bytes are not comparable."
    text += " Side by side, in the latest run of each platform, device and compiler:"
    asked = f" -p {shlex.quote(f'program={programs[0]}')}" if len(programs) == 1 else ""
    return [Paragraph(text), Commands((f"hlodb query backend_compare{asked}",))]


def _without_base(report: Report) -> list[Block]:
    """Return what a report without a base did, and how the next one gets one."""
    c = report.comparison
    text = f"No run to compare with: {c.rule_text}. This report lists what"
    text += f' "{c.candidate.name}" needs, and judges limits and budgets only; a later'
    text += " run of this device is compared with it."
    if report.exit_code == NOTHING_TO_COMPARE:
        text += f" Exit code {NOTHING_TO_COMPARE}: --allow-empty makes it 0."
    return [Paragraph(text), Commands(("hlodb runs",))]


def _unjudged(grown: Sequence[Finding]) -> list[Block]:
    f = grown[0]
    text = f"Not judged: {f.program}, as its {changed_inputs(f.differing_keys)}."
    if len(grown) > 1:
        text += f" {counted(len(grown) - 1, 'more program')} grew that way."
    return [Paragraph(text), *command_blocks(f.commands)]


def _unsound(report: Report) -> list[Block]:
    row = next(row for row in report.quality if row.is_gating)
    what = f"{counted(row.count, row.kind)} ({row.code})"
    text = f"Why: {row.run} has {what}, first at {row.example}."
    run = shlex.quote(f"run={row.run}")
    query = "rejects_summary" if row.kind == "reject" else "self_consistency"
    return [Paragraph(text), Commands((f"hlodb query {query} -p {run}",))]


def _finding(report: Report, f: Finding, has_warehouse: bool) -> list[Block]:
    edits = explaining(f.claims)
    failed = {
        g.gate for g in report.gates if (g.finding_id, g.status) == (f.id, "fail")
    }
    blocks: list[Block] = []
    is_of_donations = bool(edits) and edits[0].rule_id == _LOST
    if failed == {"donation_loss"}:
        blocks += _lost_donations(f)
        if f.delta_bytes and (f.change == "changed" or not is_of_donations):
            who = f"{called(f, shared_names(report))} {memory(f)}"
            blocks.append(Paragraph(f"{who} {moved(f)}: {_why(f)}."))
    else:
        label = "Why"
        if f.cause is not None and f.cause.is_part and f.change != "changed":
            label = cause_label(f.cause).capitalize()
        blocks.append(Paragraph(f"{label}: {_why(f)}."))
        # Where a mixed finding reserves less, the program needs less memory.
        if f.change != "mixed" or (f.delta_bytes or 0) >= 0:
            blocks += _undoing(edits)
        if "donation_loss" in failed and not is_of_donations:
            blocks += _lost_donations(f)
    if split := share_words(f):
        blocks.append(Paragraph(f"Split: {split}."))
    blocks += _against(f)
    if f.cause is not None and f.cause.effect is not None:
        blocks.append(Paragraph(f"Effect: {f.cause.effect}."))
    # Whoever gave the program other inputs, or edited it, needs no pass to blame.
    is_told = bool(edits) or (is_by_release(f) and f.owner is None)
    if f.change != "changed" and not is_told:
        blocks.append(Paragraph(_likely_cause(f)))
    if f.since_run not in (None, f.candidate_run):
        blocks.append(Paragraph(f'Since: run "{f.since_run}".'))
    commands = list(f.commands)
    if f.rule == "only_in_base":
        commands.append(f"hlodb modules --run {shlex.quote(f.candidate_run)}")
    blocks += command_blocks(commands)
    if report.kind == "report" and {f.change, f.state} & {*OPEN}:
        blocks += [Paragraph("If this is wanted:"), _accepting(f, has_warehouse)]
    return blocks


def _against(f: Finding) -> list[Block]:
    """Return the edits that move memory the other way, by nobody knows how much."""
    unsplit = [
        c
        for c in f.claims
        if c.kind == "edit" and c.is_against and c.delta_bytes is None
    ]
    if not unsplit:
        return []
    return [Paragraph(f"Against it: {edit_words(unsplit, SHOWN_EDITS)}.")]


def _undoing(edits: Sequence[Claim]) -> list[Block]:
    """Return what undoes each edit, at its line where there are several."""
    blocks: dict[str, Paragraph] = {}
    for each in edits[:SHOWN_EDITS]:
        if each.advice and each.advice not in blocks:
            at = ""
            if len(edits) > 1 and each.source_path and each.source_line:
                at = f" {each.source_path}:{each.source_line}"
            blocks[each.advice] = Paragraph(f"To undo{at}: {each.advice}")
    return [*blocks.values()]


def _lost_donations(f: Finding) -> list[Block]:
    """Return which arguments are no longer donated, and how to donate them."""
    lost = next((each.claim for each in f.claims if each.rule_id == _LOST), None)
    why = lost or "outputs no longer take over the memory of arguments"
    text = f"Why the gate donation_loss failed: {why}."
    [advice] = [
        advice
        for _, rule_id, _, _, _, advice, *_ in rule_rows("cause_rules")
        if rule_id == _LOST
    ]
    return [Paragraph(text), Paragraph(f"To undo: {advice}")]


def _others(report: Report, worst: Finding | None) -> list[Block]:
    """Name the other findings that alert, the first few each with its cause.

    Beside the worst one, programs with other inputs follow that moved a tenth as much
    as the one that moved most.
    """
    others = [f for f in report.findings if f.scope == "candidate" and f != worst]
    rest = [f for f in others if f.state in ALERTING]
    if report.kind == "diff":
        rest = [f for f in rest if not is_little(f)]
    changed = [f for f in _moved_most(others, worst) if f not in rest] if worst else []
    shared = shared_names(report)
    lines = [
        f"Also: {called(f, shared)} {memory(f)} {moved(f)}: {_why(f)}."
        for f in [*rest, *changed][:_SHOWN_OTHERS]
    ]
    if len(rest) > _SHOWN_OTHERS:
        lines.append(f"And {counted(len(rest) - _SHOWN_OTHERS, 'more regression')}.")
    return [*map(Paragraph, lines)]


def _moved_most(others: Sequence[Finding], worst: Finding) -> list[Finding]:
    """Return the findings with other inputs that are worth telling, largest first."""
    changed = [f for f in others if f.change == "changed" and not is_little(f)]
    most = max((abs(f.delta_bytes or 0) for f in [worst, *changed]), default=0)
    told = [f for f in changed if abs(f.delta_bytes or 0) >= _WORTH_TELLING * most]
    return sorted(told, key=lambda f: -abs(f.delta_bytes or 0))


def _why(f: Finding) -> str:
    if f.change == "changed":
        words = changes_of_inputs(f)
        if f.cause is None:
            return words
        if are_inputs_little(f):
            return f"{f.cause.title}; inputs changed: {words}"
        part = f"{cause_label(f.cause)}: " if f.cause.is_part else ""
        return f"{words}; {part}{f.cause.title}"
    if f.cause is not None:
        return f.cause.title
    if f.change == "failed":
        return absence(f)
    return f"{state_words(f.change)} ({f.rule.replace('_', ' ')})"


def _likely_cause(f: Finding) -> str:
    is_named = f.cause is not None and not _is_unproven(f) and not is_by_release(f)
    blame = BLAMES.get(f.cause.blame) if f.cause and is_named else None
    at = cause_line(f)
    source = f"{at[0]}:{at[1]}" if at else None
    where = "Line of the largest buffer that changed"
    if at and is_read(f):
        where = "Line that reads the largest buffer that changed"
    if not (blame or source or f.owner):
        return "Owner unknown: add one under [owners] in hlodb.toml."
    said = {"Likely cause": blame, where: source, "Owner": f.owner}
    return " ".join(f"{what}: {text}." for what, text in said.items() if text)


def _is_unproven(f: Finding) -> bool:
    """Return whether a pass of XLA is blamed although it was given something else."""
    differs = f.divergence is not None and f.divergence.first_different == SOURCE
    return differs and f.cause is not None and f.cause.blame not in _NO_PASS


def _gate(report: Report, gate: Gate) -> list[Block]:
    owner = f"Owner: {gate.owner}." if gate.owner else None
    run = shlex.quote(f"run={report.comparison.candidate.name}")
    command = f"hlodb query peak_by_space -p {run}"
    if gate.program is not None:
        command = f"hlodb query peak_contents -p {run}"
        command += f" -p {shlex.quote(f'program={gate.program}')}"
    lines = [
        f"Why: {gate_sentence(gate, None, shared_names(report))}.",
        *([owner] if owner else []),
    ]
    return [*map(Paragraph, lines), Commands((command,))]


def _standing(report: Report, has_warehouse: bool) -> list[Block]:
    """Name earlier rises and losses that are still open and not triaged."""
    standing = undecided(report.findings)
    if not standing:
        return []
    losses = [f for f in standing if is_loss(f)]
    rises = [f for f in standing if f.change != "failed" and not is_loss(f)]
    gone = {(f.program, f.rank, f.path): f for f in standing if f.change == "failed"}
    shared = shared_names(report)
    texts = []
    if rises:
        what = f"{called(rises[0], shared)} {memory(rises[0])}"
        what += f" {signed_bytes(rises[0].delta_bytes)}"
        texts.append(f"Still open: {what} {_since(rises, _left(rises[0]))}")
    if losses:
        what = f"{called(losses[0], shared)} {memory(losses[0])}:"
        what += f" {lost_words(losses[0].lost_donation_bytes)}"
        texts.append(f"Still open: {what} {_since(losses)}")
    if gone:
        missing = list(gone.values())
        who = called(missing[0], shared)
        texts.append(f"Still missing: {who} {_since(missing)}")
    triage = [Commands(("hlodb triage",))] if has_warehouse else []
    return [*map(Paragraph, texts), *triage]


def _left(rise: Finding) -> str:
    """Return by how much memory is still above what it was before a rise."""
    left, base = rise.left_bytes or 0, rise.base_bytes or 0
    if plain_bytes(left) == plain_bytes(rise.delta_bytes or 0):
        return ""
    sizes = bytes_from_to(base, base + left)
    return f"; now {plain_bytes(left)} above the level before it ({sizes})"


def _since(found: Sequence[Finding], left: str = "") -> str:
    text = f'since run "{found[0].first_run}"{left}, finding {found[0].id}'
    if len(found) > 1:
        text += f", and {len(found) - 1} more"
    expired = (tag for tag in found[0].tags if tag.startswith(EXPIRED))
    return f"{text} ({next(expired, 'not triaged')})."


def _ratchet(report: Report) -> list[Block]:
    """Return why memory fell, or moved little with other inputs, and what to keep."""
    quiet = [
        f
        for f in report.findings
        if f.scope == "candidate" and f.change in ("improved", "fixed", "changed")
    ]
    in_order = sorted(quiet, key=lambda f: -abs(f.delta_bytes or 0))
    most = abs(in_order[0].delta_bytes or 0) if in_order else 0
    blocks: list[Block] = []
    for f in in_order[:_SHOWN_OTHERS]:
        if not f.delta_bytes or abs(f.delta_bytes) < _WORTH_TELLING * most:
            continue
        who = f"{called(f, shared_names(report))} {memory(f)}"
        blocks.append(Paragraph(f"{who} {moved(f)}: {_why(f)}."))
        # A fall may hide a rise.
        is_mixed = any(claim.is_against for claim in f.claims)
        if is_mixed and (split := share_words(f)):
            blocks.append(Paragraph(f"Split: {split}."))
        blocks += _against(f)
    # Budgets just above a rise that is still open would allow it.
    is_settled = not undecided(report.findings)
    if report.kind == "report" and report.counts.get("improved") and is_settled:
        text = "Next: keep the gain, with budgets just above the present size."
        command = _propose(shlex.quote(report.comparison.candidate.name))
        blocks += [Paragraph(text), Commands((command,))]
    return blocks


def _propose(run: str) -> str:
    return f"hlodb report --run {run} --propose-budgets >> hlodb.toml"

"""Write sentences that several formats share: gates, inputs, missing programs."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import Names, called
from hlodb.reports.judge.report import Gate
from hlodb.reports.read.details import BufferChange
from hlodb.reports.read.differences import InputChange
from hlodb.reports.read.edits import EditShare, SourceEdit
from hlodb.text import counted, plain_bytes, signed_bytes, signed_percent

EXPIRED = "waiver expired on"
"""How the tag of a finding begins that was waived until a day."""

_SHOWN_INPUTS = 3

_INPUTS = {"input shapes": "inputs", "num_partitions": "number of partitions"}


def gate_sentence(gate: Gate, finding: Finding | None, shared: Names) -> str:
    """Return a gate's result as a sentence; `shared` are names of several programs.

    The whole difference of its finding is what the gate `regression` is about; any
    other says its own value.
    """
    if gate.program is None:
        return gate.reason
    if gate.gate == "missing_program" and finding is not None:
        return f"{called(gate, shared)} {lack(finding)}: {gate.reason}"
    who = " ".join(x for x in (called(gate, shared), gate.space) if x)
    delta = finding.delta_bytes if finding is not None else None
    if (
        gate.gate in ("regression", "changed_inputs")
        and finding is not None
        and delta is not None
    ):
        text = f"{who} {moved(finding)}"
    elif gate.unit == "bytes":
        value, limit = plain_bytes(int(gate.value)), plain_bytes(int(gate.limit))
        verb = "loses" if gate.gate == "donation_loss" else "is"
        text = f"{who} {verb} {value}, the limit {limit}"
    else:
        text = f"{who} is {gate.value:g}, the limit {gate.limit:g}"
    return f"{text}: {gate.reason}" if gate.reason else text


def moved(finding: Finding) -> str:
    """Return `+1.00 MiB (+5.0 %)`: first the figure that alerts, where two differ."""
    text = (
        f"{signed_bytes(finding.delta_bytes)} ({signed_percent(finding.delta_ratio)})"
    )
    live = finding.delta_live_peak_bytes or 0
    if finding.change == "mixed" and live > 0:
        return f"live peak {signed_bytes(live)}, reserved {text}"
    return text


def changed_inputs(keys: Sequence[str]) -> str:
    """Return `inputs changed` for the keys that make two modules incomparable."""
    words = [_INPUTS.get(key, key) for key in keys]
    return f"{', '.join(words)} changed"


def input_words(inputs: Sequence[InputChange]) -> str:
    """Return `batch 8 → 16 (tokens, targets)` for the first changes of inputs."""
    shown = "; ".join(_input_text(each) for each in inputs[:_SHOWN_INPUTS])
    rest = len(inputs) - _SHOWN_INPUTS
    return f"{shown}; {counted(rest, 'more change')} of inputs" if rest > 0 else shown


def _input_text(each: InputChange) -> str:
    names = each.arguments
    if each.argument_count > 1:
        first, *_ = names.split(", ")
        names = f"{first} and {each.argument_count - 1} more"
    at = f" ({names})" if names and names != each.meaning else ""
    if each.change in ("new", "gone"):
        return f"{each.meaning} {each.change}{at}"
    return f"{each.meaning} {each.base_size} → {each.candidate_size}{at}"


def lack(finding: Finding) -> str:
    """Return the fate of a program that failed."""
    is_there = finding.rule == "no_buffer_assignment"
    return "has no buffer assignment" if is_there else "is missing"


def absence(finding: Finding) -> str:
    """Return which run has a failed program, and which lacks it."""
    is_there = finding.rule == "no_buffer_assignment"
    what = "the program's buffer assignment" if is_there else "the program"
    return f"{finding.base_run} has {what}, {finding.candidate_run} has not"


def share_words(finding: Finding) -> str:
    """Return `+4.00 MiB from lm.py:53; -0.50 MiB unexplained` where edits meet.

    Edits from which nothing follows are left out.
    """
    told = [share for share in finding.shares if share.delta_bytes]
    return "; ".join(_share_text(finding, share) for share in told or finding.shares)


def _share_text(finding: Finding, share: EditShare) -> str:
    size = signed_bytes(share.delta_bytes)
    match share.origin:
        case "unexplained":
            return f"{size} unexplained"
        case "inputs":
            return f"{size} from the inputs"
        case "several":
            return f"{size} from more than one of these"
        case _:
            assert share.edit is not None
            return f"{size} from {_edit_name(finding.edits, share.edit - 1)}"


def _edit_name(edits: Sequence[SourceEdit], place: int) -> str:
    """Return `lm.py:53`, or the sentence of an edit that has no line of its own."""
    at = [(e.source_path, e.candidate_line or e.base_line) for e in edits]
    path, line = at[place]
    if None in (path, line) or at.count((path, line)) > 1:
        return edits[place].sentence
    return f"{path}:{line}"


def cause_line(finding: Finding | None) -> tuple[str, int] | None:
    """Return the line to look at: the first edited one, else the largest buffer's."""
    for edit in finding.edits if finding is not None else []:
        line = edit.candidate_line or edit.base_line
        if edit.source_file is not None and line is not None:
            return edit.source_file, line
    at = dominating_source(finding)
    if at is None or at.source_file is None or at.source_line is None:
        return None
    return at.source_file, at.source_line


def is_read(finding: Finding) -> bool:
    """Return whether `cause_line` only reads the buffers that XLA gives no line."""
    if any(e.source_file and (e.candidate_line or e.base_line) for e in finding.edits):
        return False
    at = dominating_source(finding)
    return at is not None and at.attribution == "read"


def shown_path(finding: Finding, path: str) -> str:
    """Return a path without the folder that all of the user's files have."""
    for edit in finding.edits:
        if edit.source_file and edit.source_path:
            prefix = edit.source_file.removesuffix(edit.source_path)
            return path.removeprefix(prefix)
    return path


def dominating_source(finding: Finding | None) -> BufferChange | None:
    """Return the largest change in the direction of the finding with a user's line."""
    if finding is None:
        return None
    sign = 1 if (finding.delta_bytes or 0) >= 0 else -1
    located = [b for b in finding.buffers if b.source_file and b.source_line]
    return next((b for b in located if b.delta_bytes * sign > 0), None)

"""Write sentences that several formats share: gates, inputs, missing programs."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.judge.findings import OF_EDITS, Finding, edited_bytes, is_by_release
from hlodb.reports.judge.names import Names, called, memory
from hlodb.reports.judge.report import Gate
from hlodb.reports.read.causes import explaining
from hlodb.reports.read.claims import Claim
from hlodb.reports.read.details import BufferChange
from hlodb.reports.read.differences import InputChange
from hlodb.text import counted, plain_bytes, signed_bytes, signed_percent

EXPIRED = "waiver expired on"
"""How the tag of a finding begins that was waived until a day."""

_SHOWN_INPUTS = 3

_OF_INPUTS = ("changed", "not_comparable")

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
    who = " ".join(x for x in (called(gate, shared), memory(gate)) if x)
    delta = finding.delta_bytes if finding is not None else None
    if (
        gate.gate in ("regression", "changed_inputs")
        and finding is not None
        and delta is not None
    ):
        text = f"{who} {moved(finding)}"
    elif gate.gate == "donation_loss":
        return f"{who}: {_lost_donations(gate, finding)}"
    elif gate.unit == "bytes":
        text = f"{who} is {against_limit(gate)}"
    else:
        text = f"{who} is {gate.value:g}, the limit {gate.limit:g}"
    return f"{text}: {gate.reason}" if gate.reason else text


def against_limit(gate: Gate) -> str:
    """Return `1.94 KiB over the budget of 393.78 MiB` for a gate in bytes."""
    limit = "budget" if gate.gate == "budget" else "limit"
    limit += f" of {plain_bytes(int(gate.limit))}"
    if not gate.margin:
        return f"exactly at the {limit}"
    way = "over" if gate.margin < 0 else "below"
    return f"{plain_bytes(abs(int(gate.margin)))} {way} the {limit}"


def _lost_donations(gate: Gate, finding: Finding | None) -> str:
    """Return how much is no longer aliased, and what became of the memory.

    They differ where something else moved memory too.
    """
    text = f"{lost_words(int(gate.value))} (limit {plain_bytes(int(gate.limit))})"
    if finding is None or finding.delta_bytes is None:
        return text
    delta = finding.delta_bytes
    way = "grew" if delta > 0 else "fell"
    size = plain_bytes(abs(delta))
    return f"{text}; memory {f'{way} by {size}' if delta else 'is unchanged'}"


def lost_words(size: int) -> str:
    """Return how much of the outputs lost the memory of donated arguments."""
    return f"{plain_bytes(size)} of outputs no longer take over the memory of arguments"


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


def changes_of_inputs(f: Finding) -> str:
    """Return `input_words` of a finding, or which inputs differ where no size does."""
    return input_words(f.inputs, _opposed_inputs(f)) or changed_inputs(f.differing_keys)


def input_words(
    inputs: Sequence[InputChange], opposed: Sequence[InputChange] = ()
) -> str:
    """Return `batch 8 → 16 (tokens, targets)` for the first changes of inputs.

    Several sizes of one meaning, as the widths of layers, are one change. A count of
    steps says nothing beside what it counts: what is repeated is of many bytes. Those
    that are `opposed` to the difference come last.
    """
    changes: dict[tuple[str, str], list[InputChange]] = {}
    most = max((abs(each.delta_bytes) for each in inputs), default=0)
    for each in inputs:
        if each.change == "repeated" and abs(each.delta_bytes) < _SEEN * most:
            continue
        what = each.meaning if each.change == "resized" else str(len(changes))
        changes.setdefault((each.change, what), []).append(each)
    against = [alike for alike in changes.values() if all(c in opposed for c in alike)]
    texts = [_inputs_text(alike) for alike in changes.values() if alike not in against]
    texts += [f"{_inputs_text(alike)}, against it" for alike in against]
    shown = "; ".join(texts[:_SHOWN_INPUTS])
    rest = len(texts) - _SHOWN_INPUTS
    return f"{shown}; {counted(rest, 'more change')} of inputs" if rest > 0 else shown


def _opposed_inputs(f: Finding) -> list[InputChange]:
    """Return the changes of inputs that move memory the other way than it moved.

    New and gone arguments have their own bytes, unless they take one another's place.
    What others bring is more than these: smaller patches are longer sequences, and a
    CPU widens narrower types again. So the rows of the inputs have to show it.
    """
    delta = f.delta_bytes or 0
    of_inputs = sum(c.delta_bytes or 0 for c in f.claims if c.kind == "inputs")
    new, gone = (
        {each.meaning for each in f.inputs if each.change == change}
        for change in ("new", "gone")
    )
    return [
        each
        for each in f.inputs
        if each.delta_bytes * delta < 0
        and (
            each.meaning not in new & gone
            if each.change in ("new", "gone")
            else of_inputs * delta < 0
        )
    ]


def are_inputs_little(finding: Finding) -> bool:
    """Return whether edits explain a difference beside a few small new arguments.

    Sizes that change are never little: a batch is of few bytes itself.
    """
    delta = finding.delta_bytes or 0
    if 2 * edited_bytes(finding) * delta > delta * delta:
        return True
    size = sum(abs(each.delta_bytes) for each in finding.inputs)
    return (
        bool(finding.inputs)
        and all(each.change in ("new", "gone") for each in finding.inputs)
        and size < _LITTLE * abs(finding.delta_bytes or 0)
        and any(each.standing == "proven" for each in explaining(finding.claims))
    )


def _inputs_text(changes: Sequence[InputChange]) -> str:
    first, *others = changes
    if not others:
        return _input_text(first)
    sizes = [f"{c.base_size} → {c.candidate_size}" for c in changes[:_SHOWN_INPUTS]]
    more = len(changes) - _SHOWN_INPUTS
    sizes += [f"{more} more"] if more > 0 else []
    name = first.arguments.split(", ")[0]
    return f"{first.meaning} {', '.join(sizes)} ({name} and others)"


def _input_text(each: InputChange) -> str:
    first = each.arguments.split(", ")[0]
    more = f"{each.argument_count - 1} more" if each.argument_count > 1 else ""
    meaning = each.meaning
    number = meaning.removeprefix(first).removesuffix("]")
    if first and number.startswith("[") and number[1:].isdecimal():
        # A dimension that no name of a size is known of.
        meaning = f"dimension {number[1:]} of {first}"
        names = f"and {more}" if more else ""
    elif meaning == first:
        names = f"and {more}" if more else ""
    else:
        names = f"{first} and {more}" if more else each.arguments
    at = f" ({names})" if names else ""
    if each.change in ("new", "gone"):
        return f"{meaning} {each.change}{at}"
    return f"{meaning} {each.base_size} → {each.candidate_size}{at}"


def lack(finding: Finding) -> str:
    """Return the fate of a program that failed."""
    is_there = finding.rule == "no_buffer_assignment"
    return "has no buffer assignment" if is_there else "is missing"


def absence(finding: Finding) -> str:
    """Return which run has a failed program, and which lacks it."""
    is_there = finding.rule == "no_buffer_assignment"
    what = "the program's buffer assignment" if is_there else "the program"
    return f'run "{finding.base_run}" has {what}, "{finding.candidate_run}" has not'


_LITTLE = 0.01

_SEEN = 0.01
"""Parts smaller than this share of the largest are left out."""


def share_words(finding: Finding) -> str:
    """Return `+4.00 MiB from lm.py:53; -0.50 MiB unexplained` where claims meet.

    Claims that no bytes follow from are left out, and so is what is too little to be
    seen beside the largest. One claim alone splits nothing, nor do the inputs alone,
    beside what no row shows to follow from them.
    """
    most = max((abs(claim.delta_bytes or 0) for claim in finding.claims), default=0)
    with_bytes = [
        claim
        for claim in finding.claims
        if claim.delta_bytes and abs(claim.delta_bytes) >= _SEEN * most
    ]
    if len(with_bytes) < 2 or not any(c.kind in OF_EDITS for c in with_bytes):
        return ""
    return "; ".join(_share_text(finding.claims, claim) for claim in with_bytes)


def _share_text(claims: Sequence[Claim], claim: Claim) -> str:
    size = signed_bytes(claim.delta_bytes)
    if claim.kind == "unexplained":
        return f"{size} unexplained"
    how = "likely from" if claim.standing == "likely" else "from"
    return f"{size} {how} {_short(claims, claim)}"


def _short(claims: Sequence[Claim], claim: Claim) -> str:
    """Return `lm.py:53`, or the words of a claim that has no line of its own.

    Outputs and what is recomputed have the line at which they are computed, which
    nobody edited for it.
    """
    at = [(each.source_path, each.source_line) for each in claims]
    place = claim.source_path, claim.source_line
    is_computed = claim.change in ("output", "recomputation")
    is_elsewhere = is_computed or not claim.is_line_edited
    if None in place or at.count(place) > 1 or is_elsewhere:
        return claim.claim
    return f"{claim.source_path}:{claim.source_line}"


def edited_line(finding: Finding | None) -> Claim | None:
    """Return the first claim that explains a finding and has a line."""
    found = explaining(finding.claims) if finding is not None else []
    return next((c for c in found if c.source_file and c.source_line), None)


def cause_line(finding: Finding | None) -> tuple[str, int] | None:
    """Return the line to look at: that of an edit, else the largest buffer's.

    None where another release of the compiler made the difference.
    """
    if finding is not None and is_by_release(finding):
        return None
    claim = edited_line(finding)
    if claim is not None and claim.source_file and claim.source_line:
        return claim.source_file, claim.source_line
    at = dominating_source(finding)
    if at is None or at.source_file is None or at.source_line is None:
        return None
    return at.source_file, at.source_line


def annotated_line(finding: Finding | None) -> tuple[str, int] | None:
    """Return the line to annotate: `cause_line`, and of other inputs only an edit's.

    Inputs change where the program is called; the largest buffer's line did nothing.
    """
    has_other_inputs = finding is not None and finding.change in _OF_INPUTS
    if has_other_inputs and edited_line(finding) is None:
        return None
    return cause_line(finding)


def is_read(finding: Finding) -> bool:
    """Return whether `cause_line` only reads the buffers that XLA gives no line."""
    if edited_line(finding) is not None:
        return False
    at = dominating_source(finding)
    return at is not None and at.attribution == "read"


def shown_path(finding: Finding, path: str) -> str:
    """Return a path without the folder that all of the user's files have."""
    for claim in finding.claims:
        if claim.source_file and claim.source_path:
            prefix = claim.source_file.removesuffix(claim.source_path)
            return path.removeprefix(prefix)
    return path


_NAMED = 0.01
"""Least share of a difference that has a buffer's line named."""


def dominating_source(finding: Finding | None) -> BufferChange | None:
    """Return the largest change in the direction of the finding with a user's line.

    None if it is little: without live ranges the large ones are not known.
    """
    if finding is None:
        return None
    delta = finding.delta_bytes or 0
    sign = 1 if delta >= 0 else -1
    located = [b for b in finding.buffers if b.source_file and b.source_line]
    largest = next((b for b in located if b.delta_bytes * sign > 0), None)
    if largest is None or abs(largest.delta_bytes) < _NAMED * abs(delta):
        return None
    return largest

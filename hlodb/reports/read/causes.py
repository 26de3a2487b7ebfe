"""Name the cause of a difference: its largest part, and the largest buffers in it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hlodb.reports.read.claims import Claim
from hlodb.reports.read.differences import (
    FRAGMENTATION,
    Buffer,
    Change,
    Difference,
    DivergenceRow,
    InputChange,
)
from hlodb.text import bytes_from_to, counted, signed_bytes


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a figure moved: a stable key to group by, and a sentence.

    `share_ratio` is the share of all parts that go the same way, or, where the title
    names edits of the source, of the difference that follows from these; None if that
    is not known. `standing` is proven or likely. `effect` is what the compiler made of
    edits. `is_part` where no edit and nobody's choice is known to explain the figure:
    the title then names the largest part of the difference.
    """

    key: str
    title: str
    blame: str
    share_ratio: float | None
    standing: str
    effect: str | None = None
    is_part: bool = False


_NOTICED = 0.2
"""Least growth of the number of recomputed instructions that is a cause."""

_COUNTS = 0.01
"""Least share of a difference that a sentence about its largest part leaves out."""

_COLLECTIVE = re.compile(
    r"all-gather|all-reduce|all-to-all|ragged-all-to-all|reduce-scatter"
    r"|collective-(permute|broadcast)"
)
_NUMBERED = re.compile(r"[._]\d+(?=$|[._])")
_SHAPE = re.compile(r"\b(?:pred|[a-z]+\d\w*)\[\d")
_CARRIED = re.compile(r"(wide\.)+param(\.clone)?")
"""Parameters of the body of a loop to which XLA moved more, such as constants."""


_LEADS = 0.05
"""Least share of some buffers that has an operation named beside the largest."""

_MAY_BE_RESIZED = 0.25
"""From this share of new buffers on, those that are gone may be the same ones."""

_PLURAL = " shares ", " share "

SHOWN_EDITS = 3

_SEEN = 1e-4
"""Buffers that changed by less than this share of the largest change don't count."""

_PROGRAM = "program"
_PROVEN = "proven"


def name_cause(
    difference: Difference,
    parting: DivergenceRow,
    claims: Sequence[Claim],
    inputs: Sequence[InputChange],
    devices: int,
) -> Cause:
    """Return the cause of a difference, which has changes.

    Where claims name edits of the source, these are the cause, and no pass of the
    compiler. Other inputs, as of one more layer, recompute as much more or less, and
    so do the copies of an unrolled loop: beside edits recomputation is no effect. An
    edit is of the program before it was split over `devices`.
    """
    edits = explaining(claims)
    cause = _of_compiler(difference, parting, inputs, bool(inputs or edits))
    if not edits:
        return cause
    first = edits[0]
    at = f"{first.source_path or '-'}:{first.function_name or first.subject or '-'}"
    key = f"{_PROGRAM}/{first.rule_id or first.change}/{at}"
    return replace(
        cause,
        key=key,
        title=_of_devices(edit_words(edits, SHOWN_EDITS), devices),
        blame=_PROGRAM,
        share_ratio=_share(edits),
        standing=first.standing,
        effect=cause.title,
        is_part=False,
    )


def _of_devices(title: str, devices: int) -> str:
    """Return a title that says whose its shapes are, where bytes are of one device."""
    if devices <= 1 or _SHAPE.search(title) is None:
        return title
    whose = f"shapes of all {devices:,} devices"
    return f"{title[:-1]}; {whose})" if title.endswith(")") else f"{title} ({whose})"


def explaining(claims: Sequence[Claim]) -> list[Claim]:
    """Return the edits that moved memory the way in which it moved, in their order."""
    return [c for c in claims if c.kind == "edit" and not c.is_against]


def _share(edits: Sequence[Claim]) -> float | None:
    """Return the share of a difference that follows from edits, if all are known."""
    shares = [each.share_ratio for each in edits if each.share_ratio is not None]
    return round(sum(shares), 4) if len(shares) == len(edits) else None


def edit_words(edits: Sequence[Claim], most: int) -> str:
    """Return `lm.py:57 Model.__call__: bf16 → f32 in 11 operations` for edits.

    What is no more than likely says so. Edits beyond `most` are counted as places:
    one edit may be seen in several.
    """
    shown = "; ".join(
        each.claim if each.standing == _PROVEN else f"{each.standing} {each.claim}"
        for each in edits[:most]
    )
    rest = len(edits) - most
    differ = "differs" if rest == 1 else "differ"
    more = f"{counted(rest, 'more place')} {differ}"
    return f"{shown}; {more}" if rest > 0 else shown


def _of_compiler(
    difference: Difference,
    parting: DivergenceRow,
    inputs: Sequence[InputChange],
    follows_from_more: bool,
) -> Cause:
    part, changes = difference.main_part, difference.main_changes
    new = _new_words(difference, inputs)
    title = _title(part, changes, difference.delta_bytes, new)
    key = f"{parting.blame}/{part}/{_leading(changes) or '-'}"
    is_part = True
    recomputed = _recomputed(parting, difference.delta_bytes)
    if not follows_from_more and recomputed is not None:
        title, is_part = f"{recomputed}: {title}", False
        key = f"{parting.blame}/remat/{_leading(changes) or '-'}"
    elif part == FRAGMENTATION and (more := _scoped(parting)) is not None:
        title, is_part = f"{more}: {title}", False
        key = f"{parting.blame}/scoped/-"
    share = difference.share
    return Cause(key, title, parting.blame, share, _PROVEN, is_part=is_part)


def profile_cause(difference: Difference) -> Cause:
    """Return the kind that most of a difference falls in as its cause, nobody's change.

    For where the details of a run were pruned: which buffer, from which line, and whose
    change it is can't be told.
    """
    (most,) = difference.main_changes
    kind = FRAGMENTATION if most.part == FRAGMENTATION else most.kind
    title = f"{signed_bytes(most.delta_bytes)} of {kind} (details of a run are pruned)"
    key, share = f"unknown/whole/{kind}", difference.share
    return Cause(key, title, "unknown", share, _PROVEN, is_part=True)


def _recomputed(parting: DivergenceRow, delta: int) -> str | None:
    """Return a title where more is recomputed in less memory, or less in more.

    A program that became larger, in another way, also recomputes more.
    """
    b, c = parting.base_remat_count, parting.candidate_remat_count
    if abs(c - b) <= _NOTICED * min(b, c) or not parting.are_remats_marked:
        return None
    if (c > b) == (delta > 0):
        return None
    what = "more recomputation" if c > b else "less recomputation"
    return f"{what} ({b} → {c} rematerialised instructions)"


def _scoped(parting: DivergenceRow) -> str | None:
    """Return a title for a change of scoped memory, which holds no values."""
    b, c = parting.base_scoped_bytes, parting.candidate_scoped_bytes
    if b == c:
        return None
    return f"scoped memory of kernels: {bytes_from_to(b, c)}"


def _new_words(difference: Difference, inputs: Sequence[InputChange]) -> str:
    """Return what buffers without a partner are.

    Buffers are matched by their names and shapes. Where arguments have other sizes, or
    many of one kind are gone, those without a partner may be there in another size.
    """
    sizes: Counter[tuple[str, str]] = Counter()
    for p in difference.parts:
        sizes[p.part, p.kind] += abs(p.delta_bytes)
    may_be_resized = any(each.change == "resized" for each in inputs) or any(
        sizes["gone", kind] > _MAY_BE_RESIZED * sizes["new", kind] > 0
        for kind in ("temp", "parameter")
    )
    return "new or resized buffer" if may_be_resized else "new buffer"


def _title(part: str, changes: Sequence[Change], delta: int, new: str) -> str:
    sign = 1 if delta >= 0 else -1
    with_it = [c for c in changes if c.delta_bytes * sign > 0]
    with_it = [c for c in with_it if not _is_scratch(c)] or with_it
    # Constants of a few bytes are no buffers that anybody would look for.
    # An output is one, however small.
    if part != "alias":
        least = _SEEN * max((abs(c.delta_bytes) for c in with_it), default=0)
        with_it = [c for c in with_it if abs(c.delta_bytes) >= least]
    leaders = _leaders(with_it, 3)
    count = len(with_it)
    of_leaders = sum(_label(change) in leaders for change in with_it)
    names = ", ".join(leaders) or "unnamed instructions"
    # Names of the largest, which may be few of them.
    of_names = f" of {names}"
    if of_leaders < count:
        of_names = f", {of_leaders:,} of {names}"
    buffers = f"{counted(count, 'buffer')}{of_names}"
    comma = "," if of_leaders < count else ""
    first = with_it[0] if with_it else None
    others = f" and {count - 1} more" if count > 1 else ""
    moved = _sums(with_it, delta)
    match part:
        case "new":
            text = f"{counted(count, new)}{of_names}"
        case "gone":
            is_or_are = "is" if count == 1 else "are"
            text = f"{buffers}{comma} {is_or_are} gone from the peak"
        case "lifetime":
            now = "now live" if sign > 0 else "no longer live"
            text = f"{buffers}{comma} {now} at the peak"
        case "resized" | "retyped" if first is not None:
            text = f"{part}: {_label(first)} {first.note}{others}"
        case "repadded":
            text = f"padding changed in {buffers}"
        case "alias" if first is not None:
            what = "lost" if sign > 0 else "gained"
            text = f"{what} alias: {_label(first)}, {first.note}{others}"
        case "allocation_kind":
            ways = Counter(c.note if count == 1 else _plural(c) for c in with_it)
            how = ", ".join(f"{number:,} {way}" for way, number in ways.most_common())
            (only, *more) = ways
            text = f"{buffers}: {how}" if more else f"{buffers}{comma} {only}"
        case "memory_space":
            text = f"{buffers}{comma} moved between memory spaces"
        case "fragmentation":
            text = "fragmentation: more temporary memory than is ever live at once"
        case "temp":
            text = "temporary memory (no live ranges to split it by)"
        case _:
            text = part
    return f"{text} ({moved})"


def _sums(with_it: Sequence[Change], delta: int) -> str:
    """Return what changes bring, and the rest of the difference where it counts."""
    brought = sum(change.delta_bytes for change in with_it)
    rest = delta - brought
    if abs(rest) < _COUNTS * abs(delta) or signed_bytes(brought) == signed_bytes(delta):
        return signed_bytes(brought)
    return (
        f"{signed_bytes(brought)}, others {signed_bytes(rest)},"
        f" net {signed_bytes(delta)}"
    )


def _plural(change: Change) -> str:
    return change.note.replace(*_PLURAL)


def _is_scratch(change: Change) -> bool:
    """Return whether a buffer is no array: a tuple of addresses, a thread's scratch."""
    buffer = change.candidate or change.base
    is_tuple = buffer is not None and (buffer.shape or "").startswith("(")
    return is_tuple or change.kind == "thread_local"


def _leading(changes: Sequence[Change]) -> str | None:
    return next(iter(_leaders(changes, 1)), None)


def _leaders(changes: Iterable[Change], top: int) -> list[str]:
    """Name what most bytes of some changes belong to, the most first."""
    sums: dict[str, int] = defaultdict(int)
    for change in changes:
        sums[_label(change)] += abs(change.delta_bytes)
    least = _LEADS * sum(sums.values())
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:top]
    return [n for i, (n, size) in enumerate(ranked) if i == 0 or size >= least]


def _label(change: Change) -> str:
    """Name a change by the framework's operation, else by the compiler's."""
    buffer = change.candidate or change.base
    return "packing" if buffer is None else buffer_label(buffer)


def buffer_label(buffer: Buffer) -> str:
    """Return what a buffer belongs to: dot_general, fusion, all-gather of dot_general.

    A collective is written by the partitioner, for an operation of the framework.
    """
    name = _operation(buffer)
    collective = _COLLECTIVE.match(buffer.opcode or "")
    return f"{collective[0]} of {name}" if collective and buffer.op_path else name


def _last_name(path: str) -> str:
    """Return the last name of a framework path.

    XLA merges collectives, and their paths to `step/(layer/dot:layer/sum:head/dot)`,
    of which the beginning may be cut: which of them a result is of is not said.
    """
    last = path.rpartition("/")[2]
    if last.count(")") <= last.count("("):
        return last
    names = {each.rpartition("/")[2].lstrip("(") for each in path[:-1].split(":")}
    return names.pop() if len(names) == 1 else "several operations"


def _operation(buffer: Buffer) -> str:
    if buffer.parameter is not None and not buffer.op_path:
        return f"parameter {buffer.parameter}"
    if buffer.op_path:
        return _last_name(buffer.op_path)
    name = _NUMBERED.sub("", buffer.instruction or "")
    if _CARRIED.fullmatch(name):
        return "what a loop carries"
    return name.removesuffix(".clone") or buffer.opcode or "unnamed"

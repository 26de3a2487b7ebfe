"""One finding as a card: the waterfall, the buffers, where it began, what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from hlodb.printed_commands import with_db
from hlodb.reports.document.blocks import (
    Card,
    Commands,
    Paragraph,
    Table,
    command_blocks,
    table,
)
from hlodb.reports.judge.findings import Finding, cause_label
from hlodb.reports.judge.names import (
    kind_words,
    memory,
    part_words,
    state_words,
    tag_words,
)
from hlodb.reports.judge.sentences import (
    changed_inputs,
    changes_of_inputs,
    share_words,
    shown_path,
)
from hlodb.reports.read.causes import Cause
from hlodb.reports.read.details import SOURCE, BufferChange, Contents, Divergence
from hlodb.text import counted, plain_bytes, signed_bytes, signed_percent

SHOWN_BUFFERS = 5


def finding_card(
    f: Finding, who: str, marks: Mapping[str, str], db: str | None
) -> Card:
    """Return the card of a finding about `who`; commands name the warehouse `db`."""
    blocks: list[Paragraph | Table | Commands] = [Paragraph(_summary(f))]
    if f.cause is not None:
        blocks.append(Paragraph(_cause(f, f.cause)))
    if split := share_words(f):
        blocks.append(Paragraph(f"Split: {split}."))
    if f.divergence is not None:
        blocks.append(Paragraph(_parting(f.divergence)))
    if f.parts:
        blocks.append(_waterfall(f))
    if f.buffers:
        blocks.append(_buffers(f, SHOWN_BUFFERS))
    if f.contents is not None and f.contents.held:
        blocks.append(Paragraph("Largest buffers, in base and candidate:"))
        blocks.append(_contents(f.contents, SHOWN_BUFFERS))
    if f.op_mix:
        mix = ", ".join(f"{c.name} {c.base} → {c.candidate}" for c in f.op_mix[:8])
        blocks.append(Paragraph(f"Number of instructions by opcode: {mix}."))
    if f.triage is not None:
        blocks.append(Paragraph(f"Triage: {f.triage.status}, {f.triage.reason}"))
    if f.commands:
        blocks += command_blocks([with_db(line, db) for line in f.commands])
    return Card(_title(f, who, marks), tuple(blocks), f.id)


def _title(f: Finding, who: str, marks: Mapping[str, str]) -> str:
    mark = marks.get(f.state, " ")
    moved = f"{signed_bytes(f.delta_bytes)} ({signed_percent(f.delta_ratio)})"
    if f.delta_bytes is None:
        moved = plain_bytes(f.candidate_bytes or f.base_bytes)
    return f"[{mark}] {who} {memory(f)} {moved} {state_words(f.state)}"


def _summary(f: Finding) -> str:
    text = _reserved(f)
    if f.delta_live_peak_bytes is not None:
        moved = f.delta_live_peak_bytes
        text += f", live peak {signed_bytes(moved) if moved else 'unchanged'}"
    text += f'; since run "{f.since_run}"' if f.since_run else ""
    if f.differing_keys:
        text += f"; {_why_other(f)}"
    if f.match_method and f.match_method != "program":
        name = f" {f.base_program}" if f.base_program else ""
        text += f"; matched{name} by {f.match_method}"
    for tag in f.tags:
        text += f"; {tag_words(tag)}"
    return f"{text}; finding {f.id}."


def _reserved(f: Finding) -> str:
    """Return what a finding's program reserves, in the runs that have it."""
    if f.candidate_bytes is None:
        return f"{plain_bytes(f.base_bytes)} reserved in the base only"
    if f.base_bytes is None:
        return f"{plain_bytes(f.candidate_bytes)} reserved in the candidate only"
    return f"{plain_bytes(f.base_bytes)} → {plain_bytes(f.candidate_bytes)} reserved"


def _why_other(f: Finding) -> str:
    if f.change == "not_comparable":
        return f"not comparable: {changed_inputs(f.differing_keys)}"
    return changes_of_inputs(f)


def _cause(f: Finding, cause: Cause) -> str:
    """Return the cause and its share, if known, of the difference or its parts."""
    label = cause_label(cause).capitalize()
    text = f"{label} ({cause.blame}): {cause.title}."
    if cause.effect is None:
        return f"{text} It accounts for {_share_of_parts(f, cause)}."
    # More than all of it follows from edits that others count against: see the split.
    if cause.share_ratio is None or not 0 < cause.share_ratio <= 1:
        return text
    share = _percent(cause.share_ratio)
    return f"{text} It accounts for {share} of {signed_bytes(f.delta_bytes)}."


def _share_of_parts(f: Finding, cause: Cause) -> str:
    """Return a cause's share of what adds or frees memory, and what goes against."""
    sums: dict[str, int] = defaultdict(int)
    for p in f.parts:
        sums[p.kind if p.part == "whole" else p.part] += p.delta_bytes
    added = sum(delta for delta in sums.values() if delta > 0)
    freed = sum(delta for delta in sums.values() if delta < 0)
    grew = (f.delta_bytes or 0) >= 0
    ways = (added, "added"), (freed, "freed")
    (same, does), (other, does_else) = ways if grew else ways[::-1]
    share = f"{_percent(cause.share_ratio)} of {signed_bytes(same)} {does}"
    if added and freed:
        share += f"; {signed_bytes(other)} {does_else},"
        share += f" net {signed_bytes(f.delta_bytes)}"
    return share


def _percent(ratio: float | None) -> str:
    return "unknown" if ratio is None else f"{100 * ratio:.0f} %"


def _parting(d: Divergence) -> str:
    if d.first_different is None:
        return f"First different instructions: none in the dumped stages; {d.reason}."
    if d.first_different == SOURCE:
        return "The programs handed to XLA differ."
    last = f" (still the same: {d.last_equal})" if d.last_equal else ""
    return f"First different instructions: {d.first_different}{last}; {d.reason}."


def _waterfall(f: Finding) -> Table:
    rows = [
        [
            part_words(p.part, p.delta_bytes),
            kind_words(p.kind),
            str(p.buffer_count),
            signed_bytes(p.delta_bytes),
        ]
        for p in f.parts
    ]
    rows.append(["unexplained", "", "", signed_bytes(f.residual_bytes)])
    rows.append(["total", "", "", signed_bytes(f.delta_bytes)])
    return table(["part", "kind", "buffers", "Δ"], rows, numeric=(2, 3))


def _buffers(f: Finding, most: int) -> Table:
    rows = [_buffer_row(f, b) for b in f.buffers[:most]]
    rest = f.buffers[most:]
    count = len(rest) + f.other_buffer_count
    if count:
        size = sum(b.delta_bytes for b in rest) + f.other_buffer_bytes
        rows.append([signed_bytes(size), f"[{counted(count, 'other')}]", *[""] * 5])
    header = ["Δ", "part", "buffer", "shape", "framework path", "source", "matched by"]
    return table(header, rows, numeric=(0,))


def _contents(contents: Contents, most: int) -> Table:
    """Set base and candidate side by side; what one side lacks is left open."""
    rows = [
        [
            h.status,
            kind_words(h.kind),
            (h.base_instruction or "-") if h.base_bytes is not None else "",
            plain_bytes(h.base_bytes),
            (h.candidate_instruction or "-") if h.candidate_bytes is not None else "",
            plain_bytes(h.candidate_bytes),
            h.op_path or "-",
        ]
        for h in contents.held[:most]
    ]
    rest = contents.held[most:]
    count = len(rest) + contents.other_count
    if count:
        base = contents.other_base_bytes + sum(h.base_bytes or 0 for h in rest)
        candidate = contents.other_candidate_bytes + sum(
            h.candidate_bytes or 0 for h in rest
        )
        sizes = plain_bytes(base), plain_bytes(candidate)
        others = f"[{counted(count, 'other')}]"
        rows.append([others, "", "", sizes[0], "", sizes[1], ""])
    header = ["part", "kind", "base", "in base", "candidate", "in candidate"]
    return table([*header, "framework path"], rows, numeric=(3, 5))


def _buffer_row(f: Finding, b: BufferChange) -> list[str]:
    shape = b.candidate_shape or b.base_shape or "-"
    if b.base_shape and b.candidate_shape and b.base_shape != b.candidate_shape:
        shape = f"{b.base_shape} → {b.candidate_shape}"
    path = shown_path(f, b.source_file) if b.source_file else None
    source = f"{path}:{b.source_line}" if path else "-"
    if b.attribution == "read":
        source += " (read)"
    return [
        signed_bytes(b.delta_bytes),
        _part(b),
        _names(b) or b.note,
        shape,
        b.op_path or "-",
        source,
        _matched(b),
    ]


def _part(b: BufferChange) -> str:
    """Return what became of a buffer; most are temporaries, which goes unsaid."""
    words = part_words(b.part, b.delta_bytes)
    if b.part == "lifetime":
        words = f"{'now' if b.delta_bytes > 0 else 'no longer'} live at the peak"
    return words if b.kind == "temp" else f"{words}: {kind_words(b.kind)}"


def _names(b: BufferChange) -> str:
    """Return the instruction of a buffer, both where they are called differently."""
    names = dict.fromkeys((b.base_instruction, b.candidate_instruction))
    return " → ".join(name for name in names if name)


def _matched(b: BufferChange) -> str:
    return b.match_method if b.match_confidence else "nothing"

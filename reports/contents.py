"""What fills the memory of base and candidate, side by side: kept, new, gone, moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hlodb.reports.counted_pair import Owned
from hlodb.reports.facts import Buffer
from hlodb.reports.match_buffers import BufferMatch
from hlodb.reports.model_findings import Contents, HeldBuffer


class Held(NamedTuple):
    """A buffer that fills memory on one side or both, with the bytes that it owns.

    Bytes are null on a side where it fills none of this colour.
    """

    status: str
    base: Buffer | None
    candidate: Buffer | None
    base_bytes: int | None
    candidate_bytes: int | None


def held_by_color(
    matches: Iterable[BufferMatch], owned: Owned
) -> dict[int, tuple[Held, ...]]:
    """Return all that fills each colour, the largest first."""
    found: dict[int, list[Held]] = defaultdict(list)
    for b, c, *_ in matches:
        base = owned[0][id(b)] if b is not None and b.is_counted else None
        candidate = owned[1][id(c)] if c is not None and c.is_counted else None
        colors = (b.color if b else None, c.color if c else None)
        if base is not None and candidate is not None and colors[0] == colors[1]:
            status = _compared(base, candidate)
            found[colors[0] or 0].append(Held(status, b, c, base, candidate))
        else:
            if base is not None:
                status = "gone" if c is None else "moved away"
                found[colors[0] or 0].append(Held(status, b, c, base, None))
            if candidate is not None:
                status = "new" if b is None else "moved here"
                found[colors[1] or 0].append(Held(status, b, c, None, candidate))
    return {
        color: tuple(sorted((h for h in held if _size(h)), key=_largest_first))
        for color, held in found.items()
    }


def kind_of(held: Held) -> str:
    """Return the kind of allocation; the candidate's if it fills memory there."""
    buffer = held.base if held.candidate_bytes is None else held.candidate
    return buffer.kind if buffer else ""


def buffer_name(buffer: Buffer | None) -> str | None:
    """Return the instruction, with the index into its result where that is a tuple."""
    if buffer is None or buffer.instruction is None:
        return f"parameter {buffer.parameter}" if buffer and buffer.parameter else None
    return buffer.instruction + (buffer.shape_index or "")


def shown_contents(held: Sequence[Held], top: int) -> Contents:
    """Return the `top` largest as the report shows them, and the sums of the rest."""
    rest = held[top:]
    return Contents(
        [_shown(each) for each in held[:top]],
        len(rest),
        sum(each.base_bytes or 0 for each in rest),
        sum(each.candidate_bytes or 0 for each in rest),
    )


def _shown(held: Held) -> HeldBuffer:
    b, c = held.base, held.candidate
    return HeldBuffer(
        status=held.status,
        kind=kind_of(held),
        base_instruction=buffer_name(b),
        candidate_instruction=buffer_name(c),
        op_path=(c.op_path if c else None) or (b.op_path if b else None),
        base_shape=b.array_type if b else None,
        candidate_shape=c.array_type if c else None,
        base_bytes=held.base_bytes,
        candidate_bytes=held.candidate_bytes,
    )


def _compared(base: int, candidate: int) -> str:
    if base == candidate:
        return "same"
    return "larger" if candidate > base else "smaller"


def _size(held: Held) -> int:
    return max(held.base_bytes or 0, held.candidate_bytes or 0)


def _largest_first(held: Held) -> tuple[int, str, str]:
    buffer = held.candidate or held.base
    return -_size(held), held.status, (buffer.instruction or "") if buffer else ""

"""Why reserved bytes changed: every byte of the difference in exactly one part.

    Δreserved = Δparameter + Δconstant + Δlive_out + Δthread_local + Δtemp
    Δtemp     = Δtemp_live_peak + Δfragmentation

and all of these but fragmentation over single buffers, matched by `match_buffers`. The
residual is what the buffers leave unexplained: 0 wherever the sizes of allocations and
the most live temporary bytes are what `memory_profile` says. What each part means
stands in docs/reference/report.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hlodb.reports.contents import Held, held_by_color, kind_of
from hlodb.reports.counted_pair import Owned, both_counted, same_size
from hlodb.reports.donations import apart
from hlodb.reports.facts import Buffer, Output, Profile
from hlodb.reports.match_buffers import SAME_SIZE, BufferMatch, match_buffers
from hlodb.reports.ownership import owned_bytes


class Change(NamedTuple):
    """Bytes of a difference in one part; `base` or `candidate` is the buffer."""

    part: str
    kind: str
    delta_bytes: int
    base: Buffer | None
    candidate: Buffer | None
    method: str
    confidence: float
    note: str


class Waterfall(NamedTuple):
    """The changes of one colour, greatest first, and what they leave unexplained.

    `held` is all that fills the memory on either side, the largest first; on each side
    its bytes add up to what is reserved without the room lost to packing.
    """

    color: int
    delta_bytes: int
    residual_bytes: int
    changes: tuple[Change, ...]
    held: tuple[Held, ...] = ()


class _Matched(NamedTuple):
    """Buffers of both sides: matched, and results that a parameter holds elsewhere."""

    owned: Owned
    matches: list[BufferMatch]
    lost: list[tuple[Buffer, Output]]
    gained: list[tuple[Buffer, Output]]


class Side(NamedTuple):
    """One module: profiles by colour, buffers in order of birth, results."""

    profiles: dict[int, Profile]
    buffers: Sequence[Buffer]
    outputs: Sequence[Output]


def waterfalls(base: Side, candidate: Side) -> list[Waterfall]:
    """Return the waterfall of every colour that either side has, by colour."""
    by_color: dict[int, list[Change]] = defaultdict(list)
    matched = _matched(base, candidate)
    held = held_by_color(_all_matches(matched), matched.owned)
    for color, change in _buffer_changes(matched):
        by_color[color].append(change)
    found = []
    for color in sorted(base.profiles.keys() | candidate.profiles.keys()):
        b, c = base.profiles.get(color), candidate.profiles.get(color)
        changes, there = by_color[color], held.get(color, ())
        if not has_live_ranges(b, c):
            changes = [change for change in changes if change.kind != "temp"]
            there = tuple(h for h in there if kind_of(h) != "temp")
        changes = [*changes, *temporary_changes(b, c)]
        delta = of_profile(c, "reserved_bytes") - of_profile(b, "reserved_bytes")
        residual = delta - sum(change.delta_bytes for change in changes)
        shown = sorted((x for x in changes if x.delta_bytes), key=greatest_first)
        found.append(Waterfall(color, delta, residual, tuple(shown), there))
    return found


def of_profile(profile: Profile | None, name: str) -> int:
    """Return a figure of a profile, 0 where there is none (bytes)."""
    value: int | None = getattr(profile, name) if profile else 0
    return value or 0


def share_of(moved: int, deltas: Iterable[int]) -> float:
    """Return the share of `moved` in all that goes the same way.

    Of the whole difference it may be many times as much, where others go against it.
    """
    total = sum(delta for delta in deltas if delta * moved > 0)
    return round(moved / total, 4) if total else 0.0


def has_live_ranges(*profiles: Profile | None) -> bool:
    """Return whether it is known of all temporaries when they live."""
    return all(
        p is None or p.temp_live_peak_bytes is not None or p.temp_bytes == 0
        for p in profiles
    )


def temporary_changes(b: Profile | None, c: Profile | None) -> Iterator[Change]:
    """Yield changes of temporaries from profiles: packing, or all without ranges."""
    if has_live_ranges(b, c):
        name, part, note = "fragmentation_bytes", "fragmentation", "packing"
    else:
        name, part, note = "temp_bytes", "temp", "one side has no live ranges"
    delta = of_profile(c, name) - of_profile(b, name)
    yield Change(part, "temp", delta, None, None, "profile", 1.0, note)


def _matched(base: Side, candidate: Side) -> _Matched:
    owned = owned_bytes(base.buffers), owned_bytes(candidate.buffers)
    lost = _aliased_elsewhere(candidate, base)
    gained = _aliased_elsewhere(base, candidate)
    done = {id(buffer) for buffer, _ in (*lost, *gained)}
    matches = match_buffers(
        [b for b in base.buffers if id(b) not in done],
        [b for b in candidate.buffers if id(b) not in done],
    )
    return _Matched(owned, matches, lost, gained)


def _all_matches(matched: _Matched) -> list[BufferMatch]:
    """Return also the results that the other side has within a parameter."""
    gone = (BufferMatch(buffer, None, "output", 1.0) for buffer, _ in matched.gained)
    new = (BufferMatch(None, buffer, "output", 1.0) for buffer, _ in matched.lost)
    return [*matched.matches, *gone, *new]


def _buffer_changes(matched: _Matched) -> Iterator[tuple[int, Change]]:
    owned, matches, lost, gained = matched
    for buffer, output in gained:
        note = f"output {output.output_index} now shares its memory with a parameter"
        yield buffer.color, _alias(buffer, None, -owned[0][id(buffer)], note)
    for buffer, output in lost:
        note = f"output {output.output_index} shared its memory with a parameter"
        yield buffer.color, _alias(None, buffer, owned[1][id(buffer)], note)
    for match in matches:
        yield from _split(match, owned)


def _alias(
    base: Buffer | None, candidate: Buffer | None, delta: int, note: str
) -> Change:
    return Change("alias", "live_out", delta, base, candidate, "output", 1.0, note)


def _aliased_elsewhere(one: Side, other: Side) -> list[tuple[Buffer, Output]]:
    """Return allocations of results that lie in a parameter on the other side."""
    allocations = {
        b.allocation_id: b for b in one.buffers if b.is_counted and b.kind == "live_out"
    }
    return [
        (allocations[output.allocation_id], twin)
        for output, twin in apart(one.outputs, other.outputs)
        if output.allocation_id in allocations
    ]


def _split(match: BufferMatch, owned: Owned) -> Iterator[tuple[int, Change]]:
    b, c = match.base, match.candidate
    if b is None or c is None:
        yield from _one_sided(match, owned, "gone" if c is None else "new", "")
    elif b.is_counted and c.is_counted and b.color == c.color and b.kind == c.kind:
        splits = same_size if match.method == SAME_SIZE else both_counted
        for part, delta, note in splits(b, c, owned):
            change = Change(
                part, c.kind, delta, b, c, match.method, match.confidence, note
            )
            yield c.color, change
    elif b.color != c.color:
        note = f"memory space {b.color} to {c.color}"
        yield from _one_sided(match, owned, "space", note)
    elif b.kind != c.kind:
        yield from _one_sided(match, owned, "kind", f"{b.kind} to {c.kind}")
    elif c.kind == "temp":
        note = "lives at the peak now" if c.is_counted else "lives elsewhere now"
        yield from _one_sided(match, owned, "life", note)
    else:
        note = "has its own allocation" if c.is_counted else "shares an allocation"
        yield from _one_sided(match, owned, "alias", note)


def _one_sided(
    match: BufferMatch, owned: Owned, part: str, note: str
) -> Iterator[tuple[int, Change]]:
    sides = ((match.base, -1, owned[0]), (match.candidate, 1, owned[1]))
    for buffer, sign, own in sides:
        if buffer is not None and buffer.is_counted:
            delta = sign * own[id(buffer)]
            yield (
                buffer.color,
                Change(part, buffer.kind, delta, *match, note),
            )


def greatest_first(change: Change) -> tuple[int, str, str, str]:
    """Return the key by which changes are in order."""
    buffer = change.candidate or change.base
    name = (buffer.instruction or "") if buffer else ""
    return (-abs(change.delta_bytes), change.part, change.kind, name)

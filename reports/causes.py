"""Names the cause of a difference: the part that most of it falls in, and of what."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from hlodb.reports.compilations import Compilation
from hlodb.reports.facts import Buffer
from hlodb.reports.model_findings import Cause
from hlodb.reports.waterfall import Change, Waterfall, share_of
from hlodb.text import counted, plain_bytes, signed_bytes

_NOTICED = 0.2
"""Least growth of the number of recomputed instructions that is a cause."""

_NUMBERED = re.compile(r"[._]\d+(?=$|[._])")


def main_part(waterfall: Waterfall) -> str:
    """Return the part that most of the difference falls in; `none` without any."""
    sums = _part_sums(waterfall)
    sign = 1 if waterfall.delta_bytes >= 0 else -1
    ranked = sorted(sums.items(), key=lambda item: (-sign * item[1], item[0]))
    return ranked[0][0] if ranked else "none"


def _part_sums(waterfall: Waterfall) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for change in waterfall.changes:
        sums[change.part] += change.delta_bytes
    return dict(sums)


def name_cause(
    waterfall: Waterfall, base: Compilation, candidate: Compilation, blame: str
) -> Cause:
    """Return the cause of a difference.

    `share_ratio` is what its part is of all parts that go the same way, `confidence`
    how sure the buffers of that part are matched.
    """
    part = main_part(waterfall)
    changes = _of_part(waterfall, part)
    sums = _part_sums(waterfall)
    title = _title(part, changes, waterfall.delta_bytes)
    key = f"{blame}/{part}/{_leading(changes) or '-'}"
    if (more := _recomputed(base, candidate)) is not None:
        title = f"{more}: {title}"
        key = f"{blame}/remat/{_leading(changes) or '-'}"
    elif part == "fragmentation" and (more := _scoped(base, candidate)) is not None:
        title = f"{more}: {title}"
        key = f"{blame}/scoped/-"
    share = share_of(sums.get(part, 0), sums.values())
    return Cause(key, title, blame, share, _confidence(changes))


def _of_part(waterfall: Waterfall, part: str) -> list[Change]:
    return [change for change in waterfall.changes if change.part == part]


def _confidence(changes: Sequence[Change]) -> float:
    """Weigh by bytes; a buffer without a match is as sure as the ladder found none."""
    total = sum(abs(change.delta_bytes) for change in changes)
    sure = sum(abs(c.delta_bytes) * (c.confidence or 0.8) for c in changes)
    return round(sure / total, 2) if total else 1.0


def _recomputed(base: Compilation, candidate: Compilation) -> str | None:
    b, c = base.traits.remat_count, candidate.traits.remat_count
    if abs(c - b) <= _NOTICED * min(b, c) or _unmarked(base) or _unmarked(candidate):
        return None
    what = "more is recomputed" if c > b else "less is recomputed"
    return f"{what} ({b} → {c} rematerialised instructions)"


def _scoped(base: Compilation, candidate: Compilation) -> str | None:
    """Return a title for a change of scoped memory, which holds no values."""
    b, c = base.traits.scoped_bytes, candidate.traits.scoped_bytes
    if b == c:
        return None
    return f"a kernel has {plain_bytes(c)} for itself, {plain_bytes(b)} before"


def _unmarked(compilation: Compilation) -> bool:
    """Older releases say remat in a path, but not which side of it is recomputed."""
    traits = compilation.traits
    return traits.remat_count == 0 and traits.remat_mentions > 0


def _title(part: str, changes: Sequence[Change], delta: int) -> str:
    sign = 1 if delta >= 0 else -1
    with_it = [c for c in changes if c.delta_bytes * sign > 0]
    leaders = ", ".join(_leaders(with_it, 3)) or "unnamed instructions"
    count = len(with_it)
    buffers = f"{counted(count, 'buffer')} of {leaders}"
    first = with_it[0] if with_it else None
    others = f" and {count - 1} more" if count > 1 else ""
    moved = signed_bytes(sum(change.delta_bytes for change in changes))
    match part:
        case "new":
            text = f"{counted(count, 'new buffer')} of {leaders}"
        case "gone":
            text = f"{buffers} {'is' if count == 1 else 'are'} gone"
        case "life":
            now = "now live" if sign > 0 else "no longer live"
            text = f"{buffers} {now} at the peak"
        case "resized" | "retyped" if first is not None:
            text = f"{part}: {_label(first)} {first.note}{others}"
        case "re-padded":
            text = f"{buffers} padded otherwise"
        case "alias" if first is not None:
            what = "lost" if sign > 0 else "gained"
            text = f"{what} alias: {_label(first)}, {first.note}{others}"
        case "kind":
            ways = sorted({c.note for c in with_it})
            text = f"{buffers} moved from {' and '.join(ways)}"
        case "space":
            text = f"{buffers} moved between memory spaces"
        case "fragmentation":
            text = "packing: temporary memory that is never live at once"
        case "temp":
            text = "temporary memory (no live ranges to split it by)"
        case _:
            text = part
    return f"{text} ({moved})"


def _leading(changes: Sequence[Change]) -> str | None:
    return next(iter(_leaders(changes, 1)), None)


def _leaders(changes: Iterable[Change], top: int) -> list[str]:
    """Name what most bytes of some changes belong to, the most first."""
    sums: dict[str, int] = defaultdict(int)
    for change in changes:
        sums[_label(change)] += abs(change.delta_bytes)
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [name for name, _ in ranked[:top]]


def _label(change: Change) -> str:
    """Name a change by the framework's operation, else by the compiler's."""
    buffer = change.candidate or change.base
    return "packing" if buffer is None else buffer_label(buffer)


def buffer_label(buffer: Buffer) -> str:
    """Return the operation a buffer belongs to: dot_general, fusion, parameter 3{}."""
    if buffer.parameter is not None and not buffer.op_path:
        return f"parameter {buffer.parameter}"
    if buffer.op_path:
        return buffer.op_path.rpartition("/")[2]
    name = _NUMBERED.sub("", buffer.instruction or "")
    return name.removesuffix(".clone") or buffer.opcode or "unnamed"

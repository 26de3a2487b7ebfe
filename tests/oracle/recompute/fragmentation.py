"""Recomputes the queries about arenas and what is unused in them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd

from tests.oracle.dump import Allocation, Instruction, Module, Place, Value
from tests.oracle.memory import Space, arena_peak
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    of_space,
    ratio,
    readers,
    recomputes,
)

_LARGEST_ALIGNMENT = 1024


@recomputes("frag_by_space")
def frag_by_space(dump: Dump) -> Iterator[Row]:
    """Subtract the most live temporary bytes from what temporaries reserve."""
    for space in dump.spaces:
        arenas = space.of_kind("temp")
        if not arenas or space.temp_peak is None:
            continue
        size, peak = space.size("temp"), space.temp_peak
        used = [piece.size + space.at(piece.step).temp_live for piece in _scoped(space)]
        yield {
            **of_space(space),
            "temp_bytes": size,
            "temp_live_peak_bytes": peak,
            "fragmentation_bytes": size - peak,
            "fragmentation_ratio": ratio(size - peak, size),
            "arena_count": len(arenas),
            "value_count": sum(len(arena.places) for arena in arenas),
            "scoped_bytes": max(0, min(max(used, default=0), size) - peak),
        }


@dataclass(frozen=True)
class _Scoped:
    """Scoped memory of an operation."""

    step: int
    offset: int
    size: int


def _scoped(space: Space) -> list[_Scoped]:
    """Return the scoped memory of the operations that run, in VMEM only."""
    found = []
    for instruction in space.module.instructions if space.color == 1 else []:
        piece = first_scoped(instruction)
        if instruction.step is not None and piece is not None and piece[1] > 0:
            found.append(_Scoped(instruction.step, *piece))
    return found


def first_scoped(instruction: Instruction) -> tuple[int, int] | None:
    """Return offset and size of the VMEM that an operation reserves for itself."""
    if '"scoped_memory_configs"' not in instruction.backend_config:
        return None
    configs = json.loads(instruction.backend_config).get("scoped_memory_configs")
    if not configs or str(configs[0]["memory_space"]) != "1":
        return None
    return int(configs[0]["offset"]), int(configs[0]["size"])


@recomputes("frag_breakdown")
def frag_breakdown(dump: Dump) -> Iterator[Row]:
    """Yield of every byte of an arena at its peak what it holds, or why nothing."""
    for space in dump.spaces:
        arenas = [
            (arena, peak)
            for arena in space.of_kind("temp")
            if (peak := arena_peak(space, arena)) is not None
        ]
        scoped = _scoped(space) if len(arenas) == 1 else []
        for arena, (_, step) in arenas:
            for part, size in _parts(arena, step, scoped).items():
                yield {
                    **of_space(space),
                    "allocation_id": arena.number,
                    "allocation_bytes": arena.size,
                    "step": step,
                    "part": part,
                    "part_bytes": size,
                    "part_ratio": ratio(size, arena.size),
                }


def _parts(arena: Allocation, step: int, scoped: list[_Scoped]) -> dict[str, int]:
    cuts = {0, arena.size}
    for place in arena.places:
        logical = min(place.value.logical_bytes, place.size)
        cuts |= {place.offset, place.offset + logical, place.end}
    for piece in scoped:
        cuts |= {min(piece.offset, arena.size)}
        cuts |= {min(piece.offset + piece.size, arena.size)}
    ordered = sorted(cuts)
    alignment = _power_of_two(gcd(*(place.offset for place in arena.places)))
    parts: dict[str, int] = defaultdict(int)
    for start, end in itertools.pairwise(ordered):
        here = [p for p in arena.places if p.offset <= start < p.end]
        held = [s for s in scoped if s.offset <= start < s.offset + s.size]
        live = [p for p in here if p.value.is_live(step)]
        if live:
            newest = max(live, key=lambda p: (p.value.start or 0, p.value.number))
            array_end = newest.offset + newest.value.logical_bytes
            part = "live" if start < array_end else "slot_padding"
        elif any(s.step == step for s in held) or (held and not here):
            part = "scoped"
        elif here:
            part = "time_hole"
        elif end < arena.size and end - start < alignment:
            part = "alignment_gap"
        else:
            part = "never_used"
        parts[part] += end - start
    return parts


def _power_of_two(number: int) -> int:
    return number & -number


@recomputes("idle_spaces_at_peak")
def idle_spaces_at_peak(dump: Dump) -> Iterator[Row]:
    """Look at the other memory spaces at the peak of the main one."""
    main = {space.module: space for space in dump.spaces if space.color == 0}
    for space in dump.spaces:
        first = main.get(space.module)
        if space.color == 0 or first is None or first.peak_step is None:
            continue
        live = space.level(first.peak_step)
        temp = first.at(first.peak_step).temp_live
        yield {
            **of_space(space),
            "main_peak_step": first.peak_step,
            "reserved_bytes": space.size(),
            "live_bytes": live,
            "idle_bytes": space.size() - live,
            "main_temp_live_bytes": temp,
            "usable_by_main_bytes": min(space.size() - live, temp),
        }


@recomputes("overlap_conflicts", {}, {"in_place": True})
def overlap_conflicts(dump: Dump, in_place: bool = False) -> Iterator[Row]:
    """Compare every two values of an allocation, by address and by time."""
    contradictory = {
        space.module
        for space in dump.spaces
        for allocation in space.allocations
        for first, second, verdict in _met(allocation)
        if verdict == "conflict"
        and not _is_read_by_conditional(space.module, first.value)
        and not _is_read_by_conditional(space.module, second.value)
    }
    for space in dump.spaces:
        for allocation in space.allocations:
            if allocation.kind == "thread_local":
                continue
            for first, second, verdict in _met(allocation):
                if verdict == "conflict" and space.module not in contradictory:
                    continue
                if verdict == "in_place" and not in_place:
                    continue
                yield {
                    **of_space(space),
                    "verdict": verdict,
                    "allocation_id": allocation.number,
                    "instruction": first.value.name,
                    "shape_index": first.value.index,
                    "other_instruction": second.value.name,
                    "other_shape_index": second.value.index,
                    "overlap_bytes": min(first.end, second.end)
                    - max(first.offset, second.offset),
                    "from_step": max(first.value.start or 0, second.value.start or 0),
                    "to_step": min(first.value.end or 0, second.value.end or 0),
                }


def _is_read_by_conditional(module: Module, value: Value) -> bool:
    return any(reader.opcode == "conditional" for reader in readers(module, value))


def _met(allocation: Allocation) -> Iterator[tuple[Place, Place, str]]:
    """Yield pairs that share bytes while both are live, the one that starts first."""
    live = [p for p in allocation.places if p.value.start is not None and p.size]
    live.sort(key=lambda p: (p.value.start or 0, p.value.number))
    for at, first in enumerate(live):
        first_end = first.value.end or 0
        for second in live[at + 1 :]:
            start, end = second.value.start or 0, second.value.end or 0
            if start > first_end:
                break
            if second.offset >= first.end or first.offset >= second.end:
                continue
            if start < first_end and (first.value.start or 0) < end:
                yield first, second, "conflict"
            if start == first_end or end == first.value.start:
                yield first, second, "in_place"


@recomputes("repack_whatif", {"max_blocks": 300})
def repack_whatif(dump: Dump, max_blocks: int) -> Iterator[Row]:
    """Pack the blocks of each arena in six ways."""
    for space in dump.spaces:
        for arena in space.of_kind("temp"):
            blocks = _blocks(arena)
            peak = arena_peak(space, arena)
            if not blocks or len(blocks) > max_blocks or peak is None:
                continue
            offsets = [p.offset for p in arena.places if p.value.start is not None]
            align = max(1, min(_LARGEST_ALIGNMENT, _power_of_two(gcd(*offsets))))
            floor = -(-peak[0] // align) * align
            for order, greatness in _ORDERS.items():
                rounded = [
                    _Block(-(-b.size // align) * align, b.first, b.last) for b in blocks
                ]
                rounded.sort(key=lambda b: (-greatness(b), -b.size, b.first, b.last))
                for fit in ("lowest", "best_fit"):
                    packed = _pack(rounded, fit == "best_fit")
                    yield {
                        **of_space(space),
                        "allocation_id": arena.number,
                        "largest_first": order,
                        "fit": fit,
                        "block_count": len(blocks),
                        "align_bytes": align,
                        "allocation_bytes": arena.size,
                        "packed_bytes": packed,
                        "floor_bytes": floor,
                        "gap_to_floor_bytes": packed - floor,
                        "gap_ratio": ratio(packed - floor, packed),
                        "saved_bytes": arena.size - packed,
                    }


@dataclass(frozen=True)
class _Block:
    """Values that are packed together."""

    size: int
    first: int
    last: int

    @property
    def steps(self) -> int:
        return self.last - self.first + 1


_ORDERS: dict[str, Callable[[_Block], int]] = {
    "size": lambda block: block.size,
    "lifetime": lambda block: block.steps,
    "rent": lambda block: block.size * block.steps,
}


def _blocks(arena: Allocation) -> list[_Block]:
    live = [p for p in arena.places if p.value.start is not None and p.size]
    groups = {p.value.number: [p] for p in live}
    for first, second, verdict in _met(arena):
        one, other = groups[first.value.number], groups[second.value.number]
        if verdict == "in_place" and one is not other:
            one += other
            for place in other:
                groups[place.value.number] = one
    found = {id(group): group for group in groups.values()}
    return [
        _Block(
            max(p.end for p in group) - min(p.offset for p in group),
            min(p.value.start or 0 for p in group),
            max(p.value.end or 0 for p in group),
        )
        for group in found.values()
    ]


def _pack(blocks: list[_Block], is_best_fit: bool) -> int:
    done: list[tuple[int, _Block]] = []
    for block in blocks:
        taken = sorted(
            (offset, offset + other.size)
            for offset, other in done
            if other.first <= block.last and block.first <= other.last
        )
        gaps, reached = [], 0
        for start, end in taken:
            if start - reached >= block.size:
                gaps.append((start - reached, reached))
            reached = max(reached, end)
        places = [min(gaps)[1] if is_best_fit else gaps[0][1]] if gaps else [reached]
        done.append((places[0], block))
    return max(offset + block.size for offset, block in done)

"""The largest arena of a program as a problem for MiniMalloc, and its answer.

The files are those of https://github.com/google/minimalloc: a line for each block, with
half-open steps `lower` to `upper`; the answer adds `offset`. Blocks are those of the
query `repack_whatif`: values that share bytes in place are one, which covers their
bytes and all their steps, rounded up to the alignment of the arena.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.text import counted, visible

Row = Mapping[str, Any]

_MOST_ALIGNED = 1024
_HEAD = ("id", "lower", "upper", "size")


class Block(NamedTuple):
    """Bytes that move as one, for the steps from `lower` up to `upper`, exclusive."""

    id: str
    lower: int
    upper: int
    size: int


@dataclass(frozen=True, slots=True)
class Arena:
    """A temporary allocation of one module."""

    module_id: int
    color: int
    allocation_id: int
    size_bytes: int
    align_bytes: int
    blocks: tuple[Block, ...]


def largest_arena(placed: Sequence[Row]) -> Arena | None:
    """Return the largest temporary allocation of the rows of `placed_values`."""
    held = [
        row
        for row in placed
        if row["kind"] == "temp" and row["start_step"] is not None and row["size_bytes"]
    ]
    if not held:
        return None
    largest = min(
        held,
        key=lambda r: (-r["allocation_bytes"], r["module_id"], r["allocation_id"]),
    )
    place = (largest["module_id"], largest["allocation_id"])
    tenants = [row for row in held if (row["module_id"], row["allocation_id"]) == place]
    bits = 0
    for row in tenants:
        bits |= row["offset_bytes"]
    align = max(1, min(_MOST_ALIGNED, bits & -bits))
    return Arena(
        *(place[0], largest["color"], place[1], largest["allocation_bytes"]),
        align_bytes=align,
        blocks=tuple(_block(values, align) for values in _in_place(tenants)),
    )


def problem(arena: Arena) -> str:
    """Return the blocks of an arena as MiniMalloc reads them."""
    lines = (",".join(map(str, line)) for line in (_HEAD, *arena.blocks))
    return "".join(f"{line}\n" for line in lines)


def answer_bytes(arena: Arena, text: str, name: str) -> int:
    """Return the size of the packing in MiniMalloc's answer, the file `name`.

    Raises UsageError for other blocks than the arena's, for offsets that are not
    aligned, and for blocks that overlap.
    """
    offsets = dict(_offsets(arena, text, name))
    missing = [block.id for block in arena.blocks if block.id not in offsets]
    if missing:
        raise UsageError(
            f"{name} lacks {counted(len(missing), 'block')} of the arena, such as"
            f" {missing[0]}; solve the file that this command writes"
        )
    _require_apart(arena, offsets, name)
    return max(offsets[block.id] + block.size for block in arena.blocks)


def _offsets(arena: Arena, text: str, name: str) -> Iterator[tuple[str, int]]:
    blocks = {block.id: block for block in arena.blocks}
    lines = csv.DictReader(io.StringIO(text))
    if not {*_HEAD, "offset"} <= set(lines.fieldnames or ()):
        raise UsageError(f"{name}:1: no header id,lower,upper,size,offset")
    for line in lines:
        where = f"{name}:{lines.line_num}"
        try:
            numbers = [int(line[column]) for column in (*_HEAD[1:], "offset")]
        except (TypeError, ValueError):
            raise UsageError(f"{where}: not a line of whole numbers") from None
        offset = numbers.pop()
        block = blocks.get(line["id"])
        if block != Block(line["id"], *numbers):
            shown = visible(",".join(map(str, (line["id"], *numbers))))
            raise UsageError(f"{where}: {shown} is no block of this arena")
        if offset < 0 or offset % arena.align_bytes:
            raise UsageError(
                f"{where}: offset {offset} is no multiple of {arena.align_bytes}"
            )
        yield line["id"], offset


def _require_apart(arena: Arena, offsets: Mapping[str, int], name: str) -> None:
    """Raise UsageError where two blocks of one step share bytes."""
    live: list[Block] = []
    for block in sorted(arena.blocks, key=lambda block: block.lower):
        live = [other for other in live if other.upper > block.lower]
        start = offsets[block.id]
        for other in live:
            begin = offsets[other.id]
            if start < begin + other.size and begin < start + block.size:
                raise UsageError(
                    f"{name}: {other.id} and {block.id} share bytes at step"
                    f" {block.lower}"
                )
        live.append(block)


def _block(values: Sequence[Row], align: int) -> Block:
    first = min(values, key=lambda row: row["value_id"])
    begin = min(row["offset_bytes"] for row in values)
    end = max(row["offset_bytes"] + row["size_bytes"] for row in values)
    # A comma would end the field, and other readers take what is not plain amiss.
    name = re.sub(r"[^\w.-]", "_", first["instruction"] or "value")
    return Block(
        id=f"{name}#{first['value_id']}",
        lower=min(row["start_step"] for row in values),
        upper=max(row["end_step"] for row in values) + 1,
        size=-(-(end - begin) // align) * align,
    )


def _in_place(tenants: Sequence[Row]) -> list[list[Row]]:
    """Return the values by block: one that begins where another ends may share it."""
    ending: dict[int, list[int]] = {}
    for index, row in enumerate(tenants):
        ending.setdefault(row["end_step"], []).append(index)
    leader = list(range(len(tenants)))

    def leader_of(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for index, row in enumerate(tenants):
        for other in ending.get(row["start_step"], ()):
            if other != index and _share_bytes(row, tenants[other]):
                leader[leader_of(index)] = leader_of(other)
    blocks: dict[int, list[Row]] = {}
    for index, row in enumerate(tenants):
        blocks.setdefault(leader_of(index), []).append(row)
    return sorted(blocks.values(), key=lambda rows: min(r["value_id"] for r in rows))


def _share_bytes(one: Row, other: Row) -> bool:
    return bool(
        one["offset_bytes"] < other["offset_bytes"] + other["size_bytes"]
        and other["offset_bytes"] < one["offset_bytes"] + one["size_bytes"]
    )

"""Recomputes the queries about collectives and shardings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from tests.oracle.dump import Instruction, Module
from tests.oracle.recompute.calls import async_collectives, executions
from tests.oracle.recompute.registry import Dump, Row, of_module, recomputes
from tests.oracle.recompute.sources import source_of

_COLLECTIVES = (
    "all-gather", "all-reduce", "all-to-all", "ragged-all-to-all", "reduce-scatter",
    "collective-broadcast", "collective-permute",
)  # fmt: skip


@recomputes("collective_inventory")
def collective_inventory(dump: Dump) -> Iterator[Row]:
    """Count what collectives move, and what a device sends of it."""
    for module in dump.modules:
        parts, times = async_collectives(module), executions(module)
        for instruction in module.instructions:
            opcode = instruction.opcode.removesuffix("-start")
            if opcode not in _COLLECTIVES or parts.get(instruction, "start") != "start":
                continue
            count, size = groups(module, instruction)
            read = [operand.logical_bytes for operand in instruction.operands]
            payload = sum(read)
            if opcode == "all-gather":
                payload *= size
            elif opcode == "ragged-all-to-all":
                payload = read[0]
            if opcode == "all-reduce":
                wire = payload * 2 * (size - 1) // size
            elif opcode in ("collective-permute", "collective-broadcast"):
                wire = payload if size > 1 else 0
            else:
                wire = payload * (size - 1) // size
            runs, is_known = times.get(instruction.computation, (1, False))
            channel = instruction.attributes.get("channel_id")
            source = source_of(module, instruction)
            yield {
                **of_module(module),
                "instruction": instruction.name,
                "opcode": opcode,
                "is_async": instruction.opcode.endswith("-start")
                or instruction.computation.kind == "async"
                or instruction in parts,
                "group_count": count,
                "group_size": size,
                "channel_id": int(channel) if channel else None,
                "operand_bytes": sum(read),
                "payload_bytes": payload,
                "wire_bytes": wire,
                "times": runs,
                "times_known": is_known,
                "total_wire_bytes": wire * runs,
                "op_name": instruction.op_name,
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
            }


def groups(module: Module, instruction: Instruction) -> tuple[int, int]:
    """Return the number of groups, and the size of the largest."""
    devices = module.header_number("num_partitions") * module.header_number(
        "replica_count"
    )
    pairs = instruction.attributes.get("source_target_pairs", "")
    if re.search(r"\d", pairs):
        return _connected(re.findall(r"(\d+), *(\d+)", pairs))
    text = instruction.attributes.get("replica_groups", "")
    if listed := re.findall(r"\{([\d, ]+)\}", text):
        return len(listed), max(len(group.split(",")) for group in listed)
    if iota := re.match(r"\[(\d+),(\d+)\]", text):
        return int(iota[1]), int(iota[2])
    if "mesh[" in text:
        size = _axes_size(text)
        return max(1, devices // size), size
    return 1, devices


def _connected(pairs: list[tuple[str, str]]) -> tuple[int, int]:
    sets: dict[str, set[str]] = {}
    for one, other in pairs:
        joined = sets.get(one, {one}) | sets.get(other, {other})
        for device in joined:
            sets[device] = joined
    distinct = {id(found): found for found in sets.values()}
    return len(distinct), max(len(found) for found in distinct.values())


def _axes_size(text: str) -> int:
    """Return the product of the axes that the braces at the end name."""
    sizes = dict(re.findall(r"'([^']+)'=(\d+)", text))
    named = re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", text[text.rindex("{") :])
    return prod(int(part or sizes[axis]) for axis, part in named)


@recomputes("replicated_tensors", {"min_bytes": 0}, {"min_bytes": 5000})
def replicated_tensors(dump: Dump, min_bytes: int) -> Iterator[Row]:
    """Compare how often parameters are split with the number of partitions."""
    for module in dump.modules:
        partitions = module.header_number("num_partitions")
        for instruction in module.entry.instructions if partitions > 1 else []:
            sharding = instruction.attributes.get("sharding")
            if instruction.opcode != "parameter" or sharding is None:
                continue
            number, shards = instruction.parameter_number, _shards(sharding)
            own = [a.size for a in module.allocations if a.parameter == number]
            size = sum(own) if own else instruction.logical_bytes
            if shards is None or shards >= partitions or size < min_bytes:
                continue
            yield {
                **of_module(module),
                "parameter_number": number,
                "op_name": instruction.op_name,
                "shape": instruction.shape,
                "sharding": sharding,
                "shards": shards,
                "partitions": partitions,
                "device_bytes": size,
                "saving_bytes": size - size * shards // partitions,
            }


def _shards(sharding: str) -> int | None:
    if sharding.startswith(("{replicated", "{maximal")):
        return 1
    if devices := re.search(r"devices=\[([\d,]+)\]", sharding):
        sizes = [int(size) for size in devices[1].split(",")]
        if "last_tile_dim_replicate" in sharding:
            sizes.pop()
        last = re.search(r"last_tile_dims=\{([^}]*)\}", sharding)
        extra = len(last[1].split(",")) if last and last[1] else 0
        return prod(sizes[: len(sizes) - extra])
    if mesh := re.match(r"\{mesh\[([^\]]*)\]", sharding):
        sizes_by_axis = dict(re.findall(r"'([^']+)'=(\d+)", mesh[1]))
        listed = re.search(r"\[(\{.*\})\]", sharding)
        named = re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", listed[1] if listed else "")
        return prod(int(part or sizes_by_axis[axis]) for axis, part in named)
    return None

"""Compare live peaks and source lines with a recount and with other tools' rules.

python -m bench.accuracy [DUMP.tar.xz…]    the dumps in tests/data/proto, unless named

Three figures: in how many pairs of module and memory space the live peak equals a
recount of every step, in how many the peak by the rule of XProf's memory viewer does,
and for which share of the temporary bytes at the peak there is a source line, with
hlodb's attribution and by the metadata of the instruction alone, which XProf shows.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import hlodb
from hlodb.ingest.formats.proto import hlo_pb2
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.warehouse import Warehouse

DUMPS = Path(__file__).parents[1] / "tests" / "data" / "proto"
ARCHIVES = (
    "cpu-jaxlib-0.6.2.tar.xz",
    "cpu-jaxlib-0.10.2.tar.xz",
    "tpu-v5e-jax-0.10.2.tar.xz",
)
_PROTO = re.compile(r"module_(\d+)\..*after_optimizations\.hlo\.pb$")
_ALLOC, _FREE, _SHARE = range(3)

Peaks = dict[tuple[int, int], int]
"""Bytes by module number and memory space."""


def recounted(warehouse: Warehouse) -> Peaks:
    """Return the most live bytes over all steps, each step counted by itself.

    A parameter, constant or result none of whose values has a live range counts at
    every step: XLA gives none to constants of computations that it does not schedule.
    """
    rows = warehouse.sql(
        "SELECT m.module_number, a.color, a.allocation_id, a.kind, a.size_bytes,"
        " v.offset_bytes, v.offset_bytes + v.size_bytes, l.start_step, l.end_step"
        " FROM modules AS m JOIN allocations AS a USING (module_id)"
        " JOIN allocation_values AS v USING (module_id, allocation_id)"
        " LEFT JOIN live_ranges AS l USING (module_id, value_id)"
        " WHERE m.stage = 'after_optimizations' AND a.kind <> 'thread_local'"
    ).rows
    spaces: dict[tuple[int, int], list[tuple[Any, ...]]] = defaultdict(list)
    for number, color, *value in rows:
        spaces[number, color].append(tuple(value))
    return {space: _largest_step(values) for space, values in spaces.items()}


def _largest_step(values: list[tuple[Any, ...]]) -> int:
    live = [value for value in values if value[-1] is not None]
    steps = {step for *_, start, end in live for step in (start, end)}
    moving = {allocation for allocation, *_ in live}
    always: dict[int, int] = {
        allocation: size
        for allocation, kind, size, *_ in values
        if kind != "temp" and allocation not in moving
    }
    peak = max((_live_at(step, live) for step in steps), default=0)
    return peak + sum(always.values())


def _live_at(step: int, values: Iterable[tuple[Any, ...]]) -> int:
    whole: dict[int, int] = {}
    ranges: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for allocation, kind, size, low, high, start, end in values:
        if start <= step <= end:
            if kind == "temp":
                ranges[allocation].append((low, high))
            else:
                whole[allocation] = size
    return sum(whole.values()) + sum(_covered(found) for found in ranges.values())


def _covered(ranges: list[tuple[int, int]]) -> int:
    total = reached = 0
    for low, high in sorted(ranges):
        total += max(0, high - max(low, reached))
        reached = max(reached, high)
    return total


def replayed(dump: Path) -> Peaks:
    """Return the peaks by the rule of XProf's memory viewer."""
    found: Peaks = {}
    with tarfile.open(dump) as archive:
        for member in archive:
            match = _PROTO.search(member.name)
            file = archive.extractfile(member) if match else None
            if match and file:
                module = hlo_pb2.HloProto.FromString(file.read())
                for color, peak in _replayed_spaces(module.buffer_assignment):
                    found[int(match[1]), color] = peak
    return found


def _replayed_spaces(assignment: Any) -> Iterator[tuple[int, int]]:
    buffers = {buffer.id: buffer for buffer in assignment.logical_buffers}
    lasting: Counter[int] = Counter()
    for a in assignment.buffer_allocations:
        is_parameter = a.is_entry_computation_parameter
        if a.is_thread_local or is_parameter or a.is_constant or a.maybe_live_out:
            lasting[a.color] += a.size
    for color in {a.color for a in assignment.buffer_allocations}:
        traces = [
            trace
            for trace in assignment.heap_simulator_traces
            if trace.events and buffers[trace.events[0].buffer_id].color == color
        ]
        longest = max(traces, key=lambda trace: len(trace.events), default=None)
        yield (
            color,
            lasting[color] + (_replay(longest.events, buffers) if longest else 0),
        )


def _replay(events: Iterable[Any], buffers: dict[int, Any]) -> int:
    live = peak = 0
    holders: Counter[int] = Counter()
    canonical: dict[int, int] = {}
    for event in events:
        root = event.buffer_id
        if event.kind == _SHARE:
            root = canonical[event.buffer_id] = canonical.get(
                event.share_with_canonical_id, event.share_with_canonical_id
            )
        root = canonical.get(root, root)
        holders[root] += -1 if event.kind == _FREE else 1
        if event.kind == _FREE and holders[root] == 0:
            live -= buffers[root].size
        elif event.kind != _FREE and holders[root] == 1:
            live += buffers[root].size
        peak = max(peak, live)
    return peak


def source_shares(warehouse: Warehouse) -> tuple[float, float]:
    """Return the shares of temporary bytes with a line: attributed, own metadata."""
    [row] = warehouse.sql(
        "SELECT sum(owned_bytes) FILTER (WHERE source_line IS NOT NULL),"
        " sum(owned_bytes) FILTER (WHERE source_line IS NOT NULL"
        " AND attribution = 'defined'), sum(owned_bytes)"
        " FROM peak_contents(top := NULL) WHERE kind = 'temp'"
    ).rows
    return float(row[0] or 0) / float(row[2]), float(row[1] or 0) / float(row[2])


def main(names: list[str]) -> None:
    """Print the figures of every dump."""
    dumps = [Path(name) for name in names] or [DUMPS / name for name in ARCHIVES]
    for dump in dumps:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "w.duckdb"
            ingest([str(dump)], path, prepare=renew_macros)
            with hlodb.open(path) as warehouse:
                truth = recounted(warehouse)
                answer = warehouse.query("peak_by_space").dicts()
                ours = {(r["module_number"], r["color"]): r for r in answer}
                viewer = replayed(dump)
                attributed, own = source_shares(warehouse)
        equal = sum(ours[s]["live_peak_bytes"] == truth[s] for s in truth if s in ours)
        viewed = sum(
            viewer[space] == truth[space] for space in truth if space in viewer
        )
        print(
            f"{dump.name}: live peak equal to the recount in {equal} of {len(truth)}"
            f" pairs of module and memory space, by XProf's rule in {viewed}; source"
            f" line for {attributed:.1%} of temporary bytes at the peak, by the"
            f" instruction's own metadata {own:.1%}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])

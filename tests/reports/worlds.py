"""Small warehouses made from a few words: runs, programs, buffers.

A buffer of kind temp lies in the one arena of its colour, behind the buffers before
it, unless `offset` says otherwise; every other buffer has an allocation of its own.
Profiles and timelines are counted here step by step, not by the code under test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import pyarrow as pa

from hlodb.schema.warehouse import connect
from tests.occurrences import store_modules

Rows = dict[str, list[dict[str, Any]]]

DAY = datetime(2027, 1, 1)
STEPS = 10


@dataclass(frozen=True)
class Buffer:
    """One buffer; live from `start` through `end`."""

    name: str
    size: int
    type: str = "f32[8]"
    path: str | None = None
    opcode: str = "fusion"
    kind: str = "temp"
    start: int = 0
    end: int = STEPS
    color: int = 0
    offset: int | None = None
    logical: int | None = None
    parameter: int | None = None


@dataclass(frozen=True)
class Program:
    """One module; `source` and `text` stand for what fingerprints are made of."""

    name: str
    buffers: tuple[Buffer, ...] = (Buffer("work", 4 << 20, path="jit(f)/dot"),)
    shapes: str = "(f32[8]{0})->f32[8]{0}"
    source: str | None = "source"
    text: str | None = None
    printed: int | None = None
    padding: int = 0
    rank: int | None = None
    line: int | None = 17


@dataclass(frozen=True)
class World:
    """One run, some days after the one before."""

    name: str
    programs: tuple[Program, ...] = ()
    series: str | None = "nightly"
    platform: str = "cpu"
    device: str | None = None
    rejects: tuple[str, ...] = ()
    flags: dict[str, str] = field(default_factory=dict)
    labels: str | None = None
    commit: str | None = None
    branch: str | None = None
    compiler: str | None = None


def make(path: Path, *worlds: World) -> Path:
    """Write a warehouse that holds the runs of `worlds`, a day apart."""
    rows: Rows = defaultdict(list)
    for number, world in enumerate(worlds, 1):
        _add_run(rows, number, world)
    with connect(path, read_only=False) as connection:
        store_modules(connection, rows.pop("modules", []))
        for table, found in rows.items():
            _insert(connection, table, found)
    return path


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[dict[str, Any]]
) -> None:
    connection.register("arriving", pa.Table.from_pylist(_filled(rows)))
    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM arriving")
    connection.unregister("arriving")


def _filled(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows that all have the same columns, at least those of any of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def _hash(*parts: object) -> int:
    return crc32(repr(parts).encode())


def _add_run(rows: Rows, run_id: int, world: World) -> None:
    rows["runs"].append(
        {
            "run_id": run_id,
            "name": world.name,
            "series": world.series,
            "started_at": DAY + timedelta(days=run_id - 1),
            "ingested_at": DAY + timedelta(days=run_id - 1),
            "platform": world.platform,
            "device": world.device,
            "commit_sha": world.commit,
            "branch": world.branch,
            "labels": world.labels,
            "compiler_version": world.compiler,
        }
    )
    for line, code in enumerate(world.rejects, 1):
        rows["rejects"].append(
            {
                "run_id": run_id,
                "path": "module_0001.txt",
                "line": line,
                "code": code,
                "message": "expected a size",
            }
        )
    for name, value in world.flags.items():
        rows["compiler_flags"].append({"run_id": run_id, "name": name, "value": value})
    for number, program in enumerate(world.programs, 1):
        _add_module(rows, run_id, number, program, world.platform)


def _add_module(
    rows: Rows, run_id: int, number: int, program: Program, platform: str
) -> None:
    module_id = run_id * 1_000_000 + 2 * number
    text = program.text or repr(program.buffers)
    common = {
        "run_id": run_id,
        "module_number": number,
        "rank": program.rank,
        "part": 0,
        "name": program.name,
        "program": program.name,
        "platform": platform,
        "num_partitions": 1,
        "entry_layout": program.shapes,
        "program_key": _hash(program.name, program.shapes),
        "first_line": 1,
        "instruction_count": len(program.buffers),
        "has_live_ranges": True,
    }
    if program.source is not None:
        rows["modules"].append(
            {
                **common,
                "module_id": module_id + 1,
                "locations_id": module_id + 1,
                "path": f"module_{number:04}.before_optimizations.txt",
                "stage": "before_optimizations",
                "graph_fingerprint": _hash("source", program.source),
                "exact_fingerprint": _hash("exact source", program.source),
                "has_assignment": False,
                "has_live_ranges": False,
            }
        )
    total = sum(_allocation_sizes(program).values())
    rows["modules"].append(
        {
            **common,
            "module_id": module_id,
            "locations_id": module_id,
            "path": f"module_{number:04}.cpu_after_optimizations.txt",
            "stage": "after_optimizations",
            "graph_fingerprint": _hash("graph", text),
            "exact_fingerprint": _hash("exact", text),
            "has_assignment": True,
            "entry_computation_id": 0,
            "printed_total_bytes": total
            if program.printed is None
            else program.printed,
        }
    )
    _add_buffers(rows, module_id, program)
    _add_profiles(rows, module_id, program)


def _placed(program: Program) -> list[tuple[int, int, Buffer]]:
    """Return (allocation, offset, buffer): arenas by colour first, then the others."""
    colors = sorted({b.color for b in program.buffers})
    arena = {color: number for number, color in enumerate(colors)}
    filled: dict[int, int] = defaultdict(int)
    placed = []
    following = len(colors)
    for b in program.buffers:
        if b.kind == "temp":
            offset = filled[b.color] if b.offset is None else b.offset
            filled[b.color] = max(filled[b.color], offset + b.size)
            placed.append((arena[b.color], offset, b))
        else:
            placed.append((following, 0, b))
            following += 1
    return placed


def _allocation_sizes(program: Program) -> dict[int, int]:
    sizes: dict[int, int] = defaultdict(int)
    for allocation, offset, b in _placed(program):
        sizes[allocation] = max(sizes[allocation], offset + b.size)
    return sizes


def _add_buffers(rows: Rows, module_id: int, program: Program) -> None:
    sizes = _allocation_sizes(program)
    seen = set()
    key = {"module_id": module_id}
    rows["computations"].append({**key, "computation_id": 0, "kind": "entry"})
    rows["store.location_sets"].append(
        {
            "locations_id": module_id,
            "numbering_id": module_id,
            "list_id": module_id,
            "frames_id": module_id,
        }
    )
    for number, (allocation, offset, b) in enumerate(_placed(program)):
        if allocation not in seen:
            seen.add(allocation)
            rows["allocations"].append(
                {
                    **key,
                    "allocation_id": allocation,
                    "size_bytes": sizes[allocation],
                    "color": b.color,
                    "kind": b.kind,
                    "parameter_number": b.parameter,
                    "is_live_out": b.kind == "live_out",
                }
            )
        form = _form(rows, b)
        rows["store.instructions"].append(
            {
                **key,
                "instruction_id": number,
                "computation_id": 0,
                "name": b.name,
                "form_id": form,
                "position": number,
                "line_offset": number,
            }
        )
        value = {**key, "value_id": number}
        rows['store."values"'].append(
            {
                **value,
                "instruction_id": number,
                "color": b.color,
                "shape": f"{b.type}{{0}}",
                "logical_bytes": b.size if b.logical is None else b.logical,
            }
        )
        rows["allocation_values"].append(
            {
                **value,
                "allocation_id": allocation,
                "offset_bytes": offset,
                "size_bytes": b.size,
            }
        )
        rows["store.live_ranges"].append(
            {
                **value,
                "instruction_id": number,
                "shape_index": "{}",
                "start_step": b.start,
                "end_step": b.end,
            }
        )
        if program.line is not None:
            rows["store.location_numbers"].append(
                {
                    "numbering_id": module_id,
                    "instruction_id": number,
                    "location_number": number,
                }
            )
            rows["store.location_lists"].append(
                {
                    "list_id": module_id,
                    "location_number": number,
                    "source_file": "model/train.py",
                    "source_line": program.line + number,
                }
            )


def _form(rows: Rows, b: Buffer) -> int:
    """Return the number of the form, which is stored once."""
    form = _hash(b.opcode, b.type, b.path) % (1 << 31)
    known = rows["store.instruction_forms"]
    if all(row["form_id"] != form for row in known):
        known.append(
            {
                "form_id": form,
                "form_key": form,
                "opcode": b.opcode,
                "shape": f"{b.type}{{0}}",
                "logical_bytes": b.size,
                "op_name": b.path,
            }
        )
    return form


def _add_profiles(rows: Rows, module_id: int, program: Program) -> None:
    for color in sorted({b.color for b in program.buffers}):
        placed = [p for p in _placed(program) if p[2].color == color]
        sizes: dict[str, int] = defaultdict(int)
        allocations = _allocation_sizes(program)
        for allocation, kind in {(a, b.kind) for a, _, b in placed}:
            sizes[kind] += allocations[allocation]
        live = [_live(placed, step) for step in range(STEPS + 1)]
        peak = max(total for total, _ in live)
        temp_peak = max(temp for _, temp in live)
        fragmentation = sizes["temp"] - temp_peak
        rows["memory_profile"].append(
            {
                "module_id": module_id,
                "color": color,
                "reserved_bytes": sum(sizes.values()),
                "parameter_bytes": sizes["parameter"],
                "constant_bytes": sizes["constant"],
                "live_out_bytes": sizes["live_out"],
                "thread_local_bytes": sizes["thread_local"],
                "temp_bytes": sizes["temp"],
                "temp_live_peak_bytes": temp_peak,
                "live_peak_bytes": peak,
                "peak_step": [total for total, _ in live].index(peak),
                "fragmentation_bytes": fragmentation,
                "padding_bytes": program.padding,
                "allocation_count": len({a for a, _, _ in placed}),
                "conflict_count": 0,
            }
        )
        for step, (total, temp) in enumerate(live):
            rows["memory_timeline"].append(
                {
                    "module_id": module_id,
                    "color": color,
                    "from_step": step,
                    "to_step": step,
                    "live_bytes": total,
                    "temp_live_bytes": temp,
                }
            )


def _live(placed: Iterable[tuple[int, int, Buffer]], step: int) -> tuple[int, int]:
    """Return all live bytes of a colour at a step, and those of temporaries."""
    spans = []
    others = 0
    for _, offset, b in placed:
        if b.start <= step <= b.end and b.kind == "temp":
            spans.append((offset, offset + b.size))
        elif b.start <= step <= b.end and b.kind != "thread_local":
            others += b.size
    temp, reach = 0, 0
    for low, high in sorted(spans):
        temp += max(0, high - max(low, reach))
        reach = max(reach, high)
    return temp + others, temp

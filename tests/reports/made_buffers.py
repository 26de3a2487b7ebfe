"""Modules made of a few buffers, put into a warehouse without a dump."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import duckdb

from hlodb.queries.run import run_query

Row = Mapping[str, Any]
Sums = dict[tuple[str, str], int]

LAST = 9
"""Buffers that fill the memory are live until this step, others only later."""


@dataclass(frozen=True)
class Buffer:
    """A value of an allocation; the allocation is as large unless it is temporary."""

    name: str
    size: int
    kind: str = "temp"
    color: int = 0
    allocation: int = 0
    opcode: str = "fusion"
    path: str | None = None
    shape: str = ""
    parameter: int | None = None
    offset: int = 0
    logical: int | None = None
    born: int = 0
    is_counted: bool = True

    @property
    def op_name(self) -> str | None:
        return f"{self.name}/dot" if self.path is None else self.path or None


def buffer(name: str, size: int, **more: Any) -> Buffer:
    return replace(Buffer(name, size, shape=f"f32[{size // 4}]"), **more)


@dataclass(frozen=True)
class Module:
    """Buffers, and room of temporary arenas that none of them takes."""

    buffers: tuple[Buffer, ...] = ()
    fragmentation: int = 0
    has_ranges: bool = True
    allocations: tuple[int, ...] = field(default=(), compare=False)

    def of_color(self, color: int) -> Sequence[Buffer]:
        return [b for b in self.buffers if b.color == color]

    def filled(self, color: int) -> dict[str, int]:
        """Bytes of each kind of allocation: temporary ones byte by byte."""
        sizes: dict[str, int] = defaultdict(int)
        live: set[tuple[int, int]] = set()
        for b in self.of_color(color):
            if b.kind != "temp":
                sizes[b.kind] += b.size
            elif b.is_counted:
                live |= {(b.allocation, b.offset + n) for n in range(b.size)}
        sizes["temp"] = len(live)
        return sizes


def module(*buffers: Buffer, **more: Any) -> Module:
    return Module(buffers, **more)


def insert(
    connection: duckdb.DuckDBPyConnection, table: str, *rows: dict[str, Any]
) -> None:
    for row in rows:
        columns = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        connection.execute(sql, list(row.values()))


_forms = count(1)


def store(connection: duckdb.DuckDBPyConnection, module_id: int, made: Module) -> None:
    """Store a module's buffers, profiles and timelines."""
    key = {"module_id": module_id}
    arenas: dict[tuple[int, int], int] = defaultdict(int)
    for number, b in enumerate(made.buffers):
        allocation = b.allocation if b.kind == "temp" else 100 + number
        if b.kind == "temp":
            arena = (allocation, b.color)
            arenas[arena] = max(arenas[arena], b.offset + b.size)
        else:
            insert(
                connection,
                "allocations",
                {
                    **key,
                    "allocation_id": allocation,
                    "size_bytes": b.size,
                    "color": b.color,
                    "kind": b.kind,
                    "parameter_number": b.parameter,
                },
            )
        _store_value(connection, key, number, allocation, b)
    for (allocation, color), size in arenas.items():
        row = {"allocation_id": allocation, "size_bytes": size, "color": color}
        insert(connection, "allocations", {**key, **row, "kind": "temp"})
    for color in sorted({b.color for b in made.buffers}):
        _store_profile(connection, key, color, made)


def _store_value(
    connection: duckdb.DuckDBPyConnection,
    key: dict[str, int],
    number: int,
    allocation: int,
    b: Buffer,
) -> None:
    form = next(_forms)
    first = b.born if b.is_counted else LAST + 1
    insert(
        connection,
        "store.instruction_forms",
        {"form_id": form, "opcode": b.opcode, "shape": b.shape, "op_name": b.op_name},
    )
    insert(
        connection,
        "store.instructions",
        {
            **key,
            "instruction_id": number,
            "computation_id": 0,
            "name": b.name,
            "form_id": form,
            "position": number,
            "line_offset": number,
        },
    )
    insert(
        connection,
        'store."values"',
        {
            **key,
            "value_id": number,
            "instruction_id": number,
            "color": b.color,
            "shape": b.shape,
            "logical_bytes": b.size if b.logical is None else b.logical,
        },
    )
    insert(
        connection,
        "allocation_values",
        {
            **key,
            "allocation_id": allocation,
            "value_id": number,
            "offset_bytes": b.offset if b.kind == "temp" else 0,
            "size_bytes": b.size,
        },
    )
    insert(
        connection,
        "store.live_ranges",
        {
            **key,
            "instruction_id": number,
            "shape_index": "{}",
            "value_id": number,
            "start_step": first,
            "end_step": LAST if b.is_counted else LAST + 2,
        },
    )


def _store_profile(
    connection: duckdb.DuckDBPyConnection,
    key: dict[str, int],
    color: int,
    made: Module,
) -> None:
    sizes = made.filled(color)
    live, extra = sizes.pop("temp"), made.fragmentation
    kinds = ("parameter", "constant", "live_out", "thread_local")
    insert(
        connection,
        "memory_profile",
        {
            **key,
            "color": color,
            "reserved_bytes": sum(sizes.values()) + live + extra,
            **{f"{kind}_bytes": sizes[kind] for kind in kinds},
            "temp_bytes": live + extra,
            "temp_live_peak_bytes": live if made.has_ranges else None,
            "live_peak_bytes": live if made.has_ranges else None,
            "fragmentation_bytes": extra if made.has_ranges else None,
        },
    )
    for first, last, size in ((LAST, LAST, live), (LAST + 1, LAST + 2, 0)):
        levels = {"live_bytes": size, "temp_live_bytes": size}
        row = {**key, "color": color, "from_step": first, "to_step": last, **levels}
        insert(connection, "memory_timeline", row)


@contextmanager
def stored(
    connection: duckdb.DuckDBPyConnection, modules: Sequence[Module]
) -> Iterator[None]:
    """Have modules in the warehouse, numbered from 1, and then no more."""
    connection.execute("BEGIN")
    try:
        for module_id, made in enumerate(modules, 1):
            store(connection, module_id, made)
        yield
    finally:
        connection.execute("ROLLBACK")


def changes_between(
    connection: duckdb.DuckDBPyConnection, pairs: Sequence[tuple[int, int]]
) -> list[dict[int, list[Row]]]:
    """Return the rows of `buffer_changes` of every pair by colour, in their order."""
    asked: dict[str, Any] = {
        "base_ids": [base for base, _ in pairs],
        "candidate_ids": [candidate for _, candidate in pairs],
    }
    found: list[dict[int, list[Row]]] = [defaultdict(list) for _ in pairs]
    rows = run_query(connection, "buffer_changes", asked).dicts()
    for row in sorted(rows, key=lambda row: row["place"]):
        found[row["pair"] - 1][row["color"]].append(row)
    return found


MIRRORED = {"new": "gone", "gone": "new"}


def part_sums(rows: Sequence[Row]) -> Sums:
    """Return the bytes of each (part, kind) that has any."""
    sums: Sums = defaultdict(int)
    for row in rows:
        sums[row["part"], row["kind"]] += row["delta_bytes"]
    return {key: value for key, value in sums.items() if value}


def opposite_sums(rows: Sequence[Row]) -> Sums:
    """Return what `part_sums` is to be where base and candidate change places."""
    return {
        (MIRRORED.get(part, part), kind): -size
        for (part, kind), size in part_sums(rows).items()
    }

"""Small buffer assignments: made up, stored, and judged the slow and obvious way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
from hypothesis import strategies as st

from tests.occurrences import store_modules


@dataclass(frozen=True)
class Value:
    value_id: int
    offset: int
    size: int
    start: int | None
    end: int | None
    logical: int = 1

    def live_at(self, step: int) -> bool:
        return self.start is not None and self.start <= step <= (self.end or 0)

    def bytes_set(self) -> set[int]:
        return set(range(self.offset, self.offset + self.size))


@dataclass(frozen=True)
class Allocation:
    allocation_id: int
    size: int
    color: int
    kind: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """One module; `steps` is the length of its schedule."""

    allocations: tuple[Allocation, ...]
    steps: int
    program: str = "jit_f"
    extra: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def colors(self) -> list[int]:
        return sorted({a.color for a in self.allocations})

    def of_color(self, color: int) -> Iterator[Allocation]:
        return (a for a in self.allocations if a.color == color)


# --- The rules of liveness, byte by byte and step by step ---------------------------


def covered(
    allocation: Allocation, step: int, without: Container[int] = ()
) -> set[int]:
    """Return the addresses of an allocation that live values cover at a step."""
    found: set[int] = set()
    for value in allocation.values:
        if value.value_id not in without and value.live_at(step):
            found |= value.bytes_set()
    return found


def allocation_live(
    allocation: Allocation, step: int, without: Container[int] = ()
) -> int:
    """Live bytes of an allocation at a step, perhaps with values taken out of it."""
    if allocation.kind == "thread_local":
        return 0
    if allocation.kind == "temp":
        return len(covered(allocation, step, without))
    others = [v for v in allocation.values if v.value_id not in without]
    if len(others) < len(allocation.values) and not others:
        return 0
    stands = all(v.start is None for v in allocation.values)
    holds = stands or any(v.live_at(step) for v in others)
    return allocation.size if holds else 0


def live(
    assignment: Assignment,
    color: int,
    step: int,
    *,
    without: Container[int] = (),
    temp_only: bool = False,
) -> int:
    return sum(
        allocation_live(a, step, without)
        for a in assignment.of_color(color)
        if not temp_only or a.kind == "temp"
    )


def live_peak(
    assignment: Assignment,
    color: int,
    *,
    without: Container[int] = (),
    temp_only: bool = False,
) -> tuple[int, int]:
    """Return the most bytes live at one step, and the first step that reaches it."""
    levels = [
        live(assignment, color, step, without=without, temp_only=temp_only)
        for step in range(assignment.steps + 1)
    ]
    return max(levels), levels.index(max(levels))


def has_ranges(assignment: Assignment) -> bool:
    return any(
        v.start is not None
        for a in assignment.allocations
        if a.kind != "thread_local"
        for v in a.values
    )


# --- Into the warehouse -------------------------------------------------------------


def store(
    connection: duckdb.DuckDBPyConnection,
    assignments: list[Assignment],
    run: str = "run",
    run_id: int = 1,
) -> None:
    """Store `assignments` as the modules 1, 2, … of one run, profiles included."""
    rows = _rows(assignments, run, run_id)
    store_modules(connection, rows.pop("modules"))
    for table, records in rows.items():
        if records:
            names = list(records[0])
            marks = ", ".join("?" for _ in names)
            columns = ", ".join(f'"{name}"' for name in names)
            connection.executemany(
                f"INSERT INTO {table} ({columns}) VALUES ({marks})",
                [tuple(record.values()) for record in records],
            )


def _rows(
    assignments: list[Assignment], run: str, run_id: int
) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows["runs"].append({"run_id": run_id, "name": run, "platform": "cpu"})
    for number, assignment in enumerate(assignments, 1):
        module_id = 100 * run_id + number
        rows["modules"].append(
            {
                "run_id": run_id,
                "module_id": module_id,
                "locations_id": module_id,
                "path": f"module_{number:04}.txt",
                "module_number": number,
                "part": 0,
                "name": assignment.program,
                "program": assignment.program,
                "stage": "after_optimizations",
                "has_assignment": True,
                "has_live_ranges": has_ranges(assignment),
                "first_line": 1,
                "printed_total_bytes": sum(a.size for a in assignment.allocations),
                **assignment.extra,
            }
        )
        _add_assignment(rows, module_id, assignment)
        _add_profile(rows, module_id, assignment)
    return rows


def _add_assignment(
    rows: dict[str, list[dict[str, Any]]], module_id: int, assignment: Assignment
) -> None:
    for allocation in assignment.allocations:
        key = {"module_id": module_id, "allocation_id": allocation.allocation_id}
        rows["allocations"].append(
            {
                **key,
                "size_bytes": allocation.size,
                "color": allocation.color,
                "kind": allocation.kind,
            }
        )
        for value in allocation.values:
            _add_value(rows, module_id, allocation, value)


def _add_value(
    rows: dict[str, list[dict[str, Any]]],
    module_id: int,
    allocation: Allocation,
    value: Value,
) -> None:
    key = {"module_id": module_id}
    # Every value has an instruction of its own, with the same number.
    rows["store.instructions"].append(
        {
            **key,
            "instruction_id": value.value_id,
            "computation_id": 0,
            "name": f"v{value.value_id}",
            "form_id": 1,
            "position": value.value_id,
            "line_offset": value.value_id,
        }
    )
    rows['store."values"'].append(
        {
            **key,
            "value_id": value.value_id,
            "instruction_id": value.value_id,
            "color": allocation.color,
            "logical_bytes": value.logical,
        }
    )
    rows["allocation_values"].append(
        {
            **key,
            "allocation_id": allocation.allocation_id,
            "value_id": value.value_id,
            "offset_bytes": value.offset,
            "size_bytes": value.size,
        }
    )
    if value.start is not None:
        rows["store.live_ranges"].append(
            {
                **key,
                "instruction_id": value.value_id,
                "shape_index": "{}",
                "value_id": value.value_id,
                "start_step": value.start,
                "end_step": value.end,
            }
        )


def _add_profile(
    rows: dict[str, list[dict[str, Any]]], module_id: int, assignment: Assignment
) -> None:
    for color in assignment.colors:
        sizes: dict[str, int] = defaultdict(int)
        for allocation in assignment.of_color(color):
            sizes[allocation.kind] += allocation.size
        known = has_ranges(assignment)
        peak, step = live_peak(assignment, color)
        temp_peak, _ = live_peak(assignment, color, temp_only=True)
        fragmentation = sizes["temp"] - temp_peak
        rows["memory_profile"].append(
            {
                "module_id": module_id,
                "color": color,
                "reserved_bytes": sum(sizes.values()),
                **{
                    f"{kind}_bytes": sizes[kind]
                    for kind in (
                        *("parameter", "constant", "live_out"),
                        *("thread_local", "temp"),
                    )
                },
                "temp_live_peak_bytes": temp_peak if known else None,
                "live_peak_bytes": peak if known else None,
                "peak_step": step if known else None,
                "fragmentation_bytes": fragmentation if known else None,
                "fragmentation_ratio": (
                    fragmentation / sizes["temp"] if known and sizes["temp"] else None
                ),
            }
        )
        if known:
            rows["memory_timeline"] += _timeline(module_id, assignment, color)


def _timeline(
    module_id: int, assignment: Assignment, color: int
) -> list[dict[str, Any]]:
    stretches: list[dict[str, Any]] = []
    for step in range(assignment.steps + 1):
        levels = {
            "live_bytes": live(assignment, color, step),
            "temp_live_bytes": live(assignment, color, step, temp_only=True),
        }
        if stretches and all(stretches[-1][k] == v for k, v in levels.items()):
            stretches[-1]["to_step"] = step
        else:
            key = {"module_id": module_id, "color": color}
            stretches.append({**key, "from_step": step, "to_step": step, **levels})
    return stretches


# --- Made up --------------------------------------------------------------------------

_KINDS = ("temp", "temp", "temp", "parameter", "constant", "live_out", "thread_local")


@st.composite
def assignments(draw: st.DrawFn, max_steps: int = 8) -> Assignment:
    """Return a sound assignment: several arenas and spaces, chains, empty ones.

    Two values of an allocation that share a byte only touch in time, so that three
    and more of them may meet on one byte at one step.
    """
    steps = draw(st.integers(0, max_steps))
    allocations = []
    value_id = 0
    for allocation_id in range(draw(st.integers(1, 5))):
        size = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(_KINDS))
        values: list[Value] = []
        for _ in range(draw(st.integers(0, 6))):
            value = _draw_value(draw, value_id, size, steps, kind)
            if all(_compatible(value, other) for other in values):
                values.append(value)
                value_id += 1
        color = draw(st.integers(0, 1))
        allocations.append(Allocation(allocation_id, size, color, kind, tuple(values)))
    return Assignment(tuple(allocations), steps)


def _draw_value(
    draw: st.DrawFn, value_id: int, size: int, steps: int, kind: str
) -> Value:
    offset = draw(st.integers(0, size))
    length = draw(st.integers(0, size - offset))
    if kind == "thread_local" or draw(st.integers(0, 9)) == 0:
        return Value(value_id, offset, length, None, None, length)
    start = draw(st.integers(0, steps))
    end = draw(st.integers(start, steps))
    logical = draw(st.integers(0, length))
    return Value(value_id, offset, length, start, end, logical)


def _compatible(a: Value, b: Value) -> bool:
    if a.start is None or b.start is None or a.end is None or b.end is None:
        return True
    share = a.bytes_set() & b.bytes_set()
    return not share or not (a.start < b.end and b.start < a.end)

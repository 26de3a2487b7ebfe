"""A program's schedule as a trace, for ui.perfetto.dev and chrome://tracing.

A step of the schedule takes a microsecond. Live bytes are a counter, and every value is
a slice for the steps at which it is live. The format is that of Chrome's Trace Event
Format, in JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_PLACE = ("program", "module_number", "rank", "color")


def trace(timeline: Sequence[Row], values: Sequence[Row]) -> dict[str, Any]:
    """Return a trace of the rows of `live_timeline` and `longest_live_ranges`.

    Each memory space of a program is a process of its own.
    """
    places = dict.fromkeys(_place(row) for row in (*timeline, *values))
    numbers = {place: number for number, place in enumerate(places, 1)}
    return {
        "traceEvents": list(_events(timeline, values, numbers)),
        "displayTimeUnit": "ns",
        "otherData": {"unit": "a step of the schedule takes 1 microsecond"},
    }


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _PLACE)


def _events(
    timeline: Sequence[Row],
    values: Sequence[Row],
    numbers: Mapping[tuple[Any, ...], int],
) -> Iterator[dict[str, Any]]:
    named = {_place(row): f"{row['program']}: {row['space_name']}" for row in timeline}
    named |= {_place(row): f"{row['program']}: {row['space_name']}" for row in values}
    for place, number in numbers.items():
        name = {"name": named[place]}
        yield {"ph": "M", "name": "process_name", "pid": number, "args": name}
    ends: dict[int, int] = {}
    for row in timeline:
        number = numbers[_place(row)]
        ends[number] = max(ends.get(number, 0), row["to_step"] + 1)
        yield _counter(number, row["from_step"], row["live_bytes"])
    for number, end in ends.items():
        yield _counter(number, end, 0)
    for key, row in enumerate(values, 1):
        yield from _slice(key, row, numbers[_place(row)])


def _counter(number: int, step: int, size: int) -> dict[str, Any]:
    args = {"bytes": size}
    return {"ph": "C", "name": "live bytes", "pid": number, "ts": step, "args": args}


def _slice(key: int, row: Row, number: int) -> Iterator[dict[str, Any]]:
    """Yield begin and end of a value; slices of one process may overlap.

    A local id belongs to its process: Perfetto shows others as those of no process.
    """
    name = row["instruction"] or "a value without an instruction"
    id_ = {"local": f"{key:#x}"}
    same = {"cat": row["kind"], "id2": id_, "name": name, "pid": number, "tid": 0}
    source = row["source_file"] and f"{row['source_file']}:{row['source_line']}"
    facts = {
        "bytes": row["size_bytes"],
        "shape": row["shape"],
        "operation": row["op_name"],
        "source line": source,
    }
    args = {word: fact for word, fact in facts.items() if fact is not None}
    yield {"ph": "b", "ts": row["start_step"], "args": args, **same}
    yield {"ph": "e", "ts": row["end_step"] + 1, **same}

"""Read why modules differ: rows of queries, nothing computed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Module, Profiles
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a difference that have one reason, in one kind of allocation."""

    part: str
    kind: str
    delta_bytes: int
    buffer_count: int


@dataclass(frozen=True, slots=True)
class Count:
    """How often something stands in base and candidate."""

    name: str
    base: int
    candidate: int


@dataclass(frozen=True, slots=True)
class InputChange:
    """How arguments of a program differ from those of the base.

    `change` is resized, reshaped, retyped, repeated, new or gone; `meaning` what
    differs: batch, layers, devices, or a dimension. `arguments` names the first few.
    """

    change: str
    meaning: str
    base_size: str | None
    candidate_size: str | None
    argument_count: int
    arguments: str
    delta_bytes: int


def read_input_changes(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[Modules, list[InputChange]]:
    """Return the changes of every pair whose entry shapes differ, in their order."""
    asked = [(b, c) for b, c in pairs if b.inputs != c.inputs]
    if not asked:
        return {}
    ids = {
        "base_ids": [b.module_id for b, _ in asked],
        "candidate_ids": [c.module_id for _, c in asked],
    }
    found: dict[tuple[int, int], list[InputChange]] = defaultdict(list)
    rows = run_query(connection, "input_changes", ids).dicts()
    for row in sorted(rows, key=lambda row: row["place"]):
        key = row["base_module_id"], row["candidate_module_id"]
        found[key].append(InputChange(*(row[name] for name in _FIELDS)))
    return {(b, c): found[b.module_id, c.module_id] for b, c in asked}


_FIELDS = (
    "change",
    "meaning",
    "base_size",
    "candidate_size",
    "argument_count",
    "arguments",
    "delta_bytes",
)


Row = Mapping[str, Any]

Modules = tuple[Module, Module]

FRAGMENTATION = "fragmentation"
"""The part of memory that no buffer holds."""


class Buffer(NamedTuple):
    """One side of a row of `buffer_changes`: a whole allocation, or a value."""

    value_id: int | None
    instruction: str | None
    opcode: str | None
    op_path: str | None
    shape: str | None
    shape_index: str | None
    parameter: str | None
    bytes: int

    @property
    def name(self) -> str | None:
        """Its instruction, with the index into the result where that is a tuple."""
        if self.instruction is None:
            return f"parameter {self.parameter}" if self.parameter else None
        return self.instruction + (self.shape_index or "")


class Change(NamedTuple):
    """A row of `buffer_changes`."""

    part: str
    kind: str
    delta_bytes: int
    note: str
    method: str
    confidence: float
    base: Buffer | None
    candidate: Buffer | None
    status: str | None
    held: int | None
    base_held_bytes: int | None
    candidate_held_bytes: int | None


class Difference(NamedTuple):
    """The rows of one pair and colour: what changed, and all that fills the memory.

    `main_changes` are those that the cause is named after; `share` is what they are of
    all that goes the same way. `held` are the largest first; on each side their bytes
    add up to what is reserved without the room lost to packing.
    """

    color: int
    delta_bytes: int
    residual_bytes: int
    main_part: str
    share: float
    is_detailed: bool
    main_changes: tuple[Change, ...]
    changes: tuple[Change, ...]
    held: tuple[Change, ...]
    parts: tuple[Part, ...]


class DivergenceRow(NamedTuple):
    """A row of `divergences`."""

    last_equal_stage: str | None
    first_different_stage: str | None
    blame: str
    reason: str
    base_remat_count: int
    candidate_remat_count: int
    are_remats_marked: bool
    base_scoped_bytes: int
    candidate_scoped_bytes: int


def read_differences(
    connection: Connection, pairs: Sequence[Modules]
) -> list[list[Difference]]:
    """Return the differences of every pair, by colour; of equal contents the same."""
    if not pairs:
        return []
    asked = {_contents(pair): pair for pair in pairs}
    found: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in run_query(connection, "buffer_changes", _ids(asked.values())).dicts():
        found[row["pair"], row["color"]].append(row)
    differences: dict[tuple[int, int], list[Difference]] = {each: [] for each in asked}
    contents = list(asked)
    for (pair, color), rows in sorted(found.items()):
        rows.sort(key=lambda row: row["place"])
        differences[contents[pair - 1]].append(_difference(color, rows))
    return [differences[_contents(pair)] for pair in pairs]


def read_divergences(
    connection: Connection, asked: Sequence[tuple[Modules, str]]
) -> list[DivergenceRow]:
    """Return where pairs part, each of which has most of its difference in a part."""
    if not asked:
        return []
    parameters: dict[str, Any] = {
        "base_runs": [b.run_id for (b, _), _ in asked],
        "base_places": [b.place for (b, _), _ in asked],
        "candidate_runs": [c.run_id for (_, c), _ in asked],
        "candidate_places": [c.place for (_, c), _ in asked],
        "main_parts": [part for _, part in asked],
    }
    rows = run_query(connection, "divergences", parameters).dicts()
    by_place = {row["pair"]: row for row in rows}
    return [
        DivergenceRow(*(by_place[place][field] for field in DivergenceRow._fields))
        for place in range(1, len(asked) + 1)
    ]


def read_op_mixes(
    connection: Connection, pairs: Sequence[Modules], top: int
) -> list[list[Count]]:
    """Return the opcodes whose number changed most, at most `top` of each pair."""
    mixes: list[list[Count]] = [[] for _ in pairs]
    if pairs:
        for row in run_query(connection, "opcode_changes", _ids(pairs)).dicts():
            count = Count(row["opcode"], row["base_count"], row["candidate_count"])
            mixes[row["pair"] - 1].append(count)
    for mix in mixes:
        mix.sort(key=lambda c: (-abs(c.candidate - c.base), c.name))
        del mix[top:]
    return mixes


def read_lost_donations(
    connection: Connection, pairs: Sequence[Modules]
) -> list[dict[int, int]]:
    """Return the bytes that results share less with parameters, by colour.

    Results that no free parameter of the candidate fits could not share any.
    """
    lost: list[dict[int, int]] = [defaultdict(int) for _ in pairs]
    if pairs:
        for row in run_query(connection, "donation_changes", _ids(pairs)).dicts():
            if row["can_be_donated"]:
                sign = 1 if row["is_lost"] else -1
                lost[row["pair"] - 1][row["color"]] += sign * row["size_bytes"]
    return lost


def colors_of(pair: Modules, profiles: Profiles) -> set[int]:
    """Return the memory spaces that either module uses."""
    return {color for m in pair for color in profiles.get(m.module_id, {})}


def _contents(pair: Modules) -> tuple[int, int]:
    base, candidate = pair
    return base.module_id, candidate.module_id


def _ids(pairs: Iterable[Modules]) -> dict[str, list[int]]:
    both = [_contents(pair) for pair in pairs]
    return {
        "base_ids": [base for base, _ in both],
        "candidate_ids": [candidate for _, candidate in both],
    }


def _difference(color: int, rows: Sequence[Row]) -> Difference:
    changed = [row for row in rows if row["part"] != "same"]
    first = rows[0]
    held: dict[int, Change] = {}
    for row in rows:
        size = max(row["base_held_bytes"] or 0, row["candidate_held_bytes"] or 0)
        if row["held"] is not None and size:
            held.setdefault(row["held"], _change(row))
    sums = {
        (row["part"], row["kind"]): Part(
            row["part"],
            row["kind"],
            row["part_delta_bytes"],
            row["part_buffer_count"] if row["is_detailed"] else 0,
        )
        for row in changed
    }
    return Difference(
        color,
        first["total_delta_bytes"],
        first["residual_bytes"],
        first["main_part"],
        round(first["main_share_ratio"] or 0.0, 4),
        first["is_detailed"],
        tuple(_change(row) for row in changed if row["is_main"]),
        tuple(_change(row) for row in changed),
        tuple(held[number] for number in sorted(held)),
        tuple(
            sorted(sums.values(), key=lambda p: (-abs(p.delta_bytes), p.part, p.kind))
        ),
    )


def _change(row: Row) -> Change:
    return Change(
        row["part"],
        row["kind"],
        row["delta_bytes"],
        row["note"],
        row["method"],
        row["confidence"],
        _buffer(row, "base"),
        _buffer(row, "candidate"),
        row["status"],
        row["held"],
        row["base_held_bytes"],
        row["candidate_held_bytes"],
    )


def _buffer(row: Row, side: str) -> Buffer | None:
    if row[f"{side}_bytes"] is None:
        return None
    return Buffer(*(row[f"{side}_{field}"] for field in Buffer._fields))

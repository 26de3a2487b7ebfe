"""Names of operands and called computations → numbers, module by module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import NO_ID, Ints
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import Computation, column_of

_CALL_PLACE = 1 << 20
"""Edges from a caller to what it calls count as operands from here on."""

_KIND_OF_ROLE = {
    "body": "while_body",
    "condition": "while_condition",
    "true_computation": "branch",
    "false_computation": "branch",
    "branch_computations": "branch",
    "select": "reducer",
    "scatter": "reducer",
    "called_computations": "call",
}


class ResolvedCalls(NamedTuple):
    """Called computations; NO_ID where no computation has that name.

    `roles` are numbers of `Distinct.calls.roles`.
    """

    callers: Ints
    roles: Ints
    ordinals: Ints
    computation_ids: Ints


@dataclass(frozen=True, slots=True)
class Graph:
    """A module's instructions as numbers; edge i: readers[i] reads operands[i].

    `roots` are those of computations, NO_ID of an empty one.
    """

    computation_ids: Ints
    positions: Ints
    is_root: NDArray[np.bool_]
    roots: Ints
    readers: Ints
    operands: Ints
    places: Ints
    operand_counts: Ints
    calls: ResolvedCalls

    def edges_with_calls(self) -> tuple[Ints, Ints, Ints]:
        """Return readers, operands and places, called roots counting as operands."""
        calls = self.calls
        roots = np.append(self.roots, NO_ID)[calls.computation_ids]
        rooted = roots != NO_ID
        sound = self.operands != NO_ID
        places = _CALL_PLACE + calls.ordinals[rooted]
        return (
            np.concatenate([self.readers[sound], calls.callers[rooted]]),
            np.concatenate([self.operands[sound], roots[rooted]]),
            np.concatenate([self.places[sound], places]),
        )


def resolve_graph(
    distinct: Distinct, rows: Ints, computations: Sequence[Computation]
) -> Graph:
    """Return the graph of a module whose instructions are `rows` of `distinct`.

    Instructions after the last computation belong to none: only a buffer assignment
    names them.
    """
    starts = np.array(column_of(computations, "start"), np.int32)
    sizes = np.array(column_of(computations, "stop"), np.int32) - starts
    inside = int(sizes.sum())
    ids = np.full(len(rows), NO_ID, np.int32)
    ids[:inside] = np.repeat(np.arange(len(computations), dtype=np.int32), sizes)
    positions = np.arange(len(rows), dtype=np.int32)
    positions[:inside] -= np.repeat(starts, sizes)
    names, counts = distinct.operands(rows)
    readers = np.repeat(np.arange(len(rows), dtype=np.int32), counts)
    before = np.cumsum(counts) - counts
    places = np.arange(len(names), dtype=np.int32) - np.repeat(before, counts)
    operands = _resolve_operands(distinct, rows, computations, names, readers, ids)
    is_root, roots = _roots(distinct, rows, starts, sizes)
    return Graph(
        ids, positions, is_root, roots, readers, operands,
        places.astype(np.int32), counts,
        _resolve_calls(distinct, rows, computations),
    )  # fmt: skip


def _resolve_operands(
    distinct: Distinct,
    rows: Ints,
    computations: Sequence[Computation],
    names: Ints,
    readers: Ints,
    computation_ids: Ints,
) -> Ints:
    """Look every operand name up; names hold within their computation only."""
    if not len(names):
        return np.empty(0, np.int32)
    own = distinct.name_ids(rows)
    place = distinct.scratch()
    numbers = np.arange(len(rows), dtype=np.int32)
    place[own] = numbers
    if bool((place[own] == numbers).all()):
        return _looked_up(place, own, names)
    found = np.full(len(names), NO_ID, np.int32)
    for number, computation in enumerate(computations):
        part = slice(computation.start, computation.stop)
        edges = np.flatnonzero(computation_ids[readers] == number)
        place[own[part]] = numbers[part]
        local = _looked_up(place, own, names[edges])
        sound = (local >= computation.start) & (local < computation.stop)
        found[edges] = np.where(sound, local, NO_ID)
    return found


def _looked_up(place: Ints, own: Ints, names: Ints) -> Ints:
    """Read the scratch table, trusting only entries that point back to their name."""
    guess = place[names]
    guess = np.where(guess < len(own), guess, 0)
    return np.where(own[guess] == names, guess, NO_ID).astype(np.int32)


def _roots(
    distinct: Distinct, rows: Ints, starts: Ints, sizes: Ints
) -> tuple[NDArray[np.bool_], Ints]:
    """Mark roots; a computation that prints none has its last instruction as root."""
    is_root = distinct.roots(rows).astype(bool)
    stops = starts + sizes
    marked = np.append(np.flatnonzero(is_root), len(rows))
    first = marked[np.searchsorted(marked, starts)]
    roots = np.where(first < stops, first, stops - 1)
    is_root[roots[sizes > 0]] = True
    return is_root, np.where(sizes > 0, roots, NO_ID).astype(np.int32)


def _resolve_calls(
    distinct: Distinct, rows: Ints, computations: Sequence[Computation]
) -> ResolvedCalls:
    ids = distinct.call_ids(rows)
    callers = np.flatnonzero(ids != NO_ID).astype(np.int32)
    counts, roles, ordinals, names = distinct.calls.spread(ids[callers])
    own = distinct.names.numbers_of(column_of(computations, "name"))
    place = distinct.scratch()
    place[own] = np.arange(len(own), dtype=np.int32)  # Of equal names the last counts.
    found = _looked_up(place, own, names) if len(own) else np.full_like(names, NO_ID)
    return ResolvedCalls(np.repeat(callers, counts), roles, ordinals, found)


def computation_kinds(
    distinct: Distinct, rows: Ints, computations: Sequence[Computation], graph: Graph
) -> list[str | None]:
    """Return each computation's kind, by the first instruction that calls it."""
    calls = graph.calls
    called, first = np.unique(calls.computation_ids, return_index=True)
    roles = [distinct.calls.roles.values_by_number[i] for i in calls.roles[first]]
    forms = distinct.form_ids(rows[calls.callers[first]]).tolist()
    opcodes = [distinct.forms.values_by_number[form][0] for form in forms]
    kinds = dict(zip(called.tolist(), map(_kind, roles, opcodes), strict=True))
    return ["entry" if c.is_entry else kinds.get(i) for i, c in enumerate(computations)]


def _kind(role: str, opcode: str) -> str:
    if role == "calls":
        return "fusion" if opcode == "fusion" else "async"
    if role == "to_apply":
        return "call" if opcode == "call" else "reducer"
    return _KIND_OF_ROLE.get(role, "call")

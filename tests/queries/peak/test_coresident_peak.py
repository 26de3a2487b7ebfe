"""Programs that are loaded together, on made-up modules."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.assignments import Allocation, Assignment, Value, store
from tests.queries.stored import Connection, examples, stored

PROGRAMS = ("jit_train", "jit_eval", "jit_eval_small")
PATTERNS = (None, "jit_train", "jit_(train|eval)", "jit_eval.*", "eval")


def test_what_lies_in_another_memory_of_the_same_colour_is_not_shared_with_it(
    empty_warehouse: Connection,
) -> None:
    weights = Allocation(0, 100, 0, "parameter", (Value(0, 0, 100, 0, 1),))
    step = Assignment((weights,), 1, "jit_step", {"platform": "tpu"})
    load = Assignment((replace(weights, size=7),), 1, "jit_load", {"platform": "cpu"})
    empty_warehouse.execute("BEGIN")
    try:
        store(empty_warehouse, [step, step, load])
        rows = empty_warehouse.execute(
            "SELECT space_name, module_count, persistent_bytes,"
            " shared_persistent_bytes, lower_bytes, upper_bytes FROM coresident_peak()"
        ).fetchall()
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert rows == [("HBM", 2, 200, 100, 100, 200), ("host", 1, 7, 7, 7, 7)]


def test_what_pruned_modules_share_is_not_known(empty_warehouse: Connection) -> None:
    weights = Allocation(0, 100, 0, "parameter", (Value(0, 0, 100, 0, 1),))
    work = Allocation(0, 7, 1, "temp", (Value(0, 0, 7, 0, 1),))
    with stored(
        empty_warehouse, Assignment((weights,), 1), Assignment((work,), 1)
    ) as connection:
        connection.execute("DELETE FROM allocations")
        rows = connection.execute(
            "SELECT color, persistent_bytes, shared_persistent_bytes, lower_bytes,"
            " upper_bytes FROM coresident_peak()"
        ).fetchall()
    assert rows == [(0, 100, None, None, 100), (1, 0, 0, 7, 7)]


def test_a_donated_parameter_keeps_its_name(training_warehouse: Path) -> None:
    """Whatever a program writes there: a later step is given all that the first is."""
    with connect(training_warehouse) as connection:
        first, later = connection.execute(
            "SELECT parameter_bytes, constant_bytes FROM module_memory"
            " JOIN runs USING (run_id) WHERE name = 'first' ORDER BY module_number"
        ).fetchall()
        found = run_query(connection, "coresident_peak", {"run": "first"}).dicts()
    assert [(r["persistent_bytes"], r["shared_persistent_bytes"]) for r in found] == [
        (sum(first) + sum(later), sum(later))
    ]


@st.composite
def modules(draw: st.DrawFn) -> Assignment:
    """Return a module: n-th buffers have the same name in all, not the same size."""
    allocations = []
    for number in range(draw(st.integers(1, 4))):
        size, color = draw(st.integers(1, 3)), draw(st.integers(0, 1))
        kind = draw(st.sampled_from(("parameter", "constant", "temp", "live_out")))
        value = Value(number, 0, size, 0, 1)
        allocations.append(Allocation(number, size, color, kind, (value,)))
    return Assignment(tuple(allocations), 1, draw(st.sampled_from(PROGRAMS)))


def together(chosen: list[Assignment]) -> dict[int, tuple[int, ...]]:
    """Return needs by memory space: modules, persistent, shared, transient, bounds."""
    found: dict[int, tuple[int, ...]] = {}
    for color in (0, 1):
        held: list[tuple[int, int]] = []
        transient: list[int] = []
        for module in chosen:
            own = list(module.of_color(color))
            stay = [a for a in own if a.kind in ("parameter", "constant")]
            held += [(a.allocation_id, a.size) for a in stay]
            if own:
                transient.append(sum(a.size for a in own) - sum(a.size for a in stay))
        if transient:
            every = sum(size for _, size in held)
            shared, most = sum(size for _, size in set(held)), max(transient)
            counts = (len(transient), every, shared, most)
            found[color] = (*counts, shared + most, every + most)
    return found


@pytest.mark.slow
@examples
@given(
    pattern=st.sampled_from(PATTERNS),
    made=st.lists(modules(), min_size=1, max_size=5),
)
def test_only_the_programs_that_are_asked_for_are_loaded(
    empty_warehouse: Connection, pattern: str | None, made: list[Assignment]
) -> None:
    chosen = [m for m in made if pattern is None or re.fullmatch(pattern, m.program)]
    empty_warehouse.execute("BEGIN")
    try:
        store(empty_warehouse, made)
        rows = empty_warehouse.execute(
            "FROM coresident_peak(program := ?)", [pattern]
        ).fetchall()
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert {row[2]: row[4:10] for row in rows} == together(chosen)
    programs = defaultdict(set)
    for module in chosen:
        for color in module.colors:
            programs[color].add(module.program)
    assert all(row[10] in programs[row[2]] for row in rows)

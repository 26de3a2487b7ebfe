"""check_value_places and check_value_sizes: values that lie nowhere, twice, too tight.

Both look at modules one by one only where suspect_values can't prove them sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection
Number = int | None
Value = tuple[int, Number, int]
"""Module, value_id, logical_bytes."""

MODULES = st.integers(1, 2)
NUMBERS = st.none() | st.integers(0, 3)
SIZES = st.integers(0, 2)

SHAPES = {0: "f32[]", 1: "(f32[])", 2: "f32[2]"}
"""Shapes by their logical bytes: the pointer table of a tuple may take less."""

CHECKED_MODULES = """
    INSERT INTO runs (run_id, name) VALUES (1, 'run');
    INSERT INTO store.paths (path_id) VALUES (1);
    INSERT INTO store.snapshots (snapshot_id, module_id, is_detailed)
    VALUES (1, 1, true), (2, 2, true);
    INSERT INTO store.occurrences (run_id, path_id, snapshot_id)
    VALUES (1, 1, 1), (1, 1, 2)
"""


def misplaced(values: list[Value], places: list[Value]) -> Counter[tuple[int, int]]:
    """Count values, by module, that have so many places; one is right."""
    held = Counter(place[:2] for place in places)
    stored = Counter(value[:2] for value in values)
    found = (
        (module, 0 if number is None else copies * held[module, number])
        for (module, number), copies in stored.items()
    )
    return Counter(each for each in found if each[1] != 1)


def tight(values: list[Value], places: list[Value]) -> Counter[tuple[int, int, int]]:
    """Count arrays, by module, that need and have so many bytes."""
    return Counter(
        (module, logical, size)
        for module, number, logical in values
        for *place, size in places
        if number is not None and place == [module, number]
        if size < logical and not SHAPES[logical].startswith("(")
    )


@st.composite
def nearly_sound(draw: st.DrawFn) -> tuple[list[Value], list[Value]]:
    """Return values and places: one for each, and then a few too many or too few."""
    rows = st.tuples(MODULES, NUMBERS, SIZES)
    values = draw(st.lists(rows, max_size=4, unique_by=lambda row: row[:2]))
    places = [(module, number, draw(SIZES)) for module, number, _ in values]
    lost = draw(st.integers(0, 1))
    more_values = draw(st.lists(rows, max_size=1))
    more_places = draw(st.lists(rows, max_size=2))
    return values + more_values, places[lost:] + more_places


@pytest.mark.slow
@settings(examples, max_examples=2 * examples.max_examples)
@given(rows=nearly_sound())
def test_every_value_that_lies_elsewhere_is_found(
    empty_warehouse: Connection, rows: tuple[list[Value], list[Value]]
) -> None:
    values, places = rows
    shaped = [(*value, SHAPES[value[2]]) for value in values]
    tables: dict[str, Sequence[tuple[Number | str, ...]]] = {
        'store."values" (module_id, value_id, logical_bytes, shape)': shaped,
        "allocation_values (module_id, value_id, size_bytes)": places,
    }
    empty_warehouse.execute("BEGIN")
    try:
        empty_warehouse.execute(CHECKED_MODULES)
        for target, stored in tables.items():
            for row in stored:
                marks = ", ".join("?" for _ in row)
                empty_warehouse.execute(f"INSERT INTO {target} VALUES ({marks})", row)
        found = empty_warehouse.execute(
            "SELECT module_id, found FROM check_value_places()"
        ).fetchall()
        sizes = empty_warehouse.execute(
            "SELECT module_id, expected, found FROM check_value_sizes()"
        ).fetchall()
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert Counter(found) == misplaced(values, places)
    assert Counter(sizes) == tight(values, places)

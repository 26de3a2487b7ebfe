"""check_keys on tables in which some rows stand more than once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection
Key = tuple[int | None, ...]

TABLES = {
    "computations": ("module_id", "computation_id"),
    "store.location_numbers": ("numbering_id", "instruction_id"),
    "operands": ("module_id", "instruction_id", "operand_index"),
    "store.instructions": ("module_id", "instruction_id"),
}
SMALL = st.integers(0, 2)


def faults(
    connection: Connection, table: str, keys: list[Key]
) -> list[tuple[Any, ...]]:
    """Give what check_keys says of a table that holds rows of these keys."""
    columns = TABLES[table]
    places = ", ".join("?" for _ in columns)
    connection.execute("BEGIN")
    try:
        connection.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", keys
        )
        return connection.execute("FROM check_keys()").fetchall()
    finally:
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("table", TABLES)
@examples
@given(
    keys=st.lists(st.tuples(SMALL, SMALL, st.integers(0, 1)), min_size=1, max_size=12)
)
def test_keys_that_stand_once_are_counted(
    empty_warehouse: Connection, table: str, keys: list[Key]
) -> None:
    columns = TABLES[table]
    rows = [key[: len(columns)] for key in keys]
    copies = Counter(rows)
    once = sum(count == 1 for count in copies.values())
    place = f"{table.removeprefix('store.')} by {', '.join(columns)}"
    expected = [] if once == len(copies) else [(place, len(copies), once)]
    assert faults(empty_warehouse, table, rows) == expected


def test_rows_without_a_number_are_told_apart_from_none(
    empty_warehouse: Connection,
) -> None:
    once: list[Key] = [(1, None), (1, 0), (2, 0)]
    assert faults(empty_warehouse, "store.instructions", once) == []
    twice: list[Key] = [*once, (1, None)]
    found = faults(empty_warehouse, "store.instructions", twice)
    assert len(found) == 1

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
    """Return check_keys' faults in a table that holds rows of these keys."""
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


@pytest.mark.slow
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


Files = list[tuple[int, str]]


def faults_of_files(connection: Connection, files: Files) -> list[tuple[Any, ...]]:
    """Return check_keys' faults in runs with files of these paths, each its own."""
    connection.execute("BEGIN")
    try:
        for file_id, (run_id, path) in enumerate(files):
            connection.execute(
                "INSERT INTO store.files (file_id, file_key, path) VALUES (?, ?, ?)",
                [file_id, file_id, path],
            )
            connection.execute(
                "INSERT INTO store.run_files (run_id, file_id) VALUES (?, ?)",
                [run_id, file_id],
            )
        return connection.execute("FROM check_keys()").fetchall()
    finally:
        connection.execute("ROLLBACK")


@pytest.mark.slow
@examples
@given(files=st.lists(st.tuples(SMALL, st.sampled_from("abcd")), max_size=8))
def test_a_path_stands_once_in_a_run(empty_warehouse: Connection, files: Files) -> None:
    copies = Counter(files)
    once = sum(count == 1 for count in copies.values())
    place = "dump_files by run_id, path"
    expected = [] if once == len(copies) else [(place, len(copies), once)]
    assert faults_of_files(empty_warehouse, files) == expected


def test_paths_that_share_a_bit_are_told_apart(empty_warehouse: Connection) -> None:
    empty_warehouse.execute("BEGIN")
    try:
        empty_warehouse.execute("""
            INSERT INTO store.files (file_id, file_key, path)
            SELECT i, i, format('{:05d}', i) FROM range(16385) AS files (i)
        """)
        empty_warehouse.execute("""
            INSERT INTO store.run_files (run_id, file_id)
            VALUES (1, 0), (1, 16384), (2, 0), (2, 16383)
        """)
        doubtful = empty_warehouse.execute("FROM suspect_keys()").fetchall()
        assert doubtful == [("dump_files", 1)]
        assert empty_warehouse.execute("FROM check_keys()").fetchall() == []
    finally:
        empty_warehouse.execute("ROLLBACK")

"""dangling_ids on modules whose numbers have gaps, repetitions or neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection
Number = int | None

MODULES = st.integers(1, 2)
NUMBERS = st.integers(0, 4)
POSSIBLY = st.none() | NUMBERS


def dangling(
    instructions: list[tuple[int, int, Number]],
    computations: list[tuple[int, int]],
    operands: list[tuple[int, int, Number]],
) -> Counter[tuple[str, int]]:
    """Count what refers to nothing, one by one."""
    known = {(module, number) for module, number, _ in instructions}
    found = [
        ("instructions without a computation", module)
        for module, _, computation in instructions
        if computation is not None and (module, computation) not in computations
    ]
    found += [
        ("operands without an instruction", module)
        for module, *ends in operands
        for end in ends
        if end is not None and (module, end) not in known
    ]
    return Counter(found)


@examples
@given(
    instructions=st.lists(st.tuples(MODULES, NUMBERS, POSSIBLY), max_size=8),
    computations=st.lists(st.tuples(MODULES, NUMBERS), max_size=6),
    operands=st.lists(st.tuples(MODULES, NUMBERS, POSSIBLY), max_size=6),
)
def test_every_reference_to_nothing_is_found(
    empty_warehouse: Connection,
    instructions: list[tuple[int, int, Number]],
    computations: list[tuple[int, int]],
    operands: list[tuple[int, int, Number]],
) -> None:
    rows: dict[str, Sequence[tuple[Number, ...]]] = {
        "store.instructions (module_id, instruction_id, computation_id)": instructions,
        "computations (module_id, computation_id)": computations,
        "operands (module_id, instruction_id, operand_id)": operands,
    }
    empty_warehouse.execute("BEGIN")
    try:
        for target, values in rows.items():
            for row in values:
                places = ", ".join("?" for _ in row)
                empty_warehouse.execute(f"INSERT INTO {target} VALUES ({places})", row)
        found = empty_warehouse.execute(
            "SELECT place, module_id FROM dangling_ids()"
        ).fetchall()
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert Counter(found) == dangling(instructions, computations, operands)


# What stands once and is referred to by number; each row refers to nothing, or nothing
# refers to it.
LONE_ROWS = {
    "store.occurrences (run_id, path_id, snapshot_id) VALUES (1, 7, 8)": [
        ("modules without a path, such as 7", 1),
        ("modules without a run, such as 1", 1),
        ("modules without a snapshot, such as 8", 1),
    ],
    "store.run_files (run_id, file_id) VALUES (1, 7), (2, 7)": [
        ("dump_files without a file, such as 7", 2),
        ("dump_files without a run, such as 2", 2),
    ],
    "store.snapshots (snapshot_id) VALUES (7)": [
        ("snapshots without a module, such as 7", 1)
    ],
    "store.paths (path_id) VALUES (7)": [("paths without a module, such as 7", 1)],
    "store.files (file_id) VALUES (7)": [("files without a run, such as 7", 1)],
    "store.instruction_forms (form_id) VALUES (7)": [
        ("forms without an instruction, such as 7", 1)
    ],
    "store.instructions (module_id, form_id) VALUES (7, 8), (7, 8)": [
        ("instructions without a form, such as 7", 2),
        ("instructions without a module, such as 7", 2),
    ],
    "store.location_sets (locations_id, list_id) VALUES (7, 8)": [
        ("location_sets without a module, such as 7", 1)
    ],
    "store.location_numbers (numbering_id) VALUES (7), (7)": [
        ("location_numbers without a set, such as 7", 2)
    ],
    "store.location_lists (list_id) VALUES (7)": [
        ("location_lists without a set, such as 7", 1)
    ],
    "store.stack_frames (frames_id) VALUES (7)": [
        ("stack_frames without a set, such as 7", 1)
    ],
}


def faults(connection: Connection, *inserts: str) -> list[tuple[str, int]]:
    """Return check_references' faults where such rows are stored."""
    connection.execute("BEGIN")
    try:
        for insert in inserts:
            connection.execute(f"INSERT INTO {insert}")
        found = connection.execute("SELECT place, found FROM check_references()")
        return sorted(found.fetchall())
    finally:
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("insert", LONE_ROWS)
def test_rows_that_stand_alone(empty_warehouse: Connection, insert: str) -> None:
    assert faults(empty_warehouse, insert) == LONE_ROWS[insert]


def test_a_location_that_its_list_lacks(empty_warehouse: Connection) -> None:
    stored = (
        "runs (run_id, name) VALUES (1, 'run')",
        "store.paths (path_id) VALUES (1)",
        "store.snapshots (snapshot_id, locations_id) VALUES (1, 5)",
        "store.occurrences (run_id, path_id, snapshot_id) VALUES (1, 1, 1)",
        "store.location_sets VALUES (5, 6, 7, 8)",
        "store.location_lists (list_id, location_number) VALUES (7, 0)",
    )
    numbers = "store.location_numbers VALUES (6, 0, 0)"
    assert faults(empty_warehouse, *stored, numbers) == []
    lost = f"{numbers}, (6, 1, 1)"
    assert faults(empty_warehouse, *stored, lost) == [
        ("location_numbers without a location, such as 5", 1)
    ]

"""Missed reuse in place: each dying operand and each new result counts once."""

from __future__ import annotations

import pytest

from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, stored

MODULE = 101
READER = 10
"""The instruction that reads values 0 to 3 and defines 10 to 12, at step 2."""

ARENA = Allocation(
    0,
    32,
    0,
    "temp",
    (
        *(Value(n, 4 * n, 4, 0, 2, 4) for n in range(3)),
        Value(3, 12, 8, 0, 2, 8),
        Value(10, 0, 4, 2, 5, 4),
        Value(11, 20, 4, 2, 5, 4),
        Value(12, 24, 4, 2, 5, 4),
    ),
)


def describe(connection: Connection) -> None:
    """Add what an assignment alone lacks: readers, instructions of three results."""
    connection.execute(
        "INSERT INTO store.instruction_forms BY NAME SELECT 1 AS form_id, 'fusion' AS"
        " opcode, 'kLoop' AS fusion_kind"
    )
    connection.execute(
        'UPDATE store."values" SET instruction_id = ?,'
        " shape_index = '{' || (value_id - ?) || '}' WHERE value_id >= ?",
        [READER, READER, READER],
    )
    for value_id in range(4):
        connection.execute(
            "INSERT INTO store.value_uses BY NAME SELECT ? AS module_id, ? AS"
            " value_id, 0 AS ordinal, ? AS instruction_id, ? AS operand_index",
            [MODULE, value_id, READER, value_id],
        )


def test_the_nth_operand_goes_with_the_nth_result(empty_warehouse: Connection) -> None:
    """Of those of a size, and without the first of each, which share their bytes."""
    with stored(empty_warehouse, Assignment((ARENA,), 6)) as connection:
        describe(connection)
        rows = connection.execute(
            "SELECT operand_instruction, operand_shape_index, instruction,"
            " shape_index, step, saved_bytes FROM missed_inplace()"
        ).fetchall()
    assert rows == [
        ("v1", None, "v10", "{1}", 2, 4),
        ("v2", None, "v10", "{2}", 2, 4),
    ]


@pytest.mark.parametrize(("color", "rows"), [(0, [("v1", "v10", 4)]), (1, [])])
def test_an_operand_of_another_memory_space_is_not_reused(
    empty_warehouse: Connection, color: int, rows: list[tuple[str, str, int]]
) -> None:
    older = Allocation(0, 4, color, "temp", (Value(1, 0, 4, 0, 2, 4),))
    newer = Allocation(1, 4, 0, "temp", (Value(10, 0, 4, 2, 5, 4),))
    with stored(empty_warehouse, Assignment((older, newer), 6)) as connection:
        describe(connection)
        found = connection.execute(
            "SELECT operand_instruction, instruction, saved_bytes FROM missed_inplace()"
        ).fetchall()
    assert found == rows

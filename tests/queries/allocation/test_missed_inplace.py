"""Missed reuse in place: each dying operand and each new result counts once."""

from __future__ import annotations

import pytest

from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, add, stored

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


SQUARE = "f32[8,8]{1,0}"


def fuse(connection: Connection, operations: list[tuple[str, str, str]]) -> None:
    """Add what the reader calls: of the n-th operand the n-th operation.

    The n-th result is the element-wise result of that.
    """
    add(
        connection,
        "called_computations",
        module_id=MODULE,
        instruction_id=READER,
        role="calls",
        ordinal=0,
        computation_id=1,
    )
    root = 100
    add(
        connection,
        "computations",
        module_id=MODULE,
        computation_id=1,
        root_instruction_id=root,
    )

    def instruct(number: int, opcode: str, operands: list[int], **form: object) -> None:
        add(
            connection,
            "store.instruction_forms",
            form_id=number,
            opcode=opcode,
            element_type="f32",
            **form,
        )
        add(
            connection,
            "store.instructions",
            module_id=MODULE,
            instruction_id=number,
            computation_id=1,
            form_id=number,
            name=f"i{number}",
        )
        for index, operand in enumerate(operands):
            add(
                connection,
                "operands",
                module_id=MODULE,
                instruction_id=number,
                operand_index=index,
                operand_id=operand,
            )

    results = []
    for place, (opcode, shape, attributes) in enumerate(operations):
        first = root + 10 * (place + 1)
        instruct(first, "parameter", [], parameter_number=place, shape=SQUARE)
        instruct(first + 1, opcode, [first], shape=shape, attributes=attributes)
        instruct(first + 2, "negate", [first + 1], shape=shape)
        results.append(first + 2)
    instruct(root, "tuple", results, shape=f"({SQUARE})")


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
    fuse(connection, [("negate", SQUARE, "") for _ in range(3)])
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


@pytest.mark.parametrize(("color", "rows"), [(0, [("v0", "v10", 4, 4)]), (1, [])])
def test_an_operand_of_another_memory_space_is_not_reused(
    empty_warehouse: Connection, color: int, rows: list[tuple[str, str, int, int]]
) -> None:
    """Both are live at step 2: the peak of 8 bytes falls by those of one."""
    older = Allocation(0, 4, color, "temp", (Value(0, 0, 4, 0, 2, 4),))
    newer = Allocation(1, 4, 0, "temp", (Value(10, 0, 4, 2, 5, 4),))
    with stored(empty_warehouse, Assignment((older, newer), 6)) as connection:
        describe(connection)
        found = connection.execute(
            "SELECT operand_instruction, instruction, saved_bytes, leverage_bytes"
            " FROM missed_inplace()"
        ).fetchall()
    assert found == rows


@pytest.mark.parametrize(
    ("operation", "is_possible"),
    [
        (("copy", SQUARE, ""), True),
        (("copy", "f32[8,8]{0,1}", ""), False),
        (("bitcast", "f32[64]{0}", ""), True),
        (("reshape", "f32[4,16]{1,0}", ""), True),
        (("reshape", "f32[4,16]{0,1}", ""), False),
        (("transpose", SQUARE, "dimensions={1,0}"), False),
        (("transpose", "f32[8,8]{0,1}", "dimensions={1,0}"), True),
        (("broadcast", "f32[8,8]{1,0}", "dimensions={0,1}"), False),
        (("slice", SQUARE, ""), False),
    ],
)
def test_a_fusion_that_moves_places_cannot_work_in_place(
    empty_warehouse: Connection, operation: tuple[str, str, str], is_possible: bool
) -> None:
    older = Allocation(0, 4, 0, "temp", (Value(0, 0, 4, 0, 2, 4),))
    newer = Allocation(1, 4, 0, "temp", (Value(10, 0, 4, 2, 5, 4),))
    with stored(empty_warehouse, Assignment((older, newer), 6)) as connection:
        connection.execute(
            "INSERT INTO store.instruction_forms BY NAME SELECT 1 AS form_id,"
            " 'fusion' AS opcode, 'kLoop' AS fusion_kind"
        )
        fuse(connection, [operation])
        add(
            connection,
            "store.value_uses",
            module_id=MODULE,
            value_id=0,
            ordinal=0,
            instruction_id=READER,
            operand_index=0,
        )
        found = connection.execute(
            "SELECT operand_instruction, instruction FROM missed_inplace()"
        ).fetchall()
    assert found == ([("v0", "v10")] if is_possible else [])


@pytest.mark.parametrize(
    ("opcode", "older", "newer", "is_possible"),
    [
        ("add", SQUARE, SQUARE, True),
        ("copy", SQUARE, "f32[8,8]{0,1}", False),
        ("copy", "f32[8,1,8]{2,1,0}", "f32[8,1,8]{1,2,0}", True),
        (
            *("copy", "f32[8,1,8]{2,1,0:T(8,128)}"),
            *("f32[8,1,8]{1,2,0:T(8,128)}", False),
        ),
        ("convert", SQUARE, "s32[8,8]{1,0}", True),
        ("transpose", SQUARE, SQUARE, False),
    ],
)
def test_an_operation_in_place_keeps_the_layout(
    empty_warehouse: Connection, opcode: str, older: str, newer: str, is_possible: bool
) -> None:
    read = Allocation(0, 4, 0, "temp", (Value(0, 0, 4, 0, 2, 4),))
    made = Allocation(1, 4, 0, "temp", (Value(10, 0, 4, 2, 5, 4),))
    with stored(empty_warehouse, Assignment((read, made), 6)) as connection:
        add(connection, "store.instruction_forms", form_id=1, opcode=opcode)
        for value_id, shape in ((0, older), (10, newer)):
            connection.execute(
                'UPDATE store."values" SET shape = ? WHERE value_id = ?',
                [shape, value_id],
            )
        add(
            connection,
            "store.value_uses",
            module_id=MODULE,
            value_id=0,
            ordinal=0,
            instruction_id=READER,
            operand_index=0,
        )
        found = connection.execute(
            "SELECT operand_instruction, instruction FROM missed_inplace()"
        ).fetchall()
    assert found == ([("v0", "v10")] if is_possible else [])

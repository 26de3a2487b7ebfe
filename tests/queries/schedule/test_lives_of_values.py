"""How long values live around the peak: too early, too long, for nothing, in loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, add, stored

MODULE = 101


@contextmanager
def described(
    connection: Connection, *allocations: Allocation, opcode: str = "add"
) -> Iterator[Connection]:
    """Store allocations whose values are each of an instruction `opcode`."""
    with stored(connection, Assignment(allocations, 6)) as filled:
        filled.execute("UPDATE store.\"values\" SET shape = 'u8[1]{0}'")
        for form, name in ((1, opcode), (2, "multiply")):
            add(filled, "store.instruction_forms", form_id=form, opcode=name)
        yield filled


def read(connection: Connection, value: int, reader: int, step: int) -> None:
    """Record that an instruction scheduled at `step` reads a value."""
    who = {"module_id": MODULE, "instruction_id": reader}
    add(connection, "store.instructions", **who, form_id=2, schedule_step=step)
    add(connection, "store.value_uses", **who, value_id=value, ordinal=reader)


def temp(*values: Value, size: int = 64, color: int = 0) -> Allocation:
    return Allocation(9, size, color, "temp", values)


def rows(connection: Connection, query: str, *columns: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"SELECT {', '.join(columns)} FROM {query}").fetchall()


def test_a_plateau_reaches_down_to_the_tolerance(empty_warehouse: Connection) -> None:
    """Live are 8, 4, 3, 0, 4, 0, 0 bytes: half of the peak still counts as high."""
    values = (
        *(Value(1, 0, 4, 0, 0), Value(2, 8, 4, 0, 1), Value(3, 16, 3, 2, 2)),
        Value(4, 24, 4, 4, 4),
    )
    with described(empty_warehouse, temp(*values)) as connection:
        found = rows(
            connection,
            "peak_plateau(tolerance := 0.5)",
            *("from_step", "to_step", "width_steps", "max_bytes", "is_peak"),
            *("next_peak_bytes", "gain_if_removed_bytes"),
        )
    assert found == [(0, 1, 2, 8, True, 4, 4), (4, 4, 1, 4, False, 8, 0)]


@pytest.mark.parametrize(("end", "price"), [(2, 4), (3, 0), (4, 0)])
def test_operands_that_live_to_the_peak_cost_nothing_more(
    empty_warehouse: Connection, end: int, price: int
) -> None:
    """Computing a value later keeps only those longer that would be gone."""
    values = (*(Value(0, 0, 4, 0, end), Value(1, 8, 8, 1, 5), Value(2, 16, 32, 3, 3)),)
    with described(empty_warehouse, temp(*values)) as connection:
        add(
            connection,
            "store.value_uses",
            module_id=MODULE,
            value_id=0,
            ordinal=0,
            instruction_id=1,
        )
        connection.execute(
            "UPDATE store.instructions SET schedule_step = 1 WHERE instruction_id = 1"
        )
        read(connection, 1, 20, 5)
        found = rows(
            connection,
            "computed_early()",
            *("instruction", "gap_steps", "operand_bytes", "net_saving_bytes"),
        )
    assert found == [("v1", 4, price, 8 - price)]


@pytest.mark.parametrize(("kind", "saving"), [("entry", 8), ("async", 0)])
def test_what_is_done_asynchronously_is_early_on_purpose(
    empty_warehouse: Connection, kind: str, saving: int
) -> None:
    values = (Value(0, 0, 8, 1, 5), Value(1, 8, 32, 3, 3))
    with described(empty_warehouse, temp(*values), opcode="slice") as connection:
        add(connection, "computations", module_id=MODULE, computation_id=0, kind=kind)
        read(connection, 0, 20, 5)
        found = rows(connection, "computed_early()", "instruction", "net_saving_bytes")
    assert found == [("v0", saving)]


@pytest.mark.parametrize(
    ("before", "other", "reader", "expected"),
    [
        (2, 2, "multiply", [(2, True, 8)]),
        (3, 2, "multiply", []),
        (2, 3, "multiply", [(2, False, 0)]),
        (2, 2, "copy-done", [(2, False, 0)]),
    ],
)
def test_what_the_peak_needs_is_not_freed_before(
    empty_warehouse: Connection,
    before: int,
    other: int,
    reader: str,
    expected: list[tuple[int, bool, int]],
) -> None:
    """The peak is at step 3: neither what is read nor what is made there."""
    values = (Value(0, 0, 8, 1, 5), Value(1, 8, 32, 3, 3), Value(2, 40, 4, other, 5))
    with described(empty_warehouse, temp(*values)) as connection:
        connection.execute(
            "UPDATE store.instructions SET schedule_step = ? WHERE instruction_id = 2",
            [other],
        )
        read(connection, 0, 20, before)
        add(connection, "store.instruction_forms", form_id=3, opcode=reader)
        read(connection, 0, 21, 5)
        connection.execute(
            "UPDATE store.instructions SET form_id = 3 WHERE instruction_id = 21"
        )
        for index in (0, 2):
            add(
                connection,
                "operands",
                module_id=MODULE,
                instruction_id=21,
                operand_index=index,
                operand_id=index,
            )
        found = rows(
            connection,
            "late_frees() WHERE instruction = 'v0'",
            *("use_step_before", "is_movable", "net_saving_bytes"),
        )
    assert found == expected


def test_what_has_no_live_range_is_not_said_to_be_dead(
    empty_warehouse: Connection,
) -> None:
    """Nor is what is read, or is passed on under another name."""
    values = [
        Value(n, 8 * n, 4, *((None, None) if n == 1 else (1, 2))) for n in range(4)
    ]
    with described(empty_warehouse, temp(*values)) as connection:
        read(connection, 2, 20, 2)
        for ordinal in (0, 1):
            add(
                connection,
                "store.value_positions",
                module_id=MODULE,
                value_id=3,
                ordinal=ordinal,
            )
        found = rows(connection, "dead_values()", "instruction", "size_bytes")
    assert found == [("v0", 4)]


def test_what_a_loop_s_condition_is_handed_and_gives_is_not_dead(
    empty_warehouse: Connection,
) -> None:
    values = [Value(n, 8 * n, 4, 1, 2) for n in range(3)]
    with described(empty_warehouse, temp(*values)) as connection:
        add(connection, "store.instruction_forms", form_id=3, opcode="parameter")
        condition = {"computation_id": 0, "kind": "while_condition"}
        add(connection, "computations", module_id=MODULE, **condition)
        connection.execute(
            "UPDATE store.instructions SET form_id = 3 WHERE instruction_id = 0"
        )
        connection.execute(
            "UPDATE store.instructions SET is_root = TRUE WHERE instruction_id = 1"
        )
        found = rows(connection, "dead_values()", "instruction", "size_bytes")
    assert found == [("v2", 4)]


@pytest.mark.parametrize(
    ("target", "shape", "is_dead"),
    [
        ("__cublas$lt$matmul", "s8[1]{0}", False),
        ("__cudnn$convForward", "u8[1]{0}", False),
        ("__cublas$lt$matmul", "f32[1]{0}", True),
        ("ours", "s8[1]{0}", True),
    ],
)
def test_workspace_of_a_call_is_not_dead(
    empty_warehouse: Connection, target: str, shape: str, is_dead: bool
) -> None:
    values = temp(Value(0, 0, 4, 1, 2))
    with described(empty_warehouse, values, opcode="custom-call") as connection:
        connection.execute(
            "UPDATE store.instruction_forms SET element_type = 'tuple',"
            f" custom_call_target = '{target}' WHERE form_id = 1"
        )
        connection.execute(f"UPDATE store.\"values\" SET shape = '{shape}'")
        found = rows(connection, "dead_values()", "instruction")
    assert found == ([("v0",)] if is_dead else [])


def test_a_loop_needs_what_its_last_step_needs(empty_warehouse: Connection) -> None:
    """Its body has the steps 2 and 3; before and behind it there is more."""
    values = (
        *(Value(1, 0, 4, 0, 6), Value(2, 8, 8, 3, 4)),
        *(Value(3, 16, 16, 1, 1), Value(4, 32, 32, 4, 6)),
    )
    with described(empty_warehouse, temp(*values)) as connection:
        form = {"form_id": 3, "opcode": "while"}
        trips = '{"known_trip_count":{"n":"7"}}'
        add(connection, "store.instruction_forms", **form, backend_config=trips)
        loop = {"module_id": MODULE, "instruction_id": 30}
        add(connection, "store.instructions", **loop, name="while.1", form_id=3)
        add(connection, "called_computations", **loop, role="body", computation_id=5)
        for step in (2, 3):
            body = {"module_id": MODULE, "instruction_id": 40 + step}
            add(
                connection,
                "store.instructions",
                **{**body, "computation_id": 5, "form_id": 1, "schedule_step": step},
            )
        add(connection, "store.value_positions", **loop, value_id=1, ordinal=1)
        found = rows(
            connection,
            "loop_memory()",
            *("instruction", "trip_count", "carry_bytes", "body_peak_bytes"),
            *("body_extra_bytes", "body_from_step", "body_to_step"),
        )
    assert found == [("while.1", 7, 4, 12, 8, 2, 3)]

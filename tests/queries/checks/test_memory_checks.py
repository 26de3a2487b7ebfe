"""Checks of a memory analysis, reports and live ranges, on small stored modules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, add, stored

MODULE = 101


def detailed(*allocations: Allocation, steps: int = 4) -> Assignment:
    extra = {"is_detailed": True, "computation_count": 1, "name": "jit_f"}
    return Assignment(allocations, steps, extra=extra)


def faults(connection: Connection, check: str) -> list[tuple[Any, ...]]:
    return connection.execute(
        f"SELECT place, expected, found FROM {check}() ORDER BY ALL"
    ).fetchall()


@pytest.mark.parametrize(
    ("offset", "found"), [(-1, -1), (-4, -4), (0, None), (4, None), (5, 9)]
)
def test_a_value_lies_inside_its_allocation(
    empty_warehouse: Connection, offset: int, found: int | None
) -> None:
    held = Allocation(0, 8, 0, "temp", (Value(7, offset, 4, 0, 4, 4),))
    with stored(empty_warehouse, detailed(held)) as connection:
        expected = [] if found is None else [("value 7 in allocation 0", 8, found)]
        assert faults(connection, "check_value_bounds") == expected


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_what_an_async_operation_calls_may_live_from_its_start(
    empty_warehouse: Connection, start: int
) -> None:
    """And from its own step, which is 3; from no other."""
    held = Allocation(0, 8, 0, "temp", (Value(7, 0, 8, start, 4, 8),))
    with stored(empty_warehouse, detailed(held)) as connection:
        connection.execute(
            "UPDATE store.instructions SET computation_id = 5, schedule_step = 3"
        )
        forms = {1: "add", 2: "async-start", 3: "async-done"}
        for form, opcode in forms.items():
            add(connection, "store.instruction_forms", form_id=form, opcode=opcode)
        callers = {20: (2, 1), 21: (3, 2)}
        for caller, (form, step) in callers.items():
            add(
                connection,
                "store.instructions",
                module_id=MODULE,
                instruction_id=caller,
                form_id=form,
                schedule_step=step,
            )
            add(
                connection,
                "called_computations",
                module_id=MODULE,
                instruction_id=caller,
                computation_id=5,
            )
        expected = [] if start in (1, 3) else [("start of v7{}", 3, start)]
        assert faults(connection, "check_range_starts") == expected


ANALYSED = (
    Allocation(0, 64, 0, "parameter"),
    Allocation(1, 16, 1, "parameter"),
    Allocation(2, 32, 0, "live_out"),
    Allocation(3, 8, 0, "temp"),
    Allocation(4, 1024, 5, "parameter"),
    Allocation(5, 512, 5, "temp"),
)
SAID = {"argument_bytes": 80, "output_bytes": 48, "alias_bytes": 16, "temp_bytes": 8}


@pytest.mark.parametrize("wrong", [None, *SAID])
def test_a_memory_analysis_is_of_device_memory(
    empty_warehouse: Connection, wrong: str | None
) -> None:
    """What lies in host memory is none of it."""
    said = {name: size + (name == wrong) for name, size in SAID.items()}
    with stored(empty_warehouse, detailed(*ANALYSED)) as connection:
        connection.execute(
            "UPDATE allocations SET is_live_out = allocation_id IN (1, 2, 4)"
        )
        about = {"run_id": 1, "path": "memory_analysis.json", "module_name": "jit_f"}
        add(connection, "memory_analysis", **about, ordinal=0, **said)
        found = faults(connection, "check_memory_analysis")
    if wrong is None:
        assert found == []
    else:
        place = f"bytes of {wrong.removesuffix('_bytes')}"
        assert found == [(place, SAID[wrong] + 1, SAID[wrong])]


@pytest.mark.parametrize(
    ("color", "listed", "held", "hidden", "is_fault"),
    [
        (0, 50, 50, 0, False),
        (0, 50, 51, 0, True),
        (0, 51, 51, 0, False),
        (0, 51, 52, 0, False),
        (None, 51, 52, 1, False),
        (None, 51, 52, 0, True),
    ],
)
def test_a_report_of_a_memory_space_leaves_out_what_is_small(
    empty_warehouse: Connection,
    color: int | None,
    listed: int,
    held: int,
    hidden: int,
    is_fault: bool,
) -> None:
    """It doesn't say how many, so only one that lists fewer than 51 lists all."""
    allocations = [Allocation(number, 8, 0, "temp") for number in range(held)]
    with stored(empty_warehouse, detailed(*allocations)) as connection:
        about = {"module_id": MODULE, "color": color}
        add(connection, "memory_reports", **about, hidden_count=hidden)
        for number in range(listed):
            row = {"allocation_id": number, "size_bytes": 8, "size_text": "8B"}
            add(connection, "memory_report_allocations", **about, **row)
        of = "" if color is None else f" of colour {color}"
        expected = [(f"number of allocations{of}", listed + hidden, held)]
        found = faults(connection, "check_report_allocations")
    assert found == (expected if is_fault else [])


@pytest.mark.parametrize(("end", "is_fault"), [(3, False), (4, False), (5, True)])
def test_a_range_ends_with_the_schedule(
    empty_warehouse: Connection, end: int, is_fault: bool
) -> None:
    """At the latest behind its last step, where results are handed out."""
    held = Allocation(0, 8, 0, "temp", (Value(7, 0, 8, 0, end, 8),))
    with stored(empty_warehouse, detailed(held, steps=end)) as connection:
        for step in range(4):
            add(connection, "store.schedule", module_id=MODULE, step=step)
        rows = connection.execute(
            "SELECT check_name, expected, found"
            " FROM self_consistency(only_faults := true)"
        ).fetchall()
    assert rows == ([("order", 0, 1)] if is_fault else [])


@pytest.mark.parametrize(("index", "is_fault"), [(3, False), (2, True)])
def test_a_use_may_read_an_element_that_no_assignment_names(
    empty_warehouse: Connection, index: int, is_fault: bool
) -> None:
    """The value is element 3 of a tuple; texts since 2026-07 imply its reader."""
    held = Allocation(0, 8, 0, "temp", (Value(7, 0, 8, 0, 4, 8),))
    with stored(empty_warehouse, detailed(held)) as connection:
        of = {"module_id": MODULE}
        form = {"opcode": "get-tuple-element", "attributes": f"index={index}"}
        add(connection, "store.instruction_forms", form_id=1, **form)
        for instruction, name in {20: "while", 21: "while_3", 22: "reader"}.items():
            row = {"instruction_id": instruction, "name": name, "computation_id": 5}
            add(connection, "store.instructions", **of, **row, form_id=1)
        for reader, operand in {21: 20, 22: 21}.items():
            row = {"instruction_id": reader, "operand_index": 0, "operand_id": operand}
            add(connection, "operands", **of, **row)
        value = {**of, "value_id": 7}
        place = {"ordinal": 5, "instruction_id": 20, "shape_index": "{3}"}
        add(connection, "store.value_positions", **value, **place)
        use = {"ordinal": 5, "instruction_id": 22, "operand_index": 0}
        add(connection, "store.value_uses", **value, **use)
        found = [place for place, *_ in faults(connection, "check_uses")]
    assert found == (["operand 0 of reader, value 7"] if is_fault else [])


@pytest.mark.parametrize(
    ("reader", "operand", "is_fault"),
    [
        ("async-collective-done.2", 0, False),
        ("async-collective-done.2", 1, True),
        ("reader", 0, True),
    ],
)
def test_what_a_collective_sends_may_outlive_it(
    empty_warehouse: Connection, reader: str, operand: int, is_fault: bool
) -> None:
    held = Allocation(0, 8, 0, "temp", (Value(7, 0, 8, 0, 3, 8),))
    with stored(empty_warehouse, detailed(held, steps=6)) as connection:
        of = {"module_id": MODULE}
        add(connection, "store.instruction_forms", form_id=1, opcode="fusion")
        for number, name in {20: reader, 21: "last"}.items():
            row = {"instruction_id": number, "name": name, "computation_id": 5}
            step = {20: 1, 21: 5}[number]
            add(
                connection,
                "store.instructions",
                **of,
                **row,
                form_id=1,
                schedule_step=step,
            )
            add(connection, "store.schedule", **of, instruction_id=number, step=step)
        use = {"ordinal": 5, "instruction_id": 20, "operand_index": operand}
        add(connection, "store.value_uses", **of, value_id=7, **use)
        found = faults(connection, "check_range_ends")
    assert found == ([("end of v7{}", 1, 3)] if is_fault else [])

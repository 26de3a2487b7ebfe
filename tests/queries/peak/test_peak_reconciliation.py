"""Whose the peak is, and which number says what of it, on small modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import AFTER, write
from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, add, stored

MODULE = 101
ANALYSIS = {
    "run_id": 1,
    "path": "memory_analysis.json",
    "module_name": "jit_f",
    "argument_bytes": 10,
    "output_bytes": 8,
    "alias_bytes": 2,
    "temp_bytes": 6,
    "peak_bytes": 21,
}


def test_a_parameter_has_the_role_that_its_own_name_tells(
    empty_warehouse: Connection,
) -> None:
    """Not that of a parameter of the same number, of what is called."""
    allocations = (
        Allocation(0, 8, 0, "parameter", (Value(0, 0, 8, 0, 2),)),
        Allocation(1, 16, 0, "parameter", (Value(1, 0, 16, 0, 2),)),
    )
    assignment = Assignment(allocations, 2, extra={"entry_computation_id": 0})
    names = ("batch", "params['kernel']", "z.params['kernel']", "zzz")
    with stored(empty_warehouse, assignment) as connection:
        connection.execute("UPDATE allocations SET parameter_number = allocation_id")
        for form, name in enumerate(names):
            parameter = {"opcode": "parameter", "parameter_number": form % 2}
            add(
                connection,
                "store.instruction_forms",
                **parameter,
                form_id=form,
                op_name=name,
            )
            if form < 2:
                connection.execute(
                    "UPDATE store.instructions SET form_id = ?"
                    " WHERE instruction_id = ?",
                    [form, form],
                )
                continue
            add(
                connection,
                "store.instructions",
                module_id=MODULE,
                instruction_id=10 + form,
                computation_id=7,
                form_id=form,
            )
        rows = connection.execute(
            "SELECT role, rule_id, owned_bytes, value_count, largest_instruction"
            " FROM peak_by_role()"
        ).fetchall()
    assert rows == [
        ("weights", "params", 16, 1, "v1"),
        ("inputs", "argument", 8, 1, "v0"),
    ]


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        (
            1,
            [
                ("memory_analysis_sum", 22, 2),
                ("memory_analysis_peak", 21, 1),
                ("temp", 20, 0),
                ("memory_analysis_temp", 6, -14),
            ],
        ),
        (2, []),
        (0, []),
    ],
)
def test_of_two_analyses_of_a_name_none_speaks_of_a_module(
    empty_warehouse: Connection, said: int, numbers: list[tuple[str, int, int]]
) -> None:
    held = Allocation(0, 20, 0, "temp", (Value(0, 0, 20, 0, 1),))
    with stored(
        empty_warehouse, Assignment((held,), 1, extra={"name": "jit_f"})
    ) as connection:
        for ordinal in range(said):
            add(connection, "memory_analysis", **ANALYSIS, ordinal=ordinal)
        rows = connection.execute(
            "SELECT definition, bytes, delta_bytes FROM peak_reconciliation()"
        ).fetchall()
    assert rows == [
        ("printed_total", 20, 0),
        ("reserved", 20, 0),
        ("live_peak", 20, 0),
        ("arguments_outputs_temps", 20, 0),
        *numbers,
    ]


def test_an_analysis_of_a_name_that_two_modules_have_speaks_of_none(
    empty_warehouse: Connection,
) -> None:
    held = Allocation(0, 20, 0, "temp", (Value(0, 0, 20, 0, 1),))
    one = Assignment((held,), 1, extra={"name": "jit_f"})
    with stored(empty_warehouse, one, one) as connection:
        add(connection, "memory_analysis", **ANALYSIS, ordinal=0)
        rows = connection.execute(
            "SELECT definition FROM peak_reconciliation()"
            " WHERE definition LIKE 'memory_analysis%'"
        ).fetchall()
    assert rows == []


COPIES = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %p = f32[4]{0} parameter(0)
  %c = f32[4]{0} constant({1, 2, 3, 4})
  %n = f32[4]{0} negate(%p)
  %of_parameter = f32[4]{0} copy(%p)
  %of_constant = f32[4]{0} copy(%c)
  %of_result = f32[4]{0} copy(%n)
  %near = f32[4]{0:S(1)} copy(%n)
  ROOT %all = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(%of_parameter, %of_constant, %of_result)
}
"""  # noqa: E501


def test_what_is_handed_out_as_it_was_handed_in_is_copied(tmp_path: Path) -> None:
    """A parameter or a constant; what is computed is copied for another reason."""
    dump = write(tmp_path / "dump", {f"{AFTER}.txt": COPIES.encode()})
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "copy_census").dicts()
    # What is live at the peak is not known: there is no buffer assignment.
    shown = "instruction", "reason", "copied_bytes", "at_peak_bytes"
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("of_parameter", "output", 16, None),
        ("of_constant", "output", 16, None),
        ("of_result", "interference", 16, None),
        ("near", "space", 16, None),
    ]

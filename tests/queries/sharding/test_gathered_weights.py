"""Which values an all-gather put together from a parameter, on a small module."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect, transaction
from tests.queries.assignments import Allocation, Assignment, Value
from tests.queries.stored import Connection, add, stored

TEXT = """\
HloModule jit_f, is_scheduled=true

%wrapped.1 (p: f32[4]) -> f32[8] {
  %p = f32[4]{0} parameter(0)
  ROOT %gather.1 = f32[8]{0} all-gather(%p), replica_groups={{0,1}}, dimensions={0}
}

%wrapped.2 (q: f32[4]) -> f32[8] {
  %q = f32[4]{0} parameter(0)
  ROOT %gather.2 = f32[8]{0} all-gather(%q), replica_groups={{0,1}}, dimensions={0}
}

ENTRY %main (w: f32[4], x: f32[4]) -> (f32[8], f32[8], f32[8], f32[8]) {
  %w = f32[4]{0} parameter(0)
  %x = f32[4]{0} parameter(1)
  %sum = f32[4]{0} add(%x, %x)
  %start.1 = ((f32[4]{0}), f32[8]{0}) async-start(%w), calls=%wrapped.1
  %done.1 = f32[8]{0} async-done(%start.1)
  %copy.1 = f32[8]{0} copy(%done.1)
  %start.2 = ((f32[4]{0}), f32[8]{0}) async-start(%sum), calls=%wrapped.2
  %done.2 = f32[8]{0} async-done(%start.2)
  %copy.2 = f32[8]{0} copy(%done.2)
  %pair = (f32[8]{0}, f32[8]{0}) all-gather(%sum, %w), replica_groups={{0,1}}
  %first = f32[8]{0} get-tuple-element(%pair), index=0
  %second = f32[8]{0} get-tuple-element(%pair), index=1
  %copy.3 = f32[8]{0} copy(%first)
  %copy.4 = f32[8]{0} copy(%second)
  ROOT %all = (f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%copy.1, %copy.2, %copy.3, %copy.4)
}
"""  # noqa: E501

VALUES = [
    *(("gather.1", None), ("gather.2", None)),
    *(("pair", index) for index in ("{}", "{0}", "{1}")),
    *((f"copy.{number}", None) for number in range(1, 5)),
]


@pytest.mark.parametrize("op_name", ["", "xla__device_data"])
def test_an_operand_is_followed_to_the_parameter_it_comes_from(
    tmp_path: Path, op_name: str
) -> None:
    """Through what is called, and each operand of a gather of several by itself.

    PyTorch/XLA calls every argument the same, so that its own name tells more.
    """
    weight = "%w = f32[4]{0} parameter(0)"
    text = TEXT.replace(weight, f'{weight}, metadata={{op_name="{op_name}"}}')
    dump, db = tmp_path / "dump", tmp_path / "w.duckdb"
    dump.mkdir()
    (dump / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(text)
    ingest([str(dump)], db, jobs=1)
    with transaction(db) as connection:
        for value_id, (name, index) in enumerate(VALUES):
            connection.execute(
                'INSERT INTO store."values" BY NAME SELECT module_id, instruction_id,'
                " ? AS value_id, ? AS shape_index FROM instructions WHERE name = ?",
                [value_id, index, name],
            )
    with connect(db) as connection:
        rows = run_query(connection, "gathered_values").rows
    found = {(*VALUES[value_id], *said) for _, value_id, *said in rows}
    assert found == {
        ("gather.1", None, "gather.1", "w"),
        ("copy.1", None, "gather.1", "w"),
        ("pair", "{1}", "pair", "w"),
        ("copy.4", None, "pair", "w"),
    }


@pytest.mark.parametrize(("reads", "first"), [((1, 3, 4), 3), ((1,), None)])
def test_a_gathered_weight_is_early_until_another_reads_it(
    empty_warehouse: Connection, reads: tuple[int, ...], first: int | None
) -> None:
    """What gathers it may read it, too, as the start of an async operation does."""
    weight = Value(0, 0, 4, 0, 5)
    gathered = Value(1, 0, 8, 1, 4)
    allocations = (
        Allocation(0, 4, 0, "parameter", (weight,)),
        Allocation(1, 8, 0, "temp", (gathered,)),
    )
    with stored(empty_warehouse, Assignment(allocations, 5)) as connection:
        forms = {1: ("parameter", "w"), 2: ("all-gather", None), 3: ("add", None)}
        for form, (opcode, name) in forms.items():
            row = {"form_id": form, "opcode": opcode, "op_name": name}
            add(connection, "store.instruction_forms", **row)
        connection.execute(
            "UPDATE store.instructions SET form_id = 1 + instruction_id,"
            " schedule_step = instruction_id"
        )
        gather = {"module_id": 101, "instruction_id": 1}
        add(connection, "operands", **gather, operand_index=0, operand_id=0)
        for step in reads:
            reader = {"module_id": 101, "instruction_id": 20 + step}
            add(
                connection,
                "store.instructions",
                **reader,
                form_id=3,
                schedule_step=step,
            )
            add(connection, "store.value_uses", **reader, value_id=1, ordinal=step)
        rows = connection.execute(
            "SELECT weight, instruction, gather_instruction, owned_bytes, peak_ratio,"
            " start_step, first_use_step, prefetch_steps"
            " FROM gathered_weights_at_peak()"
        ).fetchall()
    steps = (None, None) if first is None else (first, first - 1)
    assert rows == [("w", "v1", "v1", 8, 8 / 12, 1, *steps)]

"""What fusions write, save and recompute, compared with shapes and assignments."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.formats.shapes import ELEMENT_BITS, Shape, parse_shape
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import AFTER, write

Connection = duckdb.DuckDBPyConnection

TPU = "v5e-jax-0.10.2"
TUPLES = (
    "()",
    "(f32[], (pred[3]{0}, token[]), /*index=2*/f32[<=8,2]{1,0:T(8,128)S(1)})",
    "(s4[5]{0:T(128)E(4)}, s4[5]{0}, bf16[?,2]{1,0}, f32[0]{0})",
    f"({', '.join(f'{name}[3]' for name in ELEMENT_BITS if name != 'opaque')})",
)


def arrays(shape: Shape) -> list[int]:
    """Return the sizes of a shape's arrays, 0 where one is unknown."""
    if shape.elements is None:
        return [shape.logical_bytes or 0]
    return [size for element in shape.elements for size in arrays(element)]


def test_arrays_of_tuples_are_those_that_ingest_reads(warehouse: Connection) -> None:
    expected = {}
    for number, text in enumerate(TUPLES):
        shape = parse_shape(text)
        assert shape is not None
        sizes = arrays(shape)
        if sizes:
            expected[text] = (len(sizes), sum(sizes))
        warehouse.execute(
            "INSERT INTO store.instruction_forms BY NAME SELECT ? AS form_id, ? AS"
            " shape, ? AS element_type",
            [number, text, shape.element_type],
        )
    found = warehouse.execute("FROM tuple_sizes()").fetchall()
    assert {row[0]: row[1:] for row in found} == expected


@pytest.mark.parametrize(
    ("run", "stated"),
    [
        (TPU, [("jit_gpt_fsdp", "fusion.367", 11, 24_117_280, 2_621_440)]),
        ("jaxlib-0.10.2", [("jit_cnn", "wrapped_reduce-window", 5, 2_621_440, 0)]),
    ],
)
def test_a_fusion_writes_the_values_that_its_assignment_gives_it(
    reading: Connection, run: str, stated: list[tuple[object, ...]]
) -> None:
    """Also where it passes parameters on, or its root has several results."""
    assert_written(reading, run)
    found = run_query(reading, "fusion_profile", {"run": run, "top": 10_000}).dicts()
    shown = ("program", "instruction", "output_count", "written_bytes", "saved_bytes")
    rows = [tuple(row[name] for name in shown) for row in found]
    assert set(stated) <= set(rows)
    assert min(row["saved_bytes"] for row in found) == 0


def test_a_fusion_of_a_gpu_writes_what_its_assignment_says(gpu_warehouse: Path) -> None:
    with connect(gpu_warehouse) as connection:
        for run in ("jaxlib-0.5.3", "jaxlib-0.7.2", "jaxlib-0.10.2"):
            assert_written(connection, run)


def assert_written(connection: Connection, run: str) -> None:
    asked: dict[str, Value] = {"run": run, "top": 10_000}
    found = run_query(connection, "fusion_profile", asked).dicts()
    values = connection.execute(
        """
        SELECT m.program, i.name, count(*), CAST(sum(v.logical_bytes) AS BIGINT)
        FROM runs AS r
        JOIN modules AS m USING (run_id)
        JOIN instructions AS i USING (module_id)
        JOIN "values" AS v USING (module_id, instruction_id)
        WHERE r.name = ? AND i.opcode = 'fusion' AND v.shape NOT LIKE '(%'
        GROUP BY m.module_id, m.program, i.name
        """,
        [run],
    ).fetchall()
    shown = ("program", "instruction", "output_count", "written_bytes")
    written = {tuple(row[name] for name in shown) for row in found}
    assert values
    assert set(values) - written == set()


def test_a_recomputed_operation_counts_once_however_it_is_fused(
    reading: Connection,
) -> None:
    """Not again as the fusion that has its op_name from it; in all as its loop runs."""
    asked: dict[str, Value] = {"run": TPU, "program": "jit_gpt_scan_remat", "top": 1000}
    found = run_query(reading, "remat_census", asked).dicts()
    shown = ("clone_count", "in_fusion_count", "recomputed_bytes", "flop", "total_flop")
    rows = {
        row["original"].partition("/rematted_computation/")[2]: tuple(
            row[name] for name in shown
        )
        for row in found
    }
    mlp, values = 134_217_728, 16_777_216
    assert rows["mlp/dot_general"] == (1, 1, 1_048_576, mlp, 2 * mlp)
    assert rows["attn/bhts,bshd->bthd/dot_general"] == (
        1,
        1,
        131_072,
        values,
        2 * values,
    )
    counts = [(row["clone_count"], row["in_fusion_count"]) for row in found]
    assert [sum(column) for column in zip(*counts, strict=True)] == [157, 149]


REMATTED = """\
HloModule jit_f

ENTRY %main (p: f32[64]) -> (f32[8,8], s8[4096]) {
  %p = f32[64]{0} parameter(0)
  %b = f32[8,8]{1,0} bitcast(%p), metadata={op_name="rematted_computation/f"}
  ROOT %c = (f32[8,8]{1,0}, s8[4096]{0}) custom-call(%b, %b), \
custom_call_target="__cublas$lt$matmul", metadata={op_name="rematted_computation/f"}, \
backend_config={"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}
}
"""


def test_what_names_a_value_recomputes_nothing(tmp_path: Path) -> None:
    """But the call of a library does."""
    dump = write(tmp_path / "dump", {f"{AFTER}.txt": REMATTED.encode()})
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        [row] = run_query(connection, "remat_census").dicts()
    work = 2 * 8 * 8 * 8
    shown = ("clone_count", "in_fusion_count", "flop", "total_flop", "greatest_flop")
    assert tuple(row[name] for name in shown) == (1, 0, work, work, work)

"""Work of dots and convolutions: what XLA's cost analysis counts of them."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.dumps import AFTER, write

BATCHES = (
    "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},"
    " rhs_contracting_dims={1}"
)


def work(folder: Path, operations: list[tuple[str, str, str, str]]) -> list[int]:
    """Return the work of each operation: left, right, result, and what it is."""
    text = ["HloModule jit_f", "", "ENTRY %main () -> f32[] {"]
    for number, (left, right, result, attributes) in enumerate(operations):
        opcode = "convolution" if "dim_labels" in attributes else "dot"
        shape = f"f32[{result}]"
        if "custom_call_target" in attributes:
            opcode, shape = "custom-call", f"({shape}, s8[4096])"
        text += [
            f"  %l.{number} = f32[{left}] parameter({2 * number})",
            f"  %r.{number} = f32[{right}] parameter({2 * number + 1})",
            f"  %w.{number} = {shape} {opcode}(%l.{number}, %r.{number}), {attributes}",
        ]
    text += ["  ROOT %end = f32[] constant(0)", "}", ""]
    files = {f"{AFTER}.txt": "\n".join(text).encode()}
    ingest([str(write(folder / "dump", files))], folder / "w.duckdb", jobs=1)
    with connect(folder / "w.duckdb") as connection:
        rows = run_query(connection, "dot_work").dicts()
    return [row["flop"] for row in sorted(rows, key=lambda r: r["instruction_id"])]


def window(text: str, labels: str) -> str:
    return f"window={{{text}}}, dim_labels={labels}"


def test_what_compilers_print(tmp_path: Path) -> None:
    """On TPU a dot is a convolution, its batch a dilated dimension of that."""
    batch = window("size=8 stride=7 lhs_dilate=8", "0bf_0io->0bf")
    full = window("size=3x4 pad=2_2x3_3 rhs_reversal=1x1", "bf01_01oi->b01f")
    same = window("size=3x3 pad=1_1x1_1", "b01f_01io->b01f")
    large = window("size=100000 stride=99999 lhs_dilate=100000", "0bf_0io->0bf")
    batched = ("8,256,64", "8,64,256", "8,256,256")
    operations = [
        (*batched, BATCHES),
        (*batched, batch),
        ("100000,2,3", "100000,3,4", "100000,2,4", large),
        ("512,64", "64,8", "512,8", "dim_labels=bf_io->bf"),
        ("8,128,1,1", "3,4,32,128", "8,3,4,32", full),
        ("8,32,32,16", "3,3,1,16", "8,32,32,16", f"{same}, feature_group_count=16"),
    ]
    assert work(tmp_path, operations) == [
        *[2 * 8 * 256 * 256 * 64] * 2,
        2 * 100_000 * 2 * 3 * 4,
        2 * 512 * 8 * 64,
        2 * 8 * 3 * 4 * 32 * 128,
        2 * 8 * 16 * (3 * 32 - 2) ** 2,
    ]


def test_calls_of_gpu_libraries_work_too(tmp_path: Path) -> None:
    """Backwards, a convolution does the work that it does forwards."""
    matmul = (
        'custom_call_target="__cublas$lt$matmul", backend_config='
        '{"gemm_backend_config":{"dot_dimension_numbers":'
        '{"lhs_contracting_dimensions":["0"],"rhs_contracting_dimensions":["0"]}}}'
    )
    strided = window("size=3x3 stride=2x2", "b01f_o01i->b01f")
    image, kernel, result = "8,9,9,32", "64,3,3,8", "8,4,4,64"

    def convolution(name: str) -> str:
        target = f'custom_call_target="__cudnn${name}"'
        return f"{strided}, feature_group_count=4, {target}"

    operations = [
        ("96,64", "96,32", "64,32", matmul),
        (image, kernel, result, convolution("convForward")),
        (image, kernel, result, convolution("convBiasActivationForward")),
        (result, kernel, image, convolution("convBackwardInput")),
        (image, result, kernel, convolution("convBackwardFilter")),
        ("9", "9", "9", 'custom_call_target="__cudnn$norm"'),
    ]
    forwards = 2 * (8 * 4 * 4 * 64) * (3 * 3 * 8)
    assert work(tmp_path, operations) == [2 * 64 * 32 * 96, *[forwards] * 4]


def test_padding_and_holes_are_no_work(tmp_path: Path) -> None:
    operations, expected = [], []
    for left, size, stride, low, high, holes, gaps in product(
        (1, 4), (1, 3), (1, 2, 7), (-1, 0, 2), (0, 1), (1, 3, 5), (1, 2)
    ):
        padded = (left - 1) * holes + 1 + low + high
        result = (padded - (size - 1) * gaps - 1) // stride + 1
        if result < 1:
            continue
        pairs = [
            o * stride + k * gaps - low for o in range(result) for k in range(size)
        ]
        met = [pair for pair in pairs if pair in range(0, left * holes, holes)]
        expected.append(2 * 5 * 7 * 11 * len(met))
        text = (
            f"size={size} stride={stride} pad={low}_{high} lhs_dilate={holes}"
            f" rhs_dilate={gaps}"
        )
        what = window(text, "b0f_0io->b0f")
        operations.append((f"5,{left},7", f"{size},7,11", f"5,{result},11", what))
    assert work(tmp_path, operations) == expected


@pytest.mark.parametrize("target", ["cpu", "v5e"])
def test_branches_loops_and_fusions_in_fusions_count_as_xla_counts(
    tmp_path: Path, target: str
) -> None:
    """XLA adds element-wise operations, here less than a hundredth of the products."""
    counted = json.loads((DATA / "work" / f"{target}.json").read_text())
    ingest([str(DATA / "work" / f"{target}.tar.xz")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        work = {
            (row["module_id"], row["computation_id"]): row["flop"]
            for row in run_query(connection, "computation_work").dicts()
        }
        entries = connection.execute(
            "SELECT program, module_id, entry_computation_id FROM modules"
        ).fetchall()
    found = {
        program: work[module_id, computation_id]
        for program, module_id, computation_id in entries
    }
    assert found.keys() == counted.keys()
    for program, flop in counted.items():
        assert 0.99 * flop <= found[program] <= flop, program


@pytest.mark.slow
def test_whole_programs_have_the_work_of_all_they_call(gold_warehouse: Path) -> None:
    """These have no conditional: each product counts once, in whatever it is."""
    with connect(gold_warehouse) as connection:
        (run,) = connection.execute(
            "SELECT name FROM runs WHERE platform = 'tpu'"
        ).fetchone() or ("",)
        asked: dict[str, Value] = {"run": run}
        work = {
            (row["module_id"], row["computation_id"]): row["flop"]
            for row in run_query(connection, "computation_work", asked).dicts()
        }
        products: dict[int, int] = defaultdict(int)
        for row in run_query(connection, "product_work", asked).dicts():
            products[row["module_id"]] += row["flop"]
        entries = dict(
            connection.execute(
                "SELECT module_id, entry_computation_id FROM modules"
            ).fetchall()
        )
    assert len(products) > 5
    assert {m: work[m, entries[m]] for m in products} == products

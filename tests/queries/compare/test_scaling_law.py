"""Laws of memory over sizes: made-up ones, against numpy, and foretelling JAX."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.occurrences import store_modules
from tests.queries.assignments import Allocation, Assignment
from tests.queries.stored import Connection, add, examples, stored

Row = dict[str, object]


def compiled(sizes: dict[str, int], size_bytes: int, key: int) -> Assignment:
    """Return a module of one allocation; `sizes` are dimensions of its parameters."""
    layout = "(f32[{b},{t}]{{1,0}}, s32[{b}]{{0}}, bf16[7,{w}]{{1,0}})->f32[{b}]{{0}}"
    filled = layout.format(**{"b": 2, "t": 3, "w": 5, **sizes})
    extra = {"entry_layout": filled, "program_key": key}
    return Assignment((Allocation(0, size_bytes, 0, "temp"),), 1, extra=extra)


def laws(
    connection: Connection, modules: Sequence[Assignment], **asked: Value
) -> list[Row]:
    """Return the laws of reserved bytes found on modules of one run."""
    with stored(connection, *modules):
        found = run_query(connection, "scaling_law", asked).dicts()
    return [row for row in found if row["part"] == "reserved"]


def of_batches(bytes_of: dict[int, int]) -> list[Assignment]:
    return [compiled({"b": b}, size, b) for b, size in bytes_of.items()]


@pytest.mark.slow
@examples
@given(
    coefficients=st.tuples(
        st.integers(0, 10**6), st.integers(0, 10**5), st.integers(0, 1000)
    ),
    sizes=st.sets(st.integers(1, 64), min_size=4, max_size=7),
    limit=st.integers(0, 10**8),
)
def test_a_law_without_noise_is_found(
    empty_warehouse: Connection,
    coefficients: tuple[int, int, int],
    sizes: set[int],
    limit: int,
) -> None:
    a, b, c = coefficients
    law = {size: a + b * size + c * size * size for size in sizes}
    if not any(law.values()):
        return
    [row] = laws(empty_warehouse, of_batches(law), limit_bytes=limit)
    assert (row["axis"], row["other_axes"]) == ("0[0], 1[0]", None)
    assert (row["min_size"], row["max_size"]) == (min(sizes), max(sizes))
    assert row["size_count"] == len(sizes)
    tolerance = 1e-5 * max(law.values()) + 1
    for size, size_bytes in law.items():
        assert foretold(row, size) == pytest.approx(size_bytes, abs=tolerance)
    if b + c:
        fitting = next(n for n in range(10**9) if foretold(row, n + 1) > limit)
        assert row["largest_size"] == pytest.approx(fitting, abs=1)


def foretold(row: Row, size: int) -> float:
    constant, linear, quadratic = (
        float(str(row[f"{term}_bytes"])) for term in ("constant", "linear", "quadratic")
    )
    return constant + linear * size + quadratic * size * size


@pytest.mark.slow
@examples
@given(
    bytes_of=st.dictionaries(
        st.integers(1, 64), st.integers(0, 10**6), min_size=3, max_size=7
    )
)
def test_a_law_amid_noise_is_that_of_numpy(
    empty_warehouse: Connection, bytes_of: dict[int, int]
) -> None:
    found = laws(empty_warehouse, of_batches(bytes_of))
    if not any(bytes_of.values()):
        assert found == []
        return
    [row] = found
    variance, terms = fitted_by_numpy(bytes_of)
    residuals = [size - foretold(row, at) for at, size in bytes_of.items()]
    used = sum(
        row[f"{term}_bytes"] != 0 for term in ("constant", "linear", "quadratic")
    )
    assert used <= terms
    squares = sum(residual**2 for residual in residuals)
    assert squares / (len(bytes_of) - terms) == pytest.approx(variance, rel=1e-3, abs=9)
    assert row["max_residual_bytes"] == pytest.approx(
        max(map(abs, residuals)), rel=1e-3, abs=3
    )


def fitted_by_numpy(bytes_of: dict[int, int]) -> tuple[float, int]:
    """Return the least residual variance of all laws without negative coefficients."""
    x = np.array([*bytes_of], float) / max(bytes_of)
    y = np.array([*bytes_of.values()], float)
    found = []
    for terms in (1, 2, 3):
        for powers in combinations((0, 1, 2), terms):
            if len(x) > terms:
                matrix = np.stack([x**power for power in powers], axis=1)
                solution, *_ = np.linalg.lstsq(matrix, y, rcond=None)
                if (solution >= 0).all():
                    squares = float(((y - matrix @ solution) ** 2).sum())
                    found.append((squares / (len(x) - terms), terms))
    return min(found)


@pytest.mark.slow
def test_dimensions_that_rise_in_step_are_one_axis(empty_warehouse: Connection) -> None:
    """Of two axes each has a law for every size of the other."""
    modules = [
        compiled({"b": b, "t": t, "w": 2 * t + 1}, 100 * b * t, 10 * b + t)
        for b in (2, 4, 8)
        for t in (3, 5, 6, 9)
    ]
    found = laws(empty_warehouse, modules)
    shown = [(row["axis"], row["other_axes"], row["linear_bytes"]) for row in found]
    assert shown == [
        *(("0[0], 1[0]", f"0[1], 2[1] = {t}", 100.0 * t) for t in (3, 5, 6, 9)),
        *(("0[1], 2[1]", f"0[0], 1[0] = {b}", 100.0 * b) for b in (2, 4, 8)),
    ]


def test_too_few_sizes_are_no_law(empty_warehouse: Connection) -> None:
    two = of_batches({2: 10, 4: 20})
    assert laws(empty_warehouse, two) == []
    [row] = laws(empty_warehouse, two, min_sizes=2)
    assert foretold(row, 3) == 15


def test_programs_of_one_name_have_laws_of_their_own(
    empty_warehouse: Connection,
) -> None:
    """As PyTorch's have: what they were before optimisations tells them apart."""
    sizes = [(count, b) for count in (30, 70) for b in (2, 4, 8)]
    modules = [compiled({"b": b}, n * b, 1000 * n + b) for n, b in sizes]
    sources = [
        {
            "run_id": 1,
            "module_id": 500 + number,
            "path": f"module_{number:04}.before_optimizations.txt",
            "module_number": number,
            "part": 0,
            "name": "jit_f",
            "program": "jit_f",
            "stage": "before_optimizations",
            "instruction_count": count,
        }
        for number, (count, _) in enumerate(sizes, 1)
    ]
    with stored(empty_warehouse, *modules) as connection:
        store_modules(connection, sources)
        found = run_query(connection, "scaling_law").dicts()
        [[run]] = connection.execute("SELECT name FROM runs").fetchall()
    rows = [row for row in found if row["part"] in ("reserved", "temp")]
    said = ("example_run", "module_number", "part", "linear_bytes", "size_count")
    assert [tuple(row[name] for name in said) for row in rows] == [
        (run, 3, "reserved", 30.0, 3),
        (run, 3, "temp", 30.0, 3),
        (run, 6, "reserved", 70.0, 3),
        (run, 6, "temp", 70.0, 3),
    ]


@pytest.mark.parametrize("have_instructions", [True, False])
def test_lambdas_of_other_opcodes_are_no_sizes_of_one(
    empty_warehouse: Connection, have_instructions: bool
) -> None:
    """Equally many instructions, and parameters that differ in one size."""
    opcodes = ("sine", "cosine", "negate", "sine", "sine")
    modules = [compiled({"b": b}, 100 * b, b) for b in (2, 4, 8, 16, 32)]
    with stored(empty_warehouse, *modules) as connection:
        for number, opcode in enumerate(opcodes, 1):
            source = {
                "run_id": 1,
                "module_id": 500 + number,
                "path": f"module_{number:04}.before_optimizations.txt",
                "module_number": number,
                "part": 0,
                "name": "jit_f",
                "program": "jit_f",
                "stage": "before_optimizations",
                "instruction_count": 1,
            }
            store_modules(connection, [source])
            form = {"form_id": 500 + number, "form_key": 500 + number}
            add(connection, "store.instruction_forms", **form, opcode=opcode)
            if have_instructions or number > 1:
                row = {"module_id": 500 + number, "instruction_id": 0}
                row |= {"computation_id": 0, "form_id": 500 + number}
                add(connection, "store.instructions", **row, name="y", position=0)
        found = run_query(connection, "scaling_law").dicts()
    sizes = [r["size_count"] for r in found if r["part"] == "reserved"]
    assert sizes == ([3] if have_instructions else [5])


@pytest.fixture(scope="module")
def compiled_at_sizes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    db = tmp_path_factory.mktemp("sizes") / "w.duckdb"
    ingest([str(DATA / "sizes" / f"{name}.tar.xz") for name in ("cpu", "v5e")], db)
    with connect(db) as connection:
        yield connection


@pytest.mark.parametrize(("platform", "backend"), [("cpu", "cpu"), ("tpu", "v5e")])
def test_what_jax_says_of_other_sizes_is_foretold(
    compiled_at_sizes: Connection, platform: str, backend: str
) -> None:
    found = run_query(compiled_at_sizes, "scaling_law", {"color": 0}).dicts()
    by_axis = {
        (row["axis"], row["other_axes"], row["part"]): row
        for row in found
        if row["platform"] == platform
    }
    for said in json.loads((DATA / "sizes" / f"{backend}.json").read_text()):
        batch, length = said["batch"], said["length"]
        if length == 256:
            axes, size = ("4[0], 5[0]", "4[1], 5[1] = 256"), batch
        else:
            axes, size = ("4[1], 5[1]", "4[0], 5[0] = 16"), length
        arguments = foretold(by_axis[*axes, "parameter"], size)
        assert round(arguments) == said["argument_bytes"]
        if platform == "cpu":
            assert round(foretold(by_axis[*axes, "temp"], size)) == said["temp_bytes"]

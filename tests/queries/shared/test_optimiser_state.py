"""What an optimiser keeps, in programs of JAX whose arguments have no telling names."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.warehouse import Warehouse
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

WEIGHTS = 4 * (64 * 128 + 128 * 32 + 128)
MEAN = 4 * 128
JUDGE = 4 * (32 * 128 + 128)
COUNT = 4


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("updates") / "w.duckdb"
    ingest([str(DATA / "updates" / "cpu.tar.xz")], path, jobs=1)
    with open_warehouse(path) as opened:
        yield opened


def donated(warehouse: Warehouse, program: str) -> dict[str, int]:
    """Bytes at the peak of weights and of the optimiser's state, without copies."""
    rows = warehouse.query("peak_by_role", program=program).dicts()
    return {
        row["role"]: row["owned_bytes"]
        for row in rows
        if row["rule_id"] in ("donated", "state_by_readers")
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", ["bare", "accumulating", "skipping", "mixed_update", "running"]
)
def test_what_only_updates_read_is_state(warehouse: Warehouse, step: str) -> None:
    """Adam keeps two arrays for each; means of activations are none of gradients."""
    expected = {"optimiser_state": 2 * WEIGHTS, "weights": WEIGHTS + COUNT}
    if step == "running":
        expected = {"optimiser_state": WEIGHTS, "weights": WEIGHTS + MEAN}
    assert donated(warehouse, f"jit_{step}") == expected


@pytest.mark.parametrize(
    ("step", "read"), [("adversarial", WEIGHTS - MEAN + JUDGE), ("nested", 2 * WEIGHTS)]
)
def test_weights_that_others_are_updated_by_are_weights(
    warehouse: Warehouse, step: str, read: int
) -> None:
    """The bias in `adversarial` is copied before the peak."""
    assert donated(warehouse, f"jit_{step}") == {"weights": read}


def test_one_loop_around_all_steps_tells_nothing(warehouse: Warehouse) -> None:
    assert set(donated(warehouse, "jit_looping")) == {"weights"}


@pytest.mark.slow
def test_readers_tell_what_names_tell(reading: duckdb.DuckDBPyConnection) -> None:
    """Since 0.4.30 arguments have names: all of m and v are found, and nothing else."""
    rows = reading.execute(
        """
        SELECT DISTINCT m.module_id, i.parameter_number, i.op_name
        FROM modules AS m
        JOIN instructions AS i
          ON i.module_id = m.module_id
          AND i.computation_id = m.entry_computation_id
        WHERE i.opcode = 'parameter' AND m.stage = 'after_optimizations'
        """
    ).fetchall()
    names = {(module, number): name for module, number, name in rows}
    seen = 0
    for (run,) in reading.execute("SELECT name FROM runs").fetchall():
        if run in ("jaxlib-0.4.13", "jaxlib-0.4.20"):
            continue
        for row in run_query(reading, "optimiser_state", {"run": run}).dicts():
            if row["is_state"] is None:
                continue
            name = names[row["module_id"], row["parameter_number"]]
            assert row["is_state"] == (name[:2] in ("m[", "v[")), (run, name)
            seen += 1
    assert seen > 900


@pytest.mark.slow
def test_programs_without_names_have_the_state_of_those_with(
    reading: duckdb.DuckDBPyConnection,
) -> None:
    state = {
        (run, program): sum(
            row["owned_bytes"]
            for row in run_query(
                reading, "peak_by_role", {"run": run, "program": program}
            ).dicts()
            if row["role"] == "optimiser_state"
        )
        for run in ("jaxlib-0.4.13", "jaxlib-0.4.20", "jaxlib-0.4.30")
        for program in ("jit_gpt_scan_remat", "jit_gpt_unrolled")
    }
    assert set(state.values()) == {7_390_208}

"""What versions explain, and what is compiled alike, on made-up runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.occurrences import store_modules
from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Run:
    """A run of one program, compiled `outputs` times from one input."""

    platform: str
    device: str | None
    compiler: str | None
    framework: str | None
    flag: str | None
    outputs: tuple[tuple[int, int], ...]
    """Fingerprint and reserved bytes of each."""


RUNS = st.lists(
    st.builds(
        Run,
        platform=st.sampled_from(("cpu", "tpu")),
        device=st.sampled_from((None, "TPU v5e")),
        compiler=st.sampled_from((None, "1", "2")),
        framework=st.sampled_from((None, "a", "b")),
        flag=st.sampled_from((None, "on")),
        outputs=st.lists(
            st.tuples(st.integers(1, 2), st.integers(1, 4)), min_size=1, max_size=3
        ).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


def store(connection: Connection, runs: Iterable[Run]) -> None:
    module_id = 0
    modules = []
    for run_id, run in enumerate(runs, 1):
        connection.execute(
            "INSERT INTO runs BY NAME SELECT ? AS run_id, ? AS name, ? AS platform,"
            " ? AS device, ? AS compiler_version, ? AS framework_version",
            [
                run_id, f"run {run_id}", run.platform, run.device, run.compiler,
                run.framework,
            ],
        )  # fmt: skip
        if run.flag:
            connection.execute(
                "INSERT INTO compiler_flags BY NAME SELECT ? AS run_id, 'xla_f' AS"
                " name, ? AS value",
                [run_id, run.flag],
            )
        for number, (fingerprint, size) in enumerate(run.outputs):
            for stage, exact in (
                ("before_optimizations", 9),
                ("after_optimizations", fingerprint),
            ):
                module_id += 1
                modules.append(
                    {
                        "run_id": run_id,
                        "module_id": module_id,
                        "module_number": number,
                        "path": f"{number}.{stage}",
                        "part": 0,
                        "program": "jit_f",
                        "platform": run.platform,
                        "stage": stage,
                        "exact_fingerprint": exact,
                        "has_assignment": stage == "after_optimizations",
                    }
                )
            connection.execute(
                "INSERT INTO memory_profile BY NAME SELECT ? AS module_id, 0 AS color,"
                " ? AS reserved_bytes",
                [module_id, size],
            )
    store_modules(connection, modules)


def asked(connection: Connection, runs: list[Run], sql: str) -> list[Row]:
    connection.execute("BEGIN")
    try:
        store(connection, runs)
        return connection.execute(sql).fetchall()
    finally:
        connection.execute("ROLLBACK")


@pytest.mark.slow
@pytest.mark.parametrize("most", [8, 2])
@examples
@given(runs=RUNS)
def test_only_runs_of_a_known_compiler_are_held_together(
    empty_warehouse: Connection, most: int, runs: list[Run]
) -> None:
    found = asked(
        empty_warehouse,
        runs,
        "SELECT compile_count, run_count, variant_count, min_reserved_bytes,"
        " max_reserved_bytes FROM nondeterminism("
        f"only_runs := {[f'run {number + 1}' for number in range(most)]})",
    )
    alike: dict[Row, list[tuple[int, int, int]]] = defaultdict(list)
    for number, run in enumerate(runs[:most]):
        alone = number if run.compiler is None else None
        key = (run.compiler, alone, run.platform, run.device, run.flag)
        alike[key] += [(number, *output) for output in run.outputs]
    expected = []
    for outputs in alike.values():
        owners, variants, sizes = (set(column) for column in zip(*outputs, strict=True))
        counts = (len(outputs), len(owners), len(variants))
        if len(outputs) > 1:
            expected.append((*counts, min(sizes), max(sizes)))
    assert sorted(found) == sorted(expected)


@pytest.mark.slow
@examples
@given(runs=RUNS)
def test_a_version_explains_what_differs_on_one_device(
    empty_warehouse: Connection, runs: list[Run]
) -> None:
    found = asked(empty_warehouse, runs, "FROM version_matrix()")
    devices: dict[Row, list[Run]] = defaultdict(list)
    for run in runs:
        devices[run.platform, run.device].append(run)
    expected: dict[Row, Row] = {}
    for device, own in devices.items():
        for axis in ("compiler", "framework"):
            groups: dict[str | None, list[int]] = defaultdict(list)
            for run in own:
                groups[getattr(run, axis)].append(max(size for _, size in run.outputs))
            every = [size for sizes in groups.values() for size in sizes]
            if len(groups) < 2 or len(set(every)) < 2:
                continue
            mean = fmean(every)
            whole = sum((size - mean) ** 2 for size in every)
            between = sum(
                len(sizes) * (fmean(sizes) - mean) ** 2 for sizes in groups.values()
            )
            for value, sizes in groups.items():
                expected["jit_f", 0, *device, f"{axis}_version", value] = (
                    *(len(sizes), min(sizes), max(sizes)),
                    between / whole,
                )
    assert {row[:6]: row[6:9] for row in found} == {
        key: row[:3] for key, row in expected.items()
    }
    for row in found:
        assert row[9] == pytest.approx(expected[row[:6]][3], abs=1e-5)

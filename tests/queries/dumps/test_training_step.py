"""A training step of a tuple (weights, moment, moment), and with a layer more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.warehouse import Warehouse
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

MATRIX = 128 * 128 * 4
NEW = [(f"state[{part}]['w3']", 4 * part + 3) for part in range(3)]
TARGETS = ("cpu", "v5e")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("layers") / "w.duckdb"
    for target in TARGETS:
        for layers in (3, 4):
            ingest([str(DATA / "layers" / f"{target}-{layers}.tar.xz")], path, jobs=1)
    with open_warehouse(path) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_arguments_are_found_by_name_behind_one_more(
    warehouse: Warehouse, target: str
) -> None:
    """By number state[1]['w0'] of one would be state[0]['w3'] of the other."""
    runs = {"base": f"{target}-3", "candidate": f"{target}-4"}
    buffers = warehouse.query("buffer_diff", **runs, top=None).dicts()
    arguments = [
        (row["op_path"], row["part"])
        for row in buffers
        if row["opcode"] == "parameter" and row["kind"] == "parameter"
    ]
    assert sorted(arguments) == [(name, "new") for name, _ in NEW]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_only_the_donations_of_a_layer_more_are_gained(
    warehouse: Warehouse, target: str
) -> None:
    runs = {"base": f"{target}-3", "candidate": f"{target}-4"}
    told = ("change", "op_name", "parameter_number", "lost_bytes")
    for one, other, change in (
        ("base", "candidate", "gained"),
        ("candidate", "base", "lost"),
    ):
        asked = {"base": runs[one], "candidate": runs[other]}
        rows = warehouse.query("alias_changes", **asked).dicts()
        sign = 1 if change == "lost" else -1
        assert sorted(tuple(row[name] for name in told) for row in rows) == [
            (change, name, number, sign * MATRIX) for name, number in NEW
        ]


@pytest.mark.slow
@pytest.mark.parametrize("layers", [3, 4])
def test_readers_tell_state_from_weights_on_a_cpu(
    warehouse: Warehouse, layers: int
) -> None:
    """The compiler copies all weights but the first; others use their memory."""
    rows = roles(warehouse, f"cpu-{layers}", "host")
    assert rows["optimiser_state", "state_by_readers"] == 2 * layers * MATRIX
    assert rows["weights", "donated"] == MATRIX
    assert rows["weights", "copy_of_donated"] == (layers - 1) * MATRIX
    assert rows["inputs", "argument"] == MATRIX
    assert not any(role == "unclassified" for role, _ in rows)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [3, 4])
def test_readers_within_fusions_tell_state_from_weights_on_a_tpu(
    warehouse: Warehouse, layers: int
) -> None:
    """Both are updated where gradients are made; what is prefetched is theirs, too."""
    rows = roles(warehouse, f"v5e-{layers}", "HBM")
    assert rows["optimiser_state", "state_by_readers"] == 2 * layers * MATRIX
    assert rows["weights", "donated"] == layers * MATRIX
    near = roles(warehouse, f"v5e-{layers}", "VMEM")
    copies = {role for role, rule in near if rule.startswith("copy_of_")}
    assert copies == {"inputs", "optimiser_state", "weights"}
    assert not any(role in ("unclassified", "workspace") for role, _ in near)


def roles(warehouse: Warehouse, run: str, space: str) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in warehouse.query("peak_by_role", run=run).dicts():
        if row["space_name"] == space:
            found[row["role"], str(row["rule_id"])] += row["owned_bytes"]
    return found

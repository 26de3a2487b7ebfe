"""Roles of buffers that were labelled by hand before hlodb gave them any."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, Made
from tests.queries.stored import Connection

ROLES = DATA / "roles"
Buffer = tuple[str, str, str, str]
"""Target, program, instruction and index into its result."""


def make_labelled(path: Path) -> None:
    for target in ("cpu", "v5e"):
        ingest([str(ROLES / f"{target}.tar.xz")], path, jobs=1)


@pytest.fixture(scope="module")
def labelled(made: Made) -> Path:
    return made("labelled", make_labelled)


def labels(column: str) -> dict[Buffer, str]:
    with (ROLES / "labels.csv").open(encoding="utf-8") as file:
        return {
            (r["target"], r["program"], r["instruction"], r["shape_index"]): r[column]
            for r in csv.DictReader(file)
        }


def buffers(connection: Connection, target: str) -> dict[tuple[int, int], Buffer]:
    """Return what the values of a target's programs are called in the labels."""
    rows = connection.execute(
        "SELECT v.module_id, v.value_id, m.program, i.name, v.shape_index FROM"
        ' store."values" AS v JOIN store.instructions AS i USING (module_id,'
        " instruction_id) JOIN modules AS m USING (module_id) JOIN runs AS r USING"
        " (run_id) WHERE r.name = ?",
        [target],
    ).fetchall()
    return {
        (module, value): (target, program, name, (index or "").replace("{}", ""))
        for module, value, program, name, index in rows
    }


def test_roles_at_the_peak_are_those_of_the_labels(labelled: Path) -> None:
    """Slices of weights in a loop, gradients in a weight's memory, no names."""
    expected, found = labels("role"), {}
    with connect(labelled) as connection:
        for target in ("cpu", "v5e"):
            named = buffers(connection, target)
            for row in run_query(connection, "peak_roles", {"run": target}).dicts():
                buffer = named.get((row["module_id"], row["value_id"]))
                if buffer in expected:
                    found[buffer] = row["role"]
    assert len(found) == 63
    assert found == {buffer: expected[buffer] for buffer in found}


def test_roles_leave_no_byte_of_the_peak_out(labelled: Path) -> None:
    with connect(labelled) as connection:
        for target in ("cpu", "v5e"):
            rows = run_query(connection, "peak_by_role", {"run": target}).dicts()
            spaces = run_query(connection, "peak_by_space", {"run": target}).dicts()
            for space in spaces:
                if space["live_peak_bytes"]:
                    assert space["live_peak_bytes"] == sum(
                        row["owned_bytes"]
                        for row in rows
                        if (row["program"], row["color"])
                        == (space["program"], space["color"])
                    )


def test_layers_are_those_of_the_labels(labelled: Path) -> None:
    """Only the arguments name a layer; whatever reads them goes by that."""
    expected, found = labels("layer"), {}
    asked: dict[str, Value] = {"run": "cpu", "program": "jit_unrolled"}
    with connect(labelled) as connection:
        named = {
            (module, instruction): ("cpu", "jit_unrolled", name, "")
            for module, instruction, name in connection.execute(
                "SELECT module_id, instruction_id, name FROM store.instructions"
            ).fetchall()
        }
        for row in run_query(connection, "instruction_layers", asked).dicts():
            buffer = named[row["module_id"], row["instruction_id"]]
            if buffer in expected:
                layer = f"{row['layer_name']}_{row['layer_number']}"
                found[buffer] = layer if row["layer_name"] else ""
    assert len(found) == 71
    assert found == {buffer: expected[buffer] for buffer in found}


def test_most_of_the_peak_has_a_layer(labelled: Path) -> None:
    """What is left is the embedding, the head and the loss."""
    asked: dict[str, Value] = {"run": "cpu", "program": "jit_unrolled"}
    with connect(labelled) as connection:
        rows = run_query(connection, "peak_by_layer", asked).dicts()
        (space,) = run_query(connection, "peak_by_space", asked).dicts()
    assert {row["layer"] for row in rows} == {
        "(no layer)", *(f"blocks_{number}" for number in range(3))
    }  # fmt: skip
    assert sum(row["owned_bytes"] for row in rows) == space["live_peak_bytes"]
    (outside,) = (row for row in rows if row["layer"] == "(no layer)")
    assert outside["peak_ratio"] < 0.3

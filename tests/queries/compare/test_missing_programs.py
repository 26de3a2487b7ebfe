"""Programs that the candidate lacks: those that JAX compiles for itself are none."""

from pathlib import Path

import pytest

from bench.causes import EDITS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect


@pytest.mark.slow
def test_programs_of_single_operations_are_not_missing(tmp_path: Path) -> None:
    """The base makes its inputs by jax.random, the candidate by NumPy."""
    pairs = {p.name: p for p in unpacked(EDITS / "plain_ridge.tar.xz", tmp_path)}
    pair = pairs["ridge_numpy"]
    sides = {"base": pair.base, "candidate": pair.candidate}
    for name, folder in sides.items():
        request = RunRequest(name=name)
        ingest([str(folder)], tmp_path / "w.duckdb", request=request, jobs=1)
    asked = [("base", "candidate"), ("candidate", "base")]
    with connect(tmp_path / "w.duckdb") as connection:
        found = [
            [
                (row["base_program"], row["candidate_program"])
                for row in run_query(
                    connection,
                    "matched_compilations",
                    {"base": base, "candidate": candidate},
                ).dicts()
                if row["relation"] in ("matched", "missing")
            ]
            for base, candidate in asked
        ]
    assert found == [[("jit_step", "jit_step")], [("jit_step", "jit_step")]]


TEXT = """\
HloModule NAME, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

FileNames
1 "/a/steps.py"

FunctionNames
1 "<module>"
2 "Trainer.train.<locals>.step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=1 end_column=9}
2 {file_name_id=1 function_name_id=2 line=4 end_line=4 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


ENTRY main {
  p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} sine(p), metadata={op_name="jit(step)/sin" stack_frame_id=2}
}
"""

ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <0 p @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 32, maybe-live-out:
 value: <1 s @0> (size=32,offset=0): f32[8]{0}
"""


@pytest.mark.parametrize("name", ["jit_step", "jit_behind_a_wrapper"])
def test_a_program_of_the_user_is_missing(tmp_path: Path, name: str) -> None:
    """It is called as the function in which its operations are, or is large."""
    names = {"base": [name, "jit_other"], "candidate": ["jit_other"]}
    for run, programs in names.items():
        (tmp_path / run).mkdir()
        for number, program in enumerate(programs):
            start = (
                tmp_path / run / f"module_000{number}.{program}.cpu_after_optimizations"
            )
            start.with_name(f"{start.name}.txt").write_text(
                TEXT.replace("NAME", program)
            )
            assigned = start.with_name(f"{start.name}-buffer-assignment.txt")
            assigned.write_text(ASSIGNMENT)
        request = RunRequest(name=run)
        ingest([str(tmp_path / run)], tmp_path / "w.duckdb", request=request, jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(
            connection,
            "matched_compilations",
            {"base": "base", "candidate": "candidate"},
        ).dicts()
    found = [(row["base_program"], row["relation"]) for row in rows]
    assert sorted(found) == sorted([("jit_other", "matched"), (name, "missing")])

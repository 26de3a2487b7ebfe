"""Rows of a small assignment: what is printed several times or in any order."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import AFTER, write

HLO = """\
HloModule jit_f, is_scheduled=true

%twice (q: f32[16]) -> f32[16] {
  %q = f32[16]{0} parameter(0)
  ROOT %n = f32[16]{0} negate(%q)
}

ENTRY %main (p: f32[16]) -> f32[16] {
  %p = f32[16]{0} parameter(0)
  %a = f32[16]{0} call(%p), to_apply=%twice
  %s = f32[16]{0} add(%a, %a)
  ROOT %b = f32[16]{0} call(%s), to_apply=%twice
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <0 p @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 128, preallocated-temp:
 value: <1 n @0> (size=64,offset=0): f32[16]{0}
 value: <2 s @0> (size=64,offset=32): f32[16]{0}
allocation 2: size 8, color 1, preallocated-temp:
 value: <3 b @1> (size=8,offset=0): f32[2]{0:S(1)}

Total bytes used: 200 (200B)

Used values:
<0 p @0>
 positions:
  p
  q
 uses:
  a, operand 0
 from instruction: %p = f32[16]{0} parameter(0)
<1 n @0>
 positions:
  n
  b
  a
 uses:
  s, operand 1
  s, operand 0
 from instruction: %n = f32[16]{0} negate(%q)
<2 s @0>
 positions:
  s
 uses:
  b, operand 0
 from instruction: %s = f32[16]{0} add(%a, %a)
<3 b @1>
 positions:
  b
 uses:
  (none)
 from instruction: %b = f32[16]{0} call(%s)


HloLiveRange (max 8):
  InstructionSequence:
    0:p
    1:q
    2:n
    3:a
    4:s
    5:q
    6:n
    7:b
  BufferLiveRange:
    p{}:0-3
    n{}:2-6
    s{}:4-7
    b{}:7-8
  Live ranges at 4 (peak):
    n{}: 64 bytes (cumulative: 64 bytes)
    s{}: 64 bytes (cumulative: 128 bytes)
"""


@pytest.fixture(scope="module")
def stored(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("small")
    files = {
        f"{AFTER}.txt": HLO.encode(),
        f"{AFTER}-buffer-assignment.txt": ASSIGNMENT.encode(),
    }
    ingest([str(write(folder / "dump", files))], folder / "w.duckdb", jobs=1)
    with connect(folder / "w.duckdb") as connection:
        rejects = connection.execute("SELECT message FROM rejects").fetchall()
        assert rejects == []
        yield connection


def test_an_instruction_has_its_first_step(stored: duckdb.DuckDBPyConnection) -> None:
    """Those of a computation that is called twice are scheduled twice."""
    steps = stored.execute(
        "SELECT name, schedule_step FROM instructions ORDER BY instruction_id"
    ).fetchall()
    assert steps == [("q", 1), ("n", 2), ("p", 0), ("a", 3), ("s", 4), ("b", 7)]


def test_the_first_position_of_a_value_is_its_definition(
    stored: duckdb.DuckDBPyConnection,
) -> None:
    """The others are in the order of instructions; so are uses, then of operands."""
    positions = stored.execute(
        "SELECT value_id, list(instruction ORDER BY ordinal) FROM value_positions"
        " GROUP BY value_id ORDER BY value_id"
    ).fetchall()
    assert positions == [(0, ["p", "q"]), (1, ["n", "a", "b"]), (2, ["s"]), (3, ["b"])]
    uses = stored.execute(
        "SELECT value_id, ordinal, instruction, operand_index FROM value_uses"
        " ORDER BY value_id, ordinal"
    ).fetchall()
    assert uses == [
        (0, 0, "a", 0),
        (1, 0, "s", 0),
        (1, 1, "s", 1),
        (2, 0, "b", 0),
    ]


def test_conflicts_count_in_their_memory_space(
    stored: duckdb.DuckDBPyConnection,
) -> None:
    profiles = stored.execute(
        "SELECT color, temp_bytes, conflict_count FROM memory_profile ORDER BY color"
    ).fetchall()
    assert profiles == [(0, 128, 1), (1, 8, 0)]

"""The peak by phase, of arrays that are all live at one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.stored import add
from tests.reports.situations import night
from tests.reports.worlds import Buffer, Program, make

FORWARD = "jit(step)/jvp(loss)/dot_general"
BACKWARD = "jit(step)/transpose(jvp(loss))/dot_general"

BUFFERS = (
    Buffer("w", 100, path="w", opcode="parameter", kind="parameter", parameter=0),
    Buffer("c", 3, opcode="constant", kind="constant"),
    Buffer("saved", 40, path=FORWARD),
    Buffer("dropped", 20, path=FORWARD),
    Buffer("gradient", 10, path=BACKWARD),
    Buffer("moment", 5, path="jit(step)/adam/mul"),
    Buffer("copy", 2),
)
"""`saved` is read by `gradient`, `dropped` by `saved`."""


def test_each_phase_owns_what_it_makes(tmp_path: Path) -> None:
    path = make(tmp_path / "w.duckdb", night(1, Program("jit_step", BUFFERS)))
    with connect(path, read_only=False) as connection:
        connection.execute("UPDATE store.instructions SET schedule_step = position")
        [(module,)] = connection.execute(
            "SELECT DISTINCT module_id FROM allocations"
        ).fetchall()
        for value_id, reader in ((2, 4), (3, 2)):
            key = {"module_id": module, "value_id": value_id, "ordinal": 0}
            facts = {"instruction_id": reader, "operand_index": 0}
            add(connection, "store.value_uses", **key, **facts)
        rows = run_query(connection, "fwd_bwd_split").rows
    total = 100 + 3 + 40 + 20 + 10 + 5 + 2
    assert [row[6:] for row in rows] == [
        (phase, size, pytest.approx(size / total), saved, count)
        for phase, size, saved, count in (
            ("parameter", 100, 0, 1),
            ("forward", 60, 40, 2),
            ("backward", 10, 0, 1),
            ("optimiser", 5, 0, 1),
            ("constant", 3, 0, 1),
            ("none", 2, 0, 1),
        )
    ]

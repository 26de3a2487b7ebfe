"""Parts of a difference, of programs whose buffers changed in one way each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.reports.worlds import Buffer, Program, World, make

KIB, MIB = 1024, 1024 * 1024


def of(
    name: str, size: int, element_type: str, opcode: str, kind: str = "temp"
) -> Buffer:
    """Return a buffer that is always live; its logical size is that in memory."""
    wide = {"f32": 4, "bf16": 2, "s8": 1}[element_type]
    shape = f"{element_type}[{size // wide}]"
    path = f"jit(f)/{name}"
    return Buffer(name, size, shape, path, opcode, kind, logical=size)


BASE = (
    of("kept", MIB, "f32", "fusion"),
    of("grown", 2 * MIB, "f32", "dot"),
    of("lost", MIB, "s8", "sort"),
    of("out", MIB, "f32", "tanh", kind="live_out"),
)
CANDIDATE = (
    of("kept", MIB, "f32", "fusion"),
    of("grown", 4 * MIB, "f32", "dot"),
    of("fresh", 3 * MIB, "bf16", "gather"),
    of("out", 512 * KIB, "bf16", "tanh", kind="live_out"),
)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Return a warehouse with three runs: the third has a program more."""
    program = Program("jit_f", BASE)
    worlds = (
        World("base", (program,)),
        World("candidate", (Program("jit_f", CANDIDATE),)),
        World("again", (program, Program("jit_g", BASE[:1], source="g"))),
    )
    path = tmp_path_factory.mktemp("changed") / "w.duckdb"
    with connect(make(path, *worlds)) as connection:
        yield connection


def test_every_part_is_counted_by_kind(changed: Connection) -> None:
    asked = {"base": "base", "candidate": "candidate"}
    runs, total = ("base", "candidate", "jit_f", None, 1, None, 0), 7 * MIB // 2
    # Total, and nothing that no part explains.
    rest = (total, 0)
    assert run_query(changed, "delta_waterfall", {**asked}).rows == [
        (*runs, "new", "temp", 3 * MIB, pytest.approx(6 / 7), 1, *rest),
        (*runs, "resized", "temp", 2 * MIB, pytest.approx(4 / 7), 1, *rest),
        (*runs, "gone", "temp", -MIB, pytest.approx(-2 / 7), 1, *rest),
        (*runs, "retyped", "live_out", -MIB // 2, pytest.approx(-1 / 7), 1, *rest),
    ]
    assert (
        run_query(changed, "delta_waterfall", {**asked, "program": "jit_g"}).rows == []
    )


def test_a_program_that_one_side_lacks_counts_as_nothing_there(
    changed: Connection,
) -> None:
    for base, candidate, part, sign in (
        ("base", "again", "new", 1),
        ("again", "base", "gone", -1),
    ):
        asked = {"base": base, "candidate": candidate}
        [row] = run_query(changed, "delta_waterfall", {**asked}).dicts()
        shown = "program", "part", "kind", "delta_bytes", "delta_ratio", "buffer_count"
        assert [row[name] for name in shown] == [
            *("jit_g", part, "temp", sign * MIB, 1.0, 1)
        ]
        assert (row["total_delta_bytes"], row["residual_bytes"]) == (sign * MIB, 0)


def test_buffers_of_the_parts_are_listed(changed: Connection) -> None:
    shown = (
        *("part", "kind", "delta_bytes", "base_instruction", "instruction"),
        *("base_shape", "shape", "base_bytes", "candidate_bytes", "status"),
    )
    asked = {"base": "base", "candidate": "candidate"}
    rows = run_query(changed, "buffer_diff", {**asked}).dicts()
    assert [tuple(row[name] for name in shown) for row in rows] == [
        (
            *("new", "temp", 3 * MIB, None, "fresh", None, "bf16[1572864]"),
            *(None, 3 * MIB, "new"),
        ),
        (
            *("resized", "temp", 2 * MIB, "grown", "grown"),
            *("f32[524288]", "f32[1048576]", 2 * MIB, 4 * MIB, "larger"),
        ),
        (
            *("gone", "temp", -MIB, "lost", None, "s8[1048576]", None),
            *(MIB, None, "gone"),
        ),
        (
            *("retyped", "live_out", -MIB // 2, "out", "out"),
            *("f32[262144]", "bf16[262144]", MIB, MIB // 2, "smaller"),
        ),
    ]
    everything = run_query(changed, "buffer_diff", {**asked, "only_changes": False})
    same = [r for r in everything.dicts() if r["part"] == "same" and r["instruction"]]
    assert [(row["instruction"], row["delta_bytes"]) for row in same] == [("kept", 0)]

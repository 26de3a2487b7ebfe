"""What ranks of a run have differently: bytes, programs, collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import AFTER, write
from tests.queries.assignments import Allocation, Assignment, store
from tests.queries.stored import Connection, stored
from tests.reports.situations import EVAL, MIB, STEP, WORK, night
from tests.reports.worlds import Program, make


def sized(mebibytes: int, rank: int) -> Program:
    work = replace(WORK, size=mebibytes * MIB)
    return replace(STEP, buffers=(work,), text=f"{mebibytes}", rank=rank)


def test_ranks_that_differ_are_named(tmp_path: Path) -> None:
    """Those that hold a program that the others lack, or lack one, too."""
    programs = [sized(size, rank) for rank, size in enumerate((4, 4, 8))]
    more = sized(2, 1)
    everywhere = [replace(EVAL, rank=rank) for rank in range(4)]
    path = tmp_path / "w.duckdb"
    with connect(make(path, night(1, *programs, more, *everywhere))) as connection:
        rows = run_query(connection, "rank_skew").rows
        assert run_query(connection, "rank_skew", {"program": "jit_eval"}).rows == [
            rows[1]
        ]
    assert rows == [
        *[("night-1", "jit_step", 0, "host", 3, 1, 4 * MIB, 8 * MIB, 0.5, "2, 3", 1)],
        *[("night-1", "jit_eval", 0, "host", 4, 0, 5 * MIB, 5 * MIB, 0.0, None, 5)],
    ]


def test_memory_of_the_host_is_not_that_of_the_device(
    empty_warehouse: Connection,
) -> None:
    """A program is compiled for both, and both have a colour 0."""
    on_both = [
        Assignment(
            (Allocation(0, size, 0, "temp"),), 1, "jit_step",
            {"platform": platform, "rank": rank},
        )
        for rank in range(2)
        for size, platform in ((8, "tpu"), (4, "cpu"))
    ]  # fmt: skip
    empty_warehouse.execute("BEGIN")
    try:
        store(empty_warehouse, on_both)
        rows = empty_warehouse.execute("FROM rank_skew()").fetchall()
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert sorted(row[3:-1] for row in rows) == [
        ("HBM", 2, 0, 8, 8, 0.0, None),
        ("host", 2, 0, 4, 4, 0.0, None),
    ]


def test_a_rank_with_nothing_in_a_memory_space_holds_the_program(
    empty_warehouse: Connection,
) -> None:
    """Two of three put a value in the fast memory; the fourth has another program."""
    spaces = {0: (0, 1), 1: (0, 1), 2: (0,)}
    ranks = [
        Assignment(
            tuple(Allocation(c, 8 >> c, c, "temp") for c in colors), 1, "jit_step",
            {"platform": "tpu", "rank": rank},
        )
        for rank, colors in spaces.items()
    ]  # fmt: skip
    other = Assignment(
        (Allocation(0, 2, 0, "temp"),), 1, "jit_eval", {"platform": "tpu", "rank": 3}
    )
    with stored(empty_warehouse, *ranks, other) as connection:
        rows = run_query(connection, "rank_skew").rows
    assert [row[1:-1] for row in rows] == [
        ("jit_step", 1, "VMEM", 3, 1, 0, 4, 1.0, "2, 3"),
        ("jit_eval", 0, "HBM", 1, 3, 2, 2, 0.0, "0, 1, 2"),
        ("jit_step", 0, "HBM", 3, 1, 8, 8, 0.0, "3"),
    ]


def test_a_run_of_one_rank_has_none_that_differs(tmp_path: Path) -> None:
    with connect(make(tmp_path / "w.duckdb", night(1, sized(4, 0)))) as connection:
        assert run_query(connection, "rank_skew").rows == []


def collectives(*channels: int, groups: str = "{{0,1}}") -> bytes:
    """Return a module that reduces over one channel after the other."""
    lines = [
        f"  %r.{number} = f32[8]{{0}} all-reduce(%p), channel_id={channel},"
        f" replica_groups={groups}, to_apply=%sum"
        for number, channel in enumerate(channels)
    ]
    body = "\n".join(["  %p = f32[8]{0} parameter(0)", *lines])
    return (
        f"HloModule jit_f\n\nENTRY %main (p: f32[8]) -> f32[8] {{\n{body}\n"
        "  ROOT %end = f32[8]{0} copy(%p)\n}\n"
    ).encode()


def parity(
    tmp_path: Path, ranks: Sequence[bytes], is_scheduled: bool = False
) -> list[tuple[object, ...]]:
    files = {f"rank_{n}/{AFTER}.txt": text for n, text in enumerate(ranks)}
    ingest([str(write(tmp_path / "dump", files))], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb", read_only=False) as connection:
        if is_scheduled:
            connection.execute("UPDATE store.instructions SET schedule_step = position")
        rows = run_query(connection, "collective_parity", {"matching": True}).rows
        odd = run_query(connection, "collective_parity").rows
    assert odd == [row for row in rows if not row[4]]
    return [row[3:] for row in rows]


def test_snapshots_tell_their_rank(tmp_path: Path) -> None:
    """The same module of two ranks, changed by a pass on one of them."""
    passed = "module_0001.jit_f.0002.pipeline.after_dce.before_cse"
    files = {
        f"rank_{rank}/{name}.txt": collectives(*channels)
        for rank, channels in enumerate(((1, 2), (1,)))
        for name, channels in ((passed, (1, 2)), (AFTER, channels))
    }
    ingest([str(write(tmp_path / "dump", files))], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "pass_history").dicts()
    shown = "module_number", "rank", "snapshot", "stage", "is_changed"
    assert [tuple(row[name] for name in shown) for row in rows] == [
        (1, 0, 0, "pass", None),
        (1, 0, 1, "after_optimizations", False),
        (1, 1, 0, "pass", None),
        (1, 1, 1, "after_optimizations", True),
    ]


def test_a_rank_that_reduces_over_another_channel_may_hang(tmp_path: Path) -> None:
    one = "all-reduce channel 1 {{0,1}} f32[8]"
    two, three = one.replace("1 {", "2 {"), one.replace("1 {", "3 {")
    other_groups = two.replace("{{0,1}}", "{{0},{1}}")
    assert parity(
        tmp_path,
        [
            collectives(1, 2),
            collectives(1, 3),
            collectives(1, 2),
            collectives(1),
            collectives(1, 2, 3),
            collectives(2, 2, groups="{{0},{1}}"),
        ],
    ) == [
        (1, False, 2, 1, None, two, three),
        (3, False, 1, 1, None, two, None),
        (4, False, 3, 2, None, None, three),
        (5, False, 2, 0, None, one, other_groups),
        (0, True, 2, None, None, None, None),
        (2, True, 2, None, None, None, None),
    ]


def test_the_step_of_the_rank_that_differs_is_named(tmp_path: Path) -> None:
    """Step 2 is the second collective, behind the parameter and the first."""
    label = "all-reduce channel {} {{{{0,1}}}} f32[8]"
    assert parity(tmp_path, [collectives(1, 2), collectives(1, 3)], True) == [
        (1, False, 2, 1, 2, label.format(2), label.format(3)),
        (0, True, 2, None, None, None, None),
    ]


def test_a_rank_that_sends_to_another_may_hang(tmp_path: Path) -> None:
    def ring(pairs: str) -> bytes:
        reduced = "all-reduce(%p), channel_id=1, replica_groups={{0,1}}, to_apply=%sum"
        sent = f"collective-permute(%p), channel_id=1, source_target_pairs={pairs}"
        return collectives(1).replace(reduced.encode(), sent.encode())

    one, same, other = "{{0,1},{1,2}}", "{{1,2}, {0,1}}", "{{1,0},{2,1}}"
    label = "collective-permute channel 1 {} f32[8]"
    assert parity(tmp_path, [ring(one), ring(same), ring(other)]) == [
        (2, False, 1, 0, None, label.format(one), label.format(other)),
        (0, True, 1, None, None, None, None),
        (1, True, 1, None, None, None, None),
    ]


def test_groups_that_releases_print_in_other_ways_are_equal(tmp_path: Path) -> None:
    """The second is printed in full, the third along an axis; the last differs."""
    printed = [
        "[4,2]<=[2,4]T(1,0)",
        "{{0,4},{1,5},{2,6},{3,7}}",
        "mesh['x'=2,'y'=4] {'x'}",
        "[4,2]<=[8]",
    ]
    label = "all-reduce channel 1 {} f32[8]"
    assert parity(tmp_path, [collectives(1, groups=text) for text in printed]) == [
        (3, False, 1, 0, None, label.format(printed[0]), label.format(printed[3])),
        *[(rank, True, 1, None, None, None, None) for rank in range(3)],
    ]


def test_a_program_more_on_one_rank_moves_no_other(tmp_path: Path) -> None:
    """As where the first rank alone logs something, and all programs share a name."""
    layout = b"HloModule jit_f, entry_computation_layout={(f32[8]{0})->f32[8]{0}}"
    step = collectives(1, 2).replace(b"HloModule jit_f", layout)
    other = step.replace(b"f32[8]", b"f32[4]").replace(b"all-reduce(%p)", b"copy(%p)")
    second = AFTER.replace("module_0001", "module_0002")
    files = {
        f"rank_0/{AFTER}.txt": other,
        f"rank_0/{second}.txt": step,
        f"rank_1/{AFTER}.txt": step,
    }
    ingest([str(write(tmp_path / "dump", files))], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "collective_parity", {"matching": True}).rows
    assert [row[2:6] for row in rows] == [(1, 1, True, 2), (2, 0, True, 2)]

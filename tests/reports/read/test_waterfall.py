"""Differences close and mirror, whatever the buffers; and what each part means."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlodb.schema.creation import create_schema
from tests.queries.assignments import Assignment, assignments
from tests.queries.assignments import store as store_assignments
from tests.reports.made_buffers import (
    Buffer,
    Module,
    Row,
    Sums,
    buffer,
    changes_between,
    module,
    opposite_sums,
    part_sums,
    stored,
)

QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    create_schema(opened)
    return opened


def changes(
    connection: duckdb.DuckDBPyConnection, base: Module, candidate: Module
) -> dict[int, list[Row]]:
    with stored(connection, (base, candidate)):
        (found,) = changes_between(connection, [(1, 2)])
    assert {row["residual_bytes"] for rows in found.values() for row in rows} <= {0}
    return found


def shares(
    connection: duckdb.DuckDBPyConnection, base: Module, candidate: Module
) -> Sums:
    return part_sums(changes(connection, base, candidate).get(0, []))


H = buffer("h", 32)

PARTS: dict[str, tuple[Module, Module, Sums]] = {
    "more elements": (module(H), module(buffer("h", 64)), {("resized", "temp"): 32}),
    "wider elements": (
        module(buffer("h", 32, shape="bf16[16]")),
        module(buffer("h", 64, shape="f32[16]")),
        {("retyped", "temp"): 32},
    ),
    "more and wider elements": (
        module(buffer("h", 32, shape="bf16[16]")),
        module(buffer("h", 128, shape="f32[32]")),
        {("resized", "temp"): 48, ("retyped", "temp"): 48},
    ),
    "more room for the same data": (
        module(H),
        module(buffer("h", 128, logical=32, shape="f32[8]")),
        {("repadded", "temp"): 96},
    ),
    "live at other steps": (
        module(H, buffer("k", 8, offset=32)),
        module(replace(H, is_counted=False), buffer("k", 8, offset=32)),
        {("lifetime", "temp"): -32},
    ),
    "new and gone": (
        module(H),
        module(buffer("k", 96, opcode="sort")),
        {("gone", "temp"): -32, ("new", "temp"): 96},
    ),
    "renumbered": (
        module(buffer("fusion.3", 32, path="a/dot")),
        module(buffer("fusion.7", 32, path="a/dot")),
        {},
    ),
    "another kind of allocation": (
        module(H),
        module(replace(H, kind="live_out")),
        {("allocation_kind", "temp"): -32, ("allocation_kind", "live_out"): 32},
    ),
    "no longer in place": (
        module(H, buffer("k", 32, born=4)),
        module(H, buffer("k", 32, born=4, offset=32)),
        {("alias", "temp"): 32},
    ),
    "packing": (
        module(H),
        module(H, fragmentation=96),
        {("fragmentation", "temp"): 96},
    ),
    "without live ranges": (
        module(H),
        module(buffer("h", 64), has_ranges=False),
        {("temp", "temp"): 32},
    ),
}


@pytest.mark.parametrize("what", PARTS)
def test_a_part(connection: duckdb.DuckDBPyConnection, what: str) -> None:
    base, candidate, expected = PARTS[what]
    assert shares(connection, base, candidate) == expected


@pytest.mark.slow
def test_what_the_compiler_adds_has_no_path_and_is_resized_all_the_same(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Where the name is the same, and one dimension at most is another."""
    small = buffer("copy.1", 32, path="", shape="f32[4,2]")
    wide = replace(small, shape="f32[4,6]", size=96)
    others = (
        replace(wide, name="copy.2"),
        replace(wide, shape="f32[6,4]"),
        replace(wide, shape="f32[24]"),
        replace(wide, shape="bf16[4,12]"),
    )
    assert shares(connection, module(small), module(wide)) == {("resized", "temp"): 64}
    for other in others:
        found = shares(connection, module(small), module(other))
        assert found == {("gone", "temp"): -32, ("new", "temp"): 96}


def test_equal_buffers_in_another_order_are_the_same(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    base = [buffer(f"f.{n}", 8, offset=8 * n, path="f.0/dot") for n in range(4)]
    other = [
        replace(b, name=f"f.{9 - n}", born=n) for n, b in enumerate(reversed(base))
    ]
    assert shares(connection, module(*base), module(*other)) == {}


def test_another_memory_space(connection: duckdb.DuckDBPyConnection) -> None:
    found = changes(connection, module(H), module(replace(H, color=1)))
    assert {color: part_sums(rows) for color, rows in found.items()} == {
        0: {("memory_space", "temp"): -32},
        1: {("memory_space", "temp"): 32},
    }


def test_changes_are_in_order_of_their_size(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    many = [buffer(f"b{n}", 4 * n, offset=100 * n) for n in range(1, 5)]
    rows = changes(connection, module(), module(*many))[0]
    sizes = [row["delta_bytes"] for row in rows if row["part"] != "same"]
    assert sizes == [16, 12, 8, 4]


def argument(name: str, number: int, size: int = 32) -> Buffer:
    more = {"path": name, "parameter": number, "kind": "parameter"}
    return buffer(name, size, opcode="parameter", **more)


def test_an_argument_more_leaves_those_behind_it_what_they_are(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Though it gives them other numbers, and may be like them."""
    base = [argument(name, i) for i, name in enumerate(("w[0]", "m[0]", "x"))]
    names = ("w[0]", "w[1]", "m[0]", "m[1]", "x")
    more = [argument(name, i) for i, name in enumerate(names)]
    rows = changes(connection, module(*base), module(*more))[0]
    found = {
        (row["base_op_path"], row["candidate_op_path"])
        for row in rows
        if row["status"] is not None
    }
    same = {(name, name) for name in ("w[0]", "m[0]", "x")}
    assert found == {*same, (None, "w[1]"), (None, "m[1]")}


def test_arguments_of_other_names_are_the_same_where_their_shapes_are(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    base = argument("w", 0), argument("x", 1)
    renamed = argument("params", 0), argument("batch", 1, 64)
    assert shares(connection, module(*base), module(*renamed)) == {
        ("gone", "parameter"): -32,
        ("new", "parameter"): 64,
    }


def test_arguments_that_share_a_name_are_told_by_their_numbers(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    base = argument("XLA_Args", 0), argument("XLA_Args", 1, 64)
    grown = argument("XLA_Args", 0, 48), argument("XLA_Args", 1, 64)
    found = shares(connection, module(*base), module(*grown))
    assert found == {("resized", "parameter"): 16}


# --- Properties -------------------------------------------------------------------

KINDS = ("temp", "temp", "temp", "live_out", "constant", "parameter", "thread_local")


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Buffers of every kind, of few names, sharing bytes here and there."""
    buffers = []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(KINDS))
        size = draw(st.integers(0, 6)) * 4
        type_, width = draw(st.sampled_from([("f32", 4), ("bf16", 2), ("s8", 1)]))
        color = draw(st.integers(0, 1))
        buffers.append(
            Buffer(
                draw(st.sampled_from("abc")),
                size,
                kind=kind,
                color=color,
                allocation=color,
                path=draw(st.sampled_from(["", "x/dot", "y/exp"])),
                shape=f"{type_}[{size // width}]",
                logical=draw(st.integers(0, size)),
                offset=draw(st.integers(0, 8)) if kind == "temp" else 0,
                born=draw(st.integers(0, 3)),
                is_counted=kind != "temp" or draw(st.booleans()),
            )
        )
    return Module(tuple(buffers))


@pytest.mark.slow
@given(st.lists(modules(), min_size=2, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
def test_every_byte_falls_into_a_part_and_mirrors(
    connection: duckdb.DuckDBPyConnection, made: list[Module]
) -> None:
    """What fills the memory adds up on each side, to what is not lost to packing."""
    numbers = range(1, len(made) + 1)
    pairs = [*permutations(numbers, 2), *((n, n) for n in numbers)]
    with stored(connection, made):
        found = dict(zip(pairs, changes_between(connection, pairs), strict=True))
    for (one, other), of_colors in found.items():
        base, candidate = made[one - 1], made[other - 1]
        for color, rows in of_colors.items():
            assert {row["residual_bytes"] for row in rows} == {0}
            before, now = (sum(m.filled(color).values()) for m in (base, candidate))
            assert sum(row["delta_bytes"] for row in rows) == now - before
            back = found[other, one][color]
            assert part_sums(back) == opposite_sums(rows)
            held = {row["held"]: row for row in rows if row["held"] is not None}
            for name, filled in (("base", before), ("candidate", now)):
                sizes = (row[f"{name}_held_bytes"] or 0 for row in held.values())
                assert sum(sizes) == filled
            if one == other:
                assert {row["part"] for row in rows} == {"same"}


@pytest.mark.slow
@given(assignments(), assignments())
@settings(max_examples=25, deadline=None, suppress_health_check=QUIET)
def test_assignments_of_a_warehouse_close(
    connection: duckdb.DuckDBPyConnection, base: Assignment, candidate: Assignment
) -> None:
    connection.execute("BEGIN")
    try:
        store_assignments(connection, [base], "a", 1)
        store_assignments(connection, [candidate], "b", 2)
        (found,) = changes_between(connection, [(101, 201)])
    finally:
        connection.execute("ROLLBACK")
    residuals = {row["residual_bytes"] for rows in found.values() for row in rows}
    assert residuals <= {0}

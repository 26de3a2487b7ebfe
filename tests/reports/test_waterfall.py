"""Waterfalls close and mirror, whatever the buffers; and what each part means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlodb.reports.facts import Buffer, Output, Profile, Profiles
from hlodb.reports.match_buffers import match_buffers
from hlodb.reports.ownership import owned_bytes
from hlodb.reports.read import (
    read_buffers,
    read_modules,
    read_profiles,
    read_runs,
)
from hlodb.reports.waterfall import Change, Side, of_profile, waterfalls
from hlodb.schema.creation import create_schema
from tests.queries.assignments import Assignment, assignments, store
from tests.reports.part_sums import opposite_sums, part_sums


def buffer(name: str, size: int, **more: Any) -> Buffer:
    plain = Buffer(
        pair=0,
        is_candidate=False,
        color=0,
        kind="temp",
        allocation_id=0,
        value_id=0,
        instruction=name,
        opcode="fusion",
        op_path=f"{name}/dot",
        array_type=f"f32[{size // 4}]",
        shape_index=None,
        parameter=None,
        offset_bytes=0,
        size_bytes=size,
        logical_bytes=size,
        start_step=0,
        end_step=9,
        is_counted=True,
    )
    return plain._replace(**more)


def profile(buffers: Sequence[Buffer], fragmentation: int = 0) -> Profile:
    """Return a profile that fits the buffers of colour 0."""
    owned = owned_bytes(buffers)
    sums = {
        kind: sum(owned[id(b)] for b in buffers if b.is_counted and b.kind == kind)
        for kind in ("parameter", "constant", "live_out", "thread_local", "temp")
    }
    temp = sums.pop("temp")
    return Profile(
        module_id=1,
        color=0,
        space_name="host",
        reserved_bytes=sum(sums.values()) + temp + fragmentation,
        **{f"{kind}_bytes": size for kind, size in sums.items()},
        temp_bytes=temp + fragmentation,
        temp_live_peak_bytes=temp,
        live_peak_bytes=temp,
        peak_step=0,
        fragmentation_bytes=fragmentation,
        padding_bytes=0,
        conflict_count=0,
    )


def side(
    *buffers: Buffer, fragmentation: int = 0, outputs: Sequence[Output] = ()
) -> Side:
    return Side({0: profile(buffers, fragmentation)}, buffers, outputs)


def shares(base: Side, candidate: Side) -> dict[tuple[str, str], int]:
    (fall,) = waterfalls(base, candidate)
    assert fall.residual_bytes == 0
    return part_sums(fall)


def test_a_buffer_with_more_elements_is_resized() -> None:
    grown = buffer("h", 64)._replace(array_type="f32[16]")
    assert shares(side(buffer("h", 32)), side(grown)) == {("resized", "temp"): 32}


def test_a_buffer_of_wider_elements_is_retyped() -> None:
    narrow = buffer("h", 32, array_type="bf16[16]")
    wide = buffer("h", 64, array_type="f32[16]")
    assert shares(side(narrow), side(wide)) == {("retyped", "temp"): 32}


def test_more_and_wider_elements_are_both_parts() -> None:
    narrow = buffer("h", 32, array_type="bf16[16]")
    wide = buffer("h", 128, array_type="f32[32]")
    found = shares(side(narrow), side(wide))
    assert found == {("resized", "temp"): 48, ("retyped", "temp"): 48}


def test_the_same_data_in_more_room_is_re_padded() -> None:
    padded = buffer("h", 128, logical_bytes=32, array_type="f32[8]")
    found = shares(side(buffer("h", 32)), side(padded))
    assert found == {("re-padded", "temp"): 96}


def test_a_buffer_that_lives_elsewhere_is_of_part_life() -> None:
    away = buffer("h", 32, is_counted=False)
    other = buffer("k", 8, value_id=1, offset_bytes=32)
    found = shares(side(buffer("h", 32), other), side(away, other))
    assert found == {("life", "temp"): -32}


def test_new_and_gone_buffers() -> None:
    found = shares(side(buffer("h", 32)), side(buffer("k", 96, opcode="sort")))
    assert found == {("gone", "temp"): -32, ("new", "temp"): 96}


def test_what_the_compiler_adds_has_no_path_and_is_resized_all_the_same() -> None:
    """Where the name is the same, and one dimension at most is another."""
    small = buffer("copy.1", 32, op_path=None, array_type="f32[4,2]")
    wide = small._replace(array_type="f32[4,6]", size_bytes=96, logical_bytes=96)
    assert shares(side(small), side(wide)) == {("resized", "temp"): 64}
    for other in (
        wide._replace(instruction="copy.2"),
        wide._replace(array_type="f32[6,4]"),
        wide._replace(array_type="f32[24]"),
        wide._replace(array_type="bf16[4,12]"),
    ):
        found = shares(side(small), side(other))
        assert found == {("gone", "temp"): -32, ("new", "temp"): 96}


def test_a_renumbered_buffer_is_the_same() -> None:
    renamed = buffer("fusion.7", 32, op_path="a/dot")
    assert shares(side(buffer("fusion.3", 32, op_path="a/dot")), side(renamed)) == {}


def test_equal_buffers_in_another_order_are_the_same() -> None:
    first = [buffer(f"f.{n}", 8, value_id=n, offset_bytes=8 * n) for n in range(4)]
    other = [
        b._replace(instruction=f"f.{9 - n}", start_step=n, op_path="f.0/dot")
        for n, b in enumerate(reversed(first))
    ]
    base = [b._replace(op_path="f.0/dot") for b in first]
    assert shares(side(*base), side(*other)) == {}


def test_another_kind_of_allocation() -> None:
    result = buffer("h", 32, kind="live_out", allocation_id=1)
    assert shares(side(buffer("h", 32)), side(result)) == {
        ("kind", "temp"): -32,
        ("kind", "live_out"): 32,
    }


def test_another_memory_space() -> None:
    base = side(buffer("h", 32))
    moved = buffer("h", 32, color=1)
    candidate = Side({1: profile([moved])._replace(color=1)}, [moved], ())
    found = waterfalls(base, candidate)
    assert [(w.color, part_sums(w), w.residual_bytes) for w in found] == [
        (0, {("space", "temp"): -32}, 0),
        (1, {("space", "temp"): 32}, 0),
    ]


def test_a_lost_donation() -> None:
    parameter = buffer("p", 32, kind="parameter", parameter="0{}", opcode="parameter")
    result = buffer("r", 32, kind="live_out", allocation_id=1)
    place = Output(1, "{}", 0, 0, "parameter", 0, 32, "f32[8]")
    base = side(parameter, outputs=[place])
    own = place._replace(allocation_id=1, kind="live_out")
    candidate = side(parameter, result, outputs=[own])
    assert shares(base, candidate) == {("alias", "live_out"): 32}
    assert shares(candidate, base) == {("alias", "live_out"): -32}


def test_bytes_shared_in_place_are_the_newest_buffers() -> None:
    old = buffer("h", 32, end_step=4)
    new = buffer("k", 32, value_id=1, start_step=4)
    assert sorted(owned_bytes([old, new]).values()) == [0, 32]
    apart = new._replace(offset_bytes=32)
    assert shares(side(old, new), side(old, apart)) == {("alias", "temp"): 32}


def test_packing() -> None:
    found = shares(side(buffer("h", 32)), side(buffer("h", 32), fragmentation=96))
    assert found == {("fragmentation", "temp"): 96}


def test_without_live_ranges_temporary_memory_is_one_part() -> None:
    base = side(buffer("h", 32))
    bare = profile([buffer("h", 64)])._replace(
        temp_live_peak_bytes=None, fragmentation_bytes=None
    )
    assert shares(base, Side({0: bare}, [], ())) == {("temp", "temp"): 32}


# --- Properties -------------------------------------------------------------------

KINDS = ("temp", "temp", "temp", "live_out", "constant", "parameter", "thread_local")


@st.composite
def modules(draw: st.DrawFn) -> Side:
    """Buffers of every kind, of few names, sharing bytes here and there."""
    buffers = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(KINDS))
        size = draw(st.integers(0, 6)) * 4
        type_, width = draw(st.sampled_from([("f32", 4), ("bf16", 2), ("s8", 1)]))
        color = draw(st.integers(0, 1))
        buffers.append(
            buffer(
                draw(st.sampled_from("abc")),
                size,
                kind=kind,
                color=color,
                allocation_id=color if kind == "temp" else 10 + number,
                value_id=number,
                op_path=draw(st.sampled_from([None, "x/dot", "y/exp"])),
                array_type=f"{type_}[{size // width}]",
                logical_bytes=draw(st.integers(0, size)),
                offset_bytes=draw(st.integers(0, 8)) if kind == "temp" else 0,
                start_step=draw(st.integers(0, 3)),
                is_counted=kind != "temp" or draw(st.booleans()),
            )
        )
    profiles = {
        color: profile([b for b in buffers if b.color == color])._replace(color=color)
        for color in sorted({b.color for b in buffers})
    }
    return Side(profiles, buffers, ())


def of_candidate(one: Side) -> Side:
    return one._replace(buffers=[b._replace(is_candidate=True) for b in one.buffers])


@given(modules(), modules())
@settings(max_examples=300)
def test_every_byte_falls_into_a_part(base: Side, candidate: Side) -> None:
    for fall in waterfalls(base, of_candidate(candidate)):
        assert fall.residual_bytes == 0
        assert sum(change.delta_bytes for change in fall.changes) == fall.delta_bytes


@given(modules(), modules())
@settings(max_examples=200)
def test_what_fills_the_memory_adds_up_on_each_side(
    base: Side, candidate: Side
) -> None:
    """To what is reserved without the room that packing loses."""
    for fall in waterfalls(base, of_candidate(candidate)):
        for one, name in ((base, "base_bytes"), (candidate, "candidate_bytes")):
            profile = one.profiles.get(fall.color)
            filled = of_profile(profile, "reserved_bytes")
            filled -= of_profile(profile, "fragmentation_bytes")
            assert sum(getattr(held, name) or 0 for held in fall.held) == filled
        for held in fall.held:
            moved = (held.candidate_bytes or 0) - (held.base_bytes or 0)
            assert (moved == 0) == (held.status == "same")


@given(modules(), modules())
@settings(max_examples=300)
def test_the_other_way_round_it_is_the_opposite(base: Side, candidate: Side) -> None:
    there = waterfalls(base, of_candidate(candidate))
    back = waterfalls(candidate, of_candidate(base))
    assert [part_sums(w) for w in back] == [opposite_sums(w) for w in there]


@given(modules())
@settings(max_examples=100)
def test_nothing_changes_between_a_module_and_itself(one: Side) -> None:
    assert [w.changes for w in waterfalls(one, of_candidate(one))] == [
        () for _ in one.profiles
    ]


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    create_schema(opened)
    return opened


@given(assignments(), assignments())
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_assignments_of_a_warehouse_close(
    connection: duckdb.DuckDBPyConnection, base: Assignment, candidate: Assignment
) -> None:
    connection.execute("BEGIN")
    try:
        store(connection, [base], "a", 1)
        store(connection, [candidate], "b", 2)
        buffers = read_buffers(connection, [(101, 201)])
        profiles = _profiles(connection)
    finally:
        connection.execute("ROLLBACK")
    falls = waterfalls(
        Side(dict(profiles.get(101, {})), buffers.get((0, False), []), ()),
        Side(dict(profiles.get(201, {})), buffers.get((0, True), []), ()),
    )
    assert [fall.residual_bytes for fall in falls] == [0 for _ in falls]


def _profiles(connection: duckdb.DuckDBPyConnection) -> Profiles:
    modules = read_modules(connection, read_runs(connection))
    return read_profiles(connection, (m for ms in modules.values() for m in ms))


def test_changes_are_in_order_of_their_size() -> None:
    many = [
        buffer(f"b{n}", 4 * n, value_id=n, offset_bytes=100 * n) for n in range(1, 5)
    ]
    (fall,) = waterfalls(side(), side(*many))
    sizes = [change.delta_bytes for change in fall.changes]
    assert sizes == sorted(sizes, reverse=True) == [16, 12, 8, 4]
    assert {type(change) for change in fall.changes} == {Change}


def argument(name: str, number: int, size: int = 32) -> Buffer:
    place = f"{number}{{}}"
    more = {"op_path": name, "parameter": place, "allocation_id": number}
    return buffer(name, size, kind="parameter", opcode="parameter", **more)


def test_an_argument_more_leaves_those_behind_it_what_they_are() -> None:
    """Though it gives them other numbers, and may be like them."""
    base = [argument(name, i) for i, name in enumerate(("w[0]", "m[0]", "x"))]
    names = ("w[0]", "w[1]", "m[0]", "m[1]", "x")
    matches = match_buffers(base, [argument(name, i) for i, name in enumerate(names)])
    found = {
        (m.base and m.base.op_path, m.candidate and m.candidate.op_path)
        for m in matches
    }
    assert found == {
        ("w[0]", "w[0]"),
        ("m[0]", "m[0]"),
        ("x", "x"),
        (None, "w[1]"),
        (None, "m[1]"),
    }


def test_arguments_of_other_names_are_the_same_where_their_shapes_are() -> None:
    base = argument("w", 0), argument("x", 1)
    renamed = argument("params", 0), argument("batch", 1, 64)
    assert shares(side(*base), side(*renamed)) == {
        ("gone", "parameter"): -32,
        ("new", "parameter"): 64,
    }


def test_arguments_that_share_a_name_are_told_by_their_numbers() -> None:
    base = argument("XLA_Args", 0), argument("XLA_Args", 1, 64)
    grown = argument("XLA_Args", 0, 48), argument("XLA_Args", 1, 64)
    assert shares(side(*base), side(*grown)) == {("resized", "parameter"): 16}

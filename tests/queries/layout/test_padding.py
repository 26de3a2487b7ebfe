"""Padding of values, at the peak and by tiles, element by element."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.assignments import (
    Allocation,
    Assignment,
    Value,
    assignments,
    covered,
    has_ranges,
    live_peak,
)
from tests.queries.stored import Connection, examples, stored


@dataclass(frozen=True)
class Tiled:
    """A printed array shape: sizes major first, order minor first, tile of the end."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    tile: tuple[int, ...]
    bits: int

    @property
    def logical_bytes(self) -> int:
        return -(-prod(self.sizes) * self.bits // 8)

    def __str__(self) -> str:
        dtype = {2: "s2", 4: "s4", 8: "u8", 16: "bf16", 32: "f32"}[self.bits]
        packed = f"E({self.bits})" if self.bits < 8 else ""
        tile = f"T({','.join(map(str, self.tile))})(2,1)" if self.tile else ""
        tile = f":{tile}{packed}S(1)" if tile + packed else ""
        order = ",".join(map(str, self.order))
        return f"{dtype}[{','.join(map(str, self.sizes))}]{{{order}{tile}}}"

    def tiled_bytes(self) -> int:
        """Count the tiles that any element lies in."""
        depth = max(len(self.sizes), len(self.tile))
        steps = (*self.tile[::-1], *(1 for _ in range(depth - len(self.tile))))
        touched = set()
        for place in product(*map(range, self.sizes)):
            minor_first = [place[dimension] for dimension in self.order]
            padded = minor_first + [0] * (depth - len(minor_first))
            touched.add(tuple(p // s for p, s in zip(padded, steps, strict=True)))
        return -(-len(touched) * prod(steps) * self.bits // 8)


@st.composite
def tiled_shapes(draw: st.DrawFn) -> Tiled:
    sizes = draw(st.lists(st.integers(0, 5), max_size=4))
    order = draw(st.permutations(range(len(sizes))))
    tile = draw(st.lists(st.integers(1, 4), max_size=3))
    bits = draw(st.sampled_from([2, 4, 8, 16, 32]))
    return Tiled(tuple(sizes), tuple(order), tuple(tile), bits)


@pytest.mark.slow
@examples
@given(shape=tiled_shapes(), rounding=st.integers(0, 9))
def test_padding_of_a_tiled_array(
    empty_warehouse: Connection, shape: Tiled, rounding: int
) -> None:
    """What tiles add, and what the allocator adds beyond."""
    tiled = shape.tiled_bytes() if shape.tile else shape.logical_bytes
    size = tiled + rounding
    value = Value(0, 0, size, 0, 1, shape.logical_bytes)
    assignment = Assignment((Allocation(0, size, 0, "temp", (value,)),), 1)
    with stored(empty_warehouse, assignment) as connection:
        connection.execute('UPDATE store."values" SET shape = ?', [str(shape)])
        rows = connection.execute(
            "SELECT logical_bytes, size_bytes, padding_bytes, tile_padding_bytes,"
            " rounding_bytes FROM padding_waste()"
        ).fetchall()
    logical = shape.logical_bytes
    expected = (logical, size, size - logical, tiled - logical, rounding)
    assert rows == ([expected] if size > logical else [])


@pytest.mark.parametrize(
    ("shape", "logical", "size"),
    [
        ("s4[33,17]{0,1:T(8,128)(8,1)E(4)}", 281, 1536),
        ("s4[33,17]{1,0:T(8,128)(8,1)E(4)S(1)}", 281, 2560),
        ("s2[33,17]{0,1:T(16,128)(16,1)E(2)}", 141, 1024),
        ("s4[1000]{0:T(1024)(128)(8,1)E(4)}", 500, 512),
        ("pred[33,17]{0,1:T(8,128)(4,1)}", 561, 3072),
    ],
)
def test_elements_of_less_than_a_byte_fill_their_tiles(
    empty_warehouse: Connection, shape: str, logical: int, size: int
) -> None:
    """Sizes that libtpu 0.0.42 assigned for a v5e: all padding is that of tiles."""
    value = Value(0, 0, size, 0, 1, logical)
    assignment = Assignment((Allocation(0, size, 0, "temp", (value,)),), 1)
    with stored(empty_warehouse, assignment) as connection:
        connection.execute('UPDATE store."values" SET shape = ?', [shape])
        rows = connection.execute(
            "SELECT tile_padding_bytes, rounding_bytes FROM padding_waste()"
        ).fetchall()
    assert rows == [(size - logical, 0)]


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_padding_of_every_value(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        rows = connection.execute(
            "SELECT instruction, padding_bytes, padding_ratio"
            " FROM padding_waste(top := 1000)"
        ).fetchall()
    assert sorted(rows) == sorted(
        (f"v{v.value_id}", v.size - v.logical, (v.size - v.logical) / v.size)
        for a in assignment.allocations
        for v in a.values
        if v.size > v.logical
    )


def test_a_value_is_padded_by_its_own_logical_bytes(
    empty_warehouse: Connection,
) -> None:
    """Two of one shape, as an unknown element type is read, are a row each."""
    values = tuple(Value(n, 8 * n, 8, 0, 1, 4 + n) for n in range(2))
    assignment = Assignment((Allocation(0, 16, 0, "temp", values),), 1)
    with stored(empty_warehouse, assignment) as connection:
        connection.execute("UPDATE store.\"values\" SET shape = 'x7[4]{0}'")
        rows = connection.execute(
            "SELECT instruction, padding_bytes, rounding_bytes FROM padding_waste()"
        ).fetchall()
    assert rows == [("v0", 4, 4), ("v1", 3, 3)]


@pytest.mark.slow
@examples
@given(assignment=assignments())
def test_padding_at_the_peak(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    """Padding of temporaries, each byte for the newest value that holds it."""
    temps = tuple(a for a in assignment.allocations if a.kind == "temp")
    only_temps = replace(assignment, allocations=temps)
    with stored(empty_warehouse, only_temps) as connection:
        rows = connection.execute(
            "SELECT color, live_peak_bytes, padding_bytes, uncovered_bytes"
            " FROM padding_at_peak()"
        ).fetchall()
    expected = []
    for color in only_temps.colors if has_ranges(only_temps) else []:
        peak, step = live_peak(only_temps, color)
        padding = sum(
            is_padding(a, byte, step)
            for a in only_temps.of_color(color)
            for byte in covered(a, step)
        )
        if any(v.live_at(step) for a in only_temps.of_color(color) for v in a.values):
            expected.append((color, peak, padding, 0))
    assert sorted(rows) == expected


def is_padding(allocation: Allocation, byte: int, step: int) -> bool:
    held = [v for v in allocation.values if v.live_at(step) and byte in v.bytes_set()]
    newest = max(held, key=lambda v: (v.start or 0, v.value_id))
    return byte >= newest.offset + newest.logical

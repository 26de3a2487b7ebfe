"""Largest sizes that fit, of programs whose bytes are a law of the batch."""

from __future__ import annotations

import pytest

from hlodb.queries.run import Value, run_query
from tests.queries.assignments import Allocation, Assignment
from tests.queries.stored import Connection, stored

Row = dict[str, object]


def compiled(batch: int, width: int = 5) -> Assignment:
    """Return a module of 40 bytes of parameters and 100 bytes per batch of temps."""
    layout = f"(f32[{batch},3]{{1,0}}, bf16[7,{width}]{{1,0}})->f32[{batch}]{{0}}"
    extra = {"entry_layout": layout, "program_key": 100 * batch + width}
    allocations = (
        Allocation(0, 40, 0, "parameter"),
        Allocation(1, 100 * batch, 0, "temp"),
    )
    return Assignment(allocations, 1, extra=extra)


def fits(connection: Connection, *modules: Assignment, **asked: Value) -> list[Row]:
    with stored(connection, *modules):
        return run_query(connection, "largest_fit", asked).dicts()


@pytest.mark.parametrize(
    ("batches", "limit", "largest", "growing", "is_checked"),
    [
        # 40 + 100 * 9 = 940, and 100 * (9 - 2) of them grow.
        ((2, 4), 1000, 9, 700, False),
        ((2, 4), 940, 9, 700, False),
        ((2, 4), 939, 8, 600, False),
        ((2, 4, 5), 1000, 9, 700, True),
        ((3, 4), 1000, 9, 600, False),
        # Without a limit the part grows up to the greatest compiled size.
        ((2, 4), None, None, 200, False),
    ],
)
def test_the_largest_size_is_the_last_below_the_limit(
    empty_warehouse: Connection,
    batches: tuple[int, ...],
    limit: int | None,
    largest: int | None,
    growing: int,
    is_checked: bool,
) -> None:
    modules = [compiled(batch) for batch in batches]
    [row] = fits(empty_warehouse, *modules, limit_bytes=limit)
    shown = (
        *("axis", "other_axes", "size_count", "min_size", "max_size"),
        *("largest_size", "usable_bytes", "constant_bytes", "linear_bytes"),
        *("quadratic_bytes", "max_residual_bytes", "is_checked"),
        *("growing_part", "growing_bytes"),
    )
    assert {name: row[name] for name in shown} == {
        "axis": "0[0]",
        "other_axes": None,
        "size_count": len(batches),
        "min_size": min(batches),
        "max_size": max(batches),
        "largest_size": largest,
        "usable_bytes": limit,
        "constant_bytes": 40,
        "linear_bytes": pytest.approx(100),
        "quadratic_bytes": 0,
        "max_residual_bytes": 0,
        "is_checked": is_checked,
        "growing_part": "temp",
        "growing_bytes": growing,
    }


def test_nothing_is_said_of_one_size(empty_warehouse: Connection) -> None:
    assert fits(empty_warehouse, compiled(2)) == []
    assert fits(empty_warehouse, compiled(2), compiled(4), min_sizes=3) == []


def test_each_axis_has_a_law_of_its_own(empty_warehouse: Connection) -> None:
    """Memory does not grow with the width: any fits, and no part grows."""
    modules = [compiled(2), compiled(4), compiled(2, width=6)]
    rows = fits(empty_warehouse, *modules, limit_bytes=1000)
    found = {
        row["axis"]: (row["other_axes"], row["largest_size"], row["growing_part"])
        for row in rows
    }
    assert found == {
        "0[0]": ("1[1] = 5", 9, "temp"),
        "1[1]": ("0[0] = 2", None, None),
    }

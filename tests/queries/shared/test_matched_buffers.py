"""What the compiler adds is matched by its instruction at another size."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.reports.worlds import Buffer, Program, World, make

RANK = 9


def methods(folder: Path, *changed: int) -> set[tuple[str, float, str, str]]:
    """Return how surely a buffer is matched where dimensions of it have doubled."""
    before = [2] * RANK
    after = [4 if d in changed else 2 for d in range(RANK)]
    nights = [
        World(name, (Program("jit_f", (Buffer("copy.1", size, shape(dimensions)),)),))
        for name, size, dimensions in (("a", 2048, before), ("b", 8192, after))
    ]
    with connect(make(folder / "w.duckdb", *nights)) as connection:
        asked = {"base": "a", "candidate": "b"}
        rows = run_query(connection, "buffer_diff", asked).dicts()
    return {
        (
            row["match_method"],
            row["match_confidence"],
            row["base_shape"],
            row["shape"],
        )
        for row in rows
        if row["base_instruction"] and row["instruction"]
    }


def shape(dimensions: list[int]) -> str:
    return f"f32[{','.join(map(str, dimensions))}]"


@pytest.mark.parametrize(
    "changed",
    [
        0,
        *(pytest.param(d, marks=pytest.mark.slow) for d in range(1, RANK - 2)),
        RANK - 2,
    ],
)
def test_one_of_eight_dimensions_may_differ(changed: int, tmp_path: Path) -> None:
    after = [4 if d == changed else 2 for d in range(RANK)]
    assert methods(tmp_path, changed) == {
        ("instruction at another size", 0.6, shape([2] * RANK), shape(after))
    }


@pytest.mark.parametrize(
    "changed",
    [
        (8,),
        (0, 1),
        *(pytest.param(d, marks=pytest.mark.slow) for d in [(3, 4), (2, 7), (6, 7)]),
    ],
)
def test_a_ninth_or_two_may_differ_less_surely(
    changed: tuple[int, ...], tmp_path: Path
) -> None:
    after = [4 if d in changed else 2 for d in range(RANK)]
    assert methods(tmp_path, *changed) == {
        ("instruction at another size", 0.5, shape([2] * RANK), shape(after))
    }

"""What takes memory at run time, against the buffer assignment and its limit."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

OF_THE_ASSIGNMENT = ("arguments", "constants", "results", "temporaries")


@pytest.mark.slow
def test_parts_add_up_to_what_headroom_judges(demo_warehouse: Path) -> None:
    run = "v5e-jax-0.10.2"
    with connect(demo_warehouse) as connection:
        asked = {"run": run}
        headroom = run_query(connection, "headroom", asked).dicts()
        parts = run_query(connection, "run_time_parts", asked).dicts()
    sums: dict[tuple[str, int], int] = defaultdict(int)
    left: dict[tuple[str, int], int] = {}
    for row in parts:
        place = row["path"], row["color"]
        if row["part"] in OF_THE_ASSIGNMENT:
            sums[place] += row["part_bytes"]
            left[place] = row["left_bytes"]
        assert row["is_known"] == (row["part_bytes"] is not None)
    expected = {(row["path"], row["color"]): row for row in headroom}
    assert sums == {key: row["reserved_bytes"] for key, row in expected.items()}
    assert left == {key: row["headroom_bytes"] for key, row in expected.items()}
    others = [row for row in parts if row["part"] == "other programs"]
    assert others
    assert all(row["part_bytes"] >= 0 for row in others)

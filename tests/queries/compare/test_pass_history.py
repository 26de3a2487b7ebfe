"""Snapshots of a module in the order of the passes between them."""

from __future__ import annotations

from typing import Any

from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from tests.occurrences import store_modules
from tests.queries.stored import add

NAMES = (
    *("stage", "pass_step", "pipeline", "pass_after", "pass_before", "module_id"),
    *("instruction_count", "fusion_count", "computation_count"),
)
SNAPSHOTS = [
    ("after_optimizations", None, None, None, None, 4, 6, 2, 3),
    ("pass", 2, "fusion", "dce", "fusion", 2, 9, 0, 1),
    ("before_optimizations", None, None, None, None, 1, 12, 0, 1),
    ("pass", 10, "fusion", "fusion", "end", 3, 5, 2, 3),
    ("pass", 3, "fusion", "fusion", "cse", 2, 9, 0, 1),
]


def test_passes_are_ordered_by_number_between_the_stages(warehouse: Connection) -> None:
    add(warehouse, "runs", run_id=1, name="night")
    common = {"run_id": 1, "program": "jit_f", "module_number": 7, "part": 0}
    modules: list[dict[str, Any]] = [
        common | dict(zip(NAMES, row, strict=True)) | {"path": f"{row[0]}.{row[1]}"}
        for row in SNAPSHOTS
    ]
    other = {"run_id": 1, "module_id": 9, "module_number": 8, "path": "g", "part": 0}
    store_modules(warehouse, [*modules, {**other, "program": "jit_g", "stage": "pass"}])
    for color, reserved, live in ((0, 4096, 1024), (1, 77, 7)):
        facts = {"reserved_bytes": reserved, "live_peak_bytes": live}
        add(warehouse, "memory_profile", module_id=4, color=color, **facts)
    rows = run_query(warehouse, "pass_history", {"program": "jit_f"}).rows
    one = ("night", "jit_f", 7, None)
    unknown = (None, None)
    assert rows == [
        (*one, 0, "before_optimizations", *(None,) * 5, 12, None, 0, 1, *unknown),
        (*one, 1, "pass", 2, "fusion", "dce", "fusion", True, 9, -3, 0, 1, *unknown),
        (*one, 2, "pass", 3, "fusion", "fusion", "cse", False, 9, 0, 0, 1, *unknown),
        (*one, 3, "pass", 10, "fusion", "fusion", "end", True, 5, -4, 2, 3, *unknown),
        (
            *(*one, 4, "after_optimizations", *(None,) * 4, True, 6, 1, 2, 3),
            *(4096, 1024),
        ),
    ]

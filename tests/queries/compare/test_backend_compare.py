"""One program on several devices and releases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.reports.situations import EVAL, MIB, WORK, night
from tests.reports.worlds import Program, make


def sized(*mebibytes: int, source: str = "source", padding: int = 0) -> Program:
    """Return a program of temporaries, each live at a step of its own."""
    buffers = tuple(
        replace(WORK, name=f"w{n}", size=size * MIB, start=n, end=n)
        for n, size in enumerate(mebibytes)
    )
    return Program("jit_step", buffers, source=source, padding=padding)


def test_the_latest_run_of_each_backend_is_compared(tmp_path: Path) -> None:
    tpu = {"platform": "tpu", "device": "TPU v5e", "compiler": "2"}
    nights = (
        night(1, sized(1), EVAL, compiler="1"),
        # 2 and 2 MiB that never meet: half of the arena is fragmentation.
        night(2, sized(2, 2), compiler="1"),
        night(3, sized(6, padding=5), **tpu),
        night(4, sized(8, source="other"), compiler="2"),
    )
    path = make(tmp_path / "w.duckdb", *nights)
    with connect(path, read_only=False) as connection:
        connection.execute(
            "UPDATE memory_profile SET fragmentation_ratio ="
            " fragmentation_bytes / temp_bytes"
        )
        rows = run_query(connection, "backend_compare").rows
        assert (
            run_query(connection, "backend_compare", {"program": "jit_eval"}).rows == []
        )
    step, ratio = ("jit_step", 0), pytest.approx
    assert rows == [
        (
            *(*step, "cpu", None, "1", "night-2", "host"),
            *(4 * MIB, 1.0, 2 * MIB, 1.0, 0.5, 0, True, 1),
        ),
        (
            *(*step, "tpu", "TPU v5e", "2", "night-3", "HBM"),
            *(6 * MIB, 1.5, 6 * MIB, ratio(3), 0.0, 5, True, 1),
        ),
        (
            *(*step, "cpu", None, "2", "night-4", "host"),
            *(8 * MIB, 2.0, 8 * MIB, ratio(4), 0.0, 0, False, 1),
        ),
    ]

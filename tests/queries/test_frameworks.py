"""Dumps of TensorFlow and PyTorch/XLA: all of them is read, and the numbers agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

OF_MODULES = (
    "called_computations",
    "computations",
    "instructions",
    "locations",
    "operands",
)
OF_ASSIGNMENTS = (
    "allocation_values",
    "allocations",
    "value_positions",
    "value_uses",
    "values",
)
OF_SCHEDULES = ("live_ranges", "schedule")


def test_every_line_is_understood(framework_warehouse: Path) -> None:
    with connect(framework_warehouse) as connection:
        files = connection.execute("SELECT status, lines_unclaimed FROM dump_files")
        assert Counter(files.fetchall()) == {("loaded", 0): 143, ("loaded", None): 78}
        assert connection.execute("FROM rejects").fetchall() == []


@pytest.mark.parametrize(
    ("framework", "has_schedule"),
    [("pytorch-2.9.0", 1), ("tensorflow-2.13.1", 0), ("tensorflow-2.21.0", 1)],
)
def test_text_and_proto_say_the_same(
    framework_warehouse: Path, framework: str, has_schedule: int
) -> None:
    compared = "SELECT table_name FROM proto_comparisons JOIN runs USING (run_id)"
    of_framework = f"WHERE starts_with(name, '{framework}')"
    with connect(framework_warehouse) as connection:
        tables = connection.execute(f"{compared} {of_framework}").fetchall()
        differing = connection.execute(f"{compared} WHERE difference_count > 0")
        assert differing.fetchall() == []
    # Two nights of six and seven programs, before and after optimisation.
    assert Counter(name for (name,) in tables) == {
        **dict.fromkeys(OF_MODULES, 26),
        **dict.fromkeys(OF_ASSIGNMENTS, 13),
        **dict.fromkeys(OF_SCHEDULES * has_schedule, 13),
    }


def test_all_checks_hold(framework_warehouse: Path) -> None:
    """Among others of a donated parameter that nobody reads, and of calls."""
    with connect(framework_warehouse) as connection:
        found = run_query(connection, "check_results", {}).rows
    assert {(status, faults) for _, status, *_, faults, _ in found} == {("ok", 0)}


def test_every_line_of_early_releases_is_understood(graph_warehouse: Path) -> None:
    with connect(graph_warehouse) as connection:
        files = connection.execute("SELECT status, lines_unclaimed FROM dump_files")
        # Of six releases and three programs: three texts and two messages.
        assert Counter(files.fetchall()) == {("loaded", 0): 54, ("loaded", None): 36}
        assert connection.execute("FROM rejects").fetchall() == []


def test_all_checks_hold_of_early_releases(graph_warehouse: Path) -> None:
    """Among others of ends of live ranges, which were trimmed otherwise until 2022."""
    with connect(graph_warehouse) as connection:
        found = run_query(connection, "check_results", {}).rows
    held = {name: rows[-1] for name, *rows in found if rows[0] == "ok"}
    assert set(held) == {name for name, *_ in found}
    assert (held["range_ends"], held["uses"]) == (151, 407)


@pytest.mark.parametrize("release", ["1.14.0", "1.15.5", "2.1.4", "2.4.4"])
def test_parameters_of_early_releases_have_shapes(
    graph_warehouse: Path, release: str
) -> None:
    """Text of the first three prints none for them; the graphs are the same."""
    with connect(graph_warehouse) as connection:
        found = connection.execute(
            """
            SELECT m.module_number, a.parameter_number, a.parameter_shape_index, a.shape
            FROM allocations AS a JOIN modules AS m USING (module_id)
            JOIN runs AS r USING (run_id)
            WHERE a.kind = 'parameter' AND r.name = ? ORDER BY ALL
            """,
            [f"tensorflow-{release}"],
        ).fetchall()
    assert found == [
        (0, 0, "{}", "f32[32,64]"),
        (0, 1, "{}", "f32[64,128]"),
        (0, 2, "{}", "f32[128,10]"),
        (1, 0, "{}", "f32[16,16]"),
        (2, 0, "{}", "f32[9]"),
    ]


@pytest.mark.parametrize("release", ["1.14.0", "1.15.5", "2.1.4", "2.4.4"])
def test_donations_that_early_releases_miss(
    graph_warehouse: Path, release: str
) -> None:
    with connect(graph_warehouse) as connection:
        run = f"tensorflow-{release}"
        found = run_query(connection, "donation_ledger", {"run": run})
    names = [column.name for column in found.columns]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows]
    assert [
        (r["module_number"], r["status"], r["parameter_number"], r["output_index"])
        for r in rows
    ] == [
        (0, "missed", 1, "{0}"),
        (0, "missed", 2, "{1}"),
        (1, "missed", 0, "{}"),
        (2, "missed", 0, "{}"),
    ]


@pytest.mark.parametrize(
    ("run", "number", "phases"),
    [
        (
            "tensorflow-2.21.0/second",
            1,
            [("backward", 28_672), ("other", 17_412), ("parameter", 6_272)],
        ),
        (
            "pytorch-2.9.0/second",
            1,
            [
                ("other", 37_120), ("backward", 8_192), ("parameter", 6_404),
                ("none", 256), ("constant", 4),
            ],
        ),
    ],
)  # fmt: skip
def test_backward_passes_are_told(
    framework_warehouse: Path, run: str, number: int, phases: list[tuple[str, int]]
) -> None:
    with connect(framework_warehouse) as connection:
        found = run_query(connection, "fwd_bwd_split", {"run": run})
    names = [column.name for column in found.columns]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows]
    assert [
        (row["phase"], row["owned_bytes"])
        for row in rows
        if row["module_number"] == number
    ] == phases

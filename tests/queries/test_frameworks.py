"""Dumps of TensorFlow and PyTorch/XLA: all of them is read, and the numbers agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
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
            [
                ("backward", 28_672), ("forward", 16_384), ("parameter", 6_272),
                ("other", 1_028),
            ],
        ),
        (
            "pytorch-2.9.0/second",
            1,
            [
                ("forward", 37_248), ("backward", 8_320), ("parameter", 6_404),
                ("constant", 4),
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


@pytest.mark.parametrize("release", ["2.13.1", "2.21.0"])
def test_a_file_that_tensorflow_made_up_is_no_source(
    framework_warehouse: Path, release: str
) -> None:
    """It says dummy_file_name:10 of all clusters that it finds itself."""
    asked = {"run": f"tensorflow-{release}/first", "program": "cluster"}
    with connect(framework_warehouse) as connection:
        found = run_query(connection, "peak_by_source_line", asked).dicts()
    assert {(row["source_file"], row["source_line"]) for row in found} == {(None, None)}


WEIGHTS = 2 * 2 * 16 * 64 * 4
"""Two matrices of two blocks, in float32."""


def roles_of(connection: Connection, program: str) -> dict[str, int]:
    """Give the bytes of each role at the peak of a program."""
    answer = run_query(connection, "peak_by_role", {"program": program}).dicts()
    found: Counter[str] = Counter()
    for row in answer:
        found[str(row["role"])] += int(str(row["owned_bytes"]))
    return found


def test_a_training_step_tells_its_state_from_its_weights(
    steps_warehouse: Path,
) -> None:
    """All are donated, and TensorFlow calls each of them XLA_Args."""
    with connect(steps_warehouse) as connection:
        plain = roles_of(connection, "inference_plain")
        sums = roles_of(connection, "inference_accumulate")
        recurrent = roles_of(connection, "inference_recurrent")
    assert (plain["weights"], plain["optimiser_state"]) == (WEIGHTS, WEIGHTS)
    # Gradients are summed up; weights are read alone, as the images are.
    assert (sums["weights"], sums["optimiser_state"]) == (0, WEIGHTS)
    assert sums["inputs"] == WEIGHTS + 80 * 16 * 4
    assert (recurrent["weights"], recurrent["optimiser_state"]) == (1024, 1024)


def test_what_is_computed_once_more_is_not_saved(steps_warehouse: Path) -> None:
    """With recompute_grad only the results of both blocks are kept, [80, 16] each."""
    with connect(steps_warehouse) as connection:
        plain = roles_of(connection, "inference_plain")
        remat = roles_of(connection, "inference_remat")
    assert remat["saved_activations"] == 2 * 80 * 16 * 4
    # Each block keeps what its two products and functions of them are.
    assert plain["saved_activations"] == 2 * (4 * 80 * 64 + 80 * 16) * 4
    assert "backward_workspace" not in plain


def test_a_loop_saves_its_steps(steps_warehouse: Path) -> None:
    """Of five steps the state before and after, the matrix, and where they are."""
    asked = {"program": "inference_recurrent"}
    with connect(steps_warehouse) as connection:
        found = run_query(connection, "fwd_bwd_split", asked).dicts()
    saved = {row["phase"]: row["saved_activation_bytes"] for row in found}
    assert saved.pop("forward") == 5 * (2 * 80 * 16 + 16 * 16) * 4 + 4
    assert set(saved.values()) == {0}

"""Dumps of TensorFlow and PyTorch/XLA: all of them is read, and the numbers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
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


@pytest.mark.slow
def test_every_line_is_understood(framework_warehouse: Path) -> None:
    with connect(framework_warehouse) as connection:
        files = connection.execute("SELECT status, lines_unclaimed FROM dump_files")
        assert Counter(files.fetchall()) == {("loaded", 0): 143, ("loaded", None): 78}
        assert connection.execute("FROM rejects").fetchall() == []


@pytest.mark.parametrize(
    ("framework", "has_schedule"),
    [
        pytest.param("pytorch-2.9.0", 1, marks=pytest.mark.slow),
        pytest.param("tensorflow-2.13.1", 0, marks=pytest.mark.slow),
        ("tensorflow-2.21.0", 1),
    ],
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
            # Forward are two results of a layer, f32[32,64].
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
    """Return the bytes of each role at the peak of a program, copies apart."""
    answer = run_query(connection, "peak_by_role", {"program": program}).dicts()
    return by_role(answer)


def by_role(rows: Iterable[dict[str, Value]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        is_copy = str(row["rule_id"]).startswith("copy_of_")
        role = "copies" if is_copy else str(row["role"])
        found[role] += int(str(row["owned_bytes"]))
    return found


@pytest.mark.slow
def test_a_training_step_tells_its_state_from_its_weights(
    steps_warehouse: Path,
) -> None:
    """All are donated, and TensorFlow calls each of them XLA_Args."""
    with connect(steps_warehouse) as connection:
        plain = roles_of(connection, "inference_plain")
        sums = roles_of(connection, "inference_accumulate")
        recurrent = roles_of(connection, "inference_recurrent")
    # Of what is copied first, others use the memory.
    held = plain["weights"] + plain["copies"]
    assert (held, plain["optimiser_state"]) == (WEIGHTS, WEIGHTS)
    # Gradients are summed up; weights are read alone, as the images are.
    assert (sums["weights"], sums["optimiser_state"]) == (0, WEIGHTS)
    assert sums["inputs"] == WEIGHTS + 80 * 16 * 4
    assert (recurrent["weights"], recurrent["optimiser_state"]) == (1024, 1024)


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("night", "layers", "expected"),
    [
        (
            "first",
            2,
            {
                "weights": 16_416, "optimiser_state": 43_520, "copies": 70_688,
                "saved_activations": 2 * 24_576, "gradients": 11_264,
                "inputs": 8_232, "optimiser_workspace": 32, "constants": 4,
                "outputs": 4,
            },
        ),
        (
            "second",
            3,
            {
                "weights": 16_672, "optimiser_state": 51_712, "copies": 103_968,
                "saved_activations": 3 * 24_576, "gradients": 11_264,
                "inputs": 8_232, "optimiser_workspace": 32, "constants": 4,
                "outputs": 4,
            },
        ),
    ],
)  # fmt: skip
def test_who_owns_the_peak_of_a_training_by_pytorch(
    training_warehouse: Path, night: str, layers: int, expected: dict[str, int]
) -> None:
    """Its lines tell the passes, and where autograd has threads that they have none."""
    with connect(training_warehouse) as connection:
        asked: dict[str, Value] = {"run": night}
        of_roles = run_query(connection, "peak_by_role", asked).dicts()
        of_phases = run_query(connection, "fwd_bwd_split", asked).dicts()
    roles = by_role(r for r in of_roles if r["module_number"] == 1)
    assert roles == expected
    # Where a parameter is copied first, its memory holds activations at the peak.
    assert roles["saved_activations"] == layers * 3 * 4 * 32 * 64
    phases = [r for r in of_phases if r["module_number"] == 1]
    # Each layer keeps three f32[32,64] for its gradients.
    kept = {r["phase"]: r["saved_activation_bytes"] for r in phases}
    assert kept.pop("forward") == layers * 3 * 4 * 32 * 64
    assert set(kept.values()) == {0}


def test_the_first_step_of_a_training_is_given_no_state(
    training_warehouse: Path,
) -> None:
    with connect(training_warehouse) as connection:
        rows = run_query(connection, "peak_by_role", {"run": "first"}).dicts()
    roles = {r["role"]: r["owned_bytes"] for r in rows if r["module_number"] == 0}
    assert roles == {
        "saved_activations": 2 * 24_576, "outputs": 17_476, "weights": 16_416,
        "gradients": 11_264, "inputs": 8_232, "constants": 4,
    }  # fmt: skip


def test_gradients_that_are_added_up_are_no_weights(training_warehouse: Path) -> None:
    """Though the program updates them alone: autograd is the first to read them."""
    with connect(training_warehouse) as connection:
        rows = run_query(connection, "peak_by_role", {"run": "second"}).dicts()
    assert [
        (row["role"], row["rule_id"], row["owned_bytes"])
        for row in rows
        if row["module_number"] == 3
    ] == [
        ("saved_activations", "saved", 3 * 24_576),
        ("inputs", "argument", 60_160),
        # Of all three layers and the head, but those that are copied first.
        ("gradients", "gradient_by_line", 4 * (2 * 64 * 64 + 64 + 64 * 8 + 8)),
        ("gradients", "copy_of_gradient_by_line", 33_280),
        ("outputs", "live_out", 16_416),
        ("gradients", "backward", 9_216),
    ]


@pytest.mark.slow
def test_programs_that_share_a_name_are_held_against_their_like(
    framework_warehouse: Path,
) -> None:
    """As `hlodb diff` does, though what comes first in one night counts others up."""
    nights: dict[str, Value] = {
        "base": "pytorch-2.9.0/first",
        "candidate": "pytorch-2.9.0/second",
    }
    with connect(framework_warehouse) as connection:
        found = run_query(connection, "matched_modules", nights).dicts()
        aliases = run_query(connection, "alias_changes", nights).rows
    assert aliases == []  # None of them is another's.
    said = ("base_module_number", "candidate_module_number", "is_comparable")
    pairs = {tuple(row[name] for name in said) for row in found}
    assert pairs == {
        (0, 1, True),
        (1, 2, True),
        (3, 4, False),
        (4, 5, True),
        (5, 6, True),
        (6, 7, False),
        (None, 0, False),
    }

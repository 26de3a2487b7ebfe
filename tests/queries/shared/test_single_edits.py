"""What is claimed of edits one at a time, and of two together, as compiled.

tests/data/newcomers/flow.tar.xz has nights of a fluid solver of 219 MiB, whose steps
have a loop of their own: a checkpoint that was dropped (night2) or moved around the
whole step (night3a), arguments that were not donated (night3b; night3 has both),
states that are returned (night4log), gelu in bf16 (night4bf; night4 has both).
tests/data/newcomers/vae.tar.xz has an image model before (night4) and after its
convolutions were narrowed to bf16 in line 12.
tests/data/newcomers/denoiser.tar.xz has nights of a diffusion transformer in flax,
whose blocks nn.scan repeats: nn.remat around them (night2) or not (night3; night4 has
the blocks in a file of their own); softmax in f32 and nn.remat around the MLP (night5),
or only the latter (mlp). Alone, the softmax takes 72,826,862 B more than night4.
tests/data/newcomers/statespace.tar.xz has a smoother whose filter no longer stores the
prior covariances (night6), and a Gaussian process before (night6) and after a kernel of
all points and a fifth of them was added in line 53.
"""

import html
from collections.abc import Iterator

import duckdb
import pytest

from hlodb.queries.run import run_query
from hlodb.reports.build import build_diff, build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

MOVED = "flowsim/solver.py:51 rollout.<locals>.body: remat saves less,"
MOVED += " recomputes more (96 → 193 operations)"
STATES = "flowsim/solver.py:52 rollout: new output f32[16,8,96,96,3] of while"
NARROWED = "flowsim/net.py:34 block: f32 → bf16 in 144 operations{}"
UNDONATED = "opt['m']['codes'] and 30 more arguments no longer donated"

STORED = "ssgp/kalman.py:52 forward_pass: the loop {} f32[512,24,24]"

Row = tuple[object, ...]


@pytest.fixture(scope="module")
def flow(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(ingested("flow", tmp_path_factory.mktemp("flow"))) as connection:
        yield connection


@pytest.fixture(scope="module")
def vae(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(ingested("vae", tmp_path_factory.mktemp("vae"))) as connection:
        yield connection


@pytest.fixture(scope="module")
def denoiser(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("denoiser", tmp_path_factory.mktemp("denoiser"))
    with connect(warehouse) as connection:
        yield connection


@pytest.fixture(scope="module")
def statespace(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    warehouse = ingested("statespace", tmp_path_factory.mktemp("statespace"))
    with connect(warehouse) as connection:
        yield connection


def claims(
    connection: duckdb.DuckDBPyConnection, base: str, candidate: str
) -> list[Row]:
    asked = {"base": base, "candidate": candidate}
    columns = ("claim", "advice", "delta_bytes", "is_against", "standing")
    found = run_query(connection, "claims", asked).dicts()
    return [tuple(row[column] for column in columns) for row in found]


def report(
    connection: duckdb.DuckDBPyConnection, base: str, candidate: str
) -> list[str]:
    """Return the sentences of a report that name causes, bytes or what to undo."""
    found = build_report(connection, Request(candidate, base), Settings())
    text = html.unescape(renderer("markdown")(found))
    marks = "Cause (", "Split: ", "To undo: "
    lines = [line.lstrip("> ").replace("\\", "") for line in text.splitlines()]
    return [line for line in lines if line.startswith(marks)]


def test_a_dropped_checkpoint_takes_no_inner_loop_along(
    flow: duckdb.DuckDBPyConnection,
) -> None:
    """Below the checkpoint JAX gives the loop of the pressure no line."""
    words = "flowsim/solver.py:50 rollout.<locals>.body: remat removed"
    words += " (193 operations were recomputed)"
    advice = "Recompute it again: jax.checkpoint, nn.remat, eqx.filter_checkpoint."
    assert claims(flow, "night3a", "night2") == [
        (words, advice, 3_308_063_572, False, "proven")
    ]


def test_a_moved_checkpoint_is_the_cause_of_a_gain(
    flow: duckdb.DuckDBPyConnection,
) -> None:
    """Nothing has to be undone, and no loop is gone."""
    assert claims(flow, "night1", "night3a") == [
        (MOVED, None, -33_359_996, False, "proven")
    ]


def test_a_checkpoint_beside_a_lost_donation_explains_the_gain(
    flow: duckdb.DuckDBPyConnection,
) -> None:
    assert claims(flow, "night1", "night3b") == [
        (
            UNDONATED,
            "Donate them again: donate_argnums, donate_argnames, donate.",
            933_140,
            False,
            "proven",
        )
    ]
    assert claims(flow, "night1", "night3") == [
        (MOVED, None, None, False, "proven"),
        ("all edits together", None, -32_391_080, False, "proven"),
        (UNDONATED, None, None, True, "likely"),
    ]


def test_what_follows_from_one_output_is_not_split(
    flow: duckdb.DuckDBPyConnection,
) -> None:
    """The output takes 13.50 MiB, and 9.00 MiB of temporary memory follow from it."""
    advice = "Return only what is used: outputs live to the end."
    assert claims(flow, "night1", "night4log") == [
        (STATES, advice, 23_592_968, False, "proven")
    ]


@pytest.mark.parametrize("base", ["night1", "night4log"])
def test_the_only_edit_is_the_cause_whatever_its_kind_does_elsewhere(
    flow: duckdb.DuckDBPyConnection, base: str
) -> None:
    """A CPU widens bf16 again, which takes memory."""
    candidate = {"night1": "night4bf", "night4log": "night4"}[base]
    words = NARROWED.format(
        " (no other edit was found, though this one should need less)"
    )
    assert claims(flow, base, candidate) == [(words, None, 4_972_640, False, "likely")]


def test_what_follows_from_two_edits_is_no_single_ones(
    flow: duckdb.DuckDBPyConnection,
) -> None:
    """Alone, the narrower type takes 4.74 MiB, and the output 22.50 MiB."""
    advice = "Return only what is used: outputs live to the end."
    assert claims(flow, "night1", "night4") == [
        (NARROWED.format(""), None, None, False, "proven"),
        (STATES, advice, 14_155_776, False, "proven"),
        ("several edits together", None, 14_409_832, False, "proven"),
    ]


def test_a_type_is_narrowed_where_it_first_differs(
    vae: duckdb.DuckDBPyConnection,
) -> None:
    """And not in the lines that call that."""
    words = "model/network.py:12 convolve: f32 → bf16 in 399 operations"
    assert claims(vae, "night4", "night5") == [
        (words, None, -63_973_276, False, "proven")
    ]


def test_a_checkpoint_around_a_scanned_block_is_one_edit(
    denoiser: duckdb.DuckDBPyConnection,
) -> None:
    """Nobody edited the types of the stacks, in which the loop saves other values.

    The call of the scan is further out than the frames that JAX keeps.
    """
    words = "denoiser.py:89 DiT.__call__: remat removed"
    words += " (182 operations were recomputed)"
    advice = "Recompute it again: jax.checkpoint, nn.remat, eqx.filter_checkpoint."
    assert claims(denoiser, "night2", "night3") == [
        (words, advice, 27_718_168_014, False, "proven")
    ]


def test_a_wider_type_frees_nothing_beside_a_new_checkpoint(
    denoiser: duckdb.DuckDBPyConnection,
) -> None:
    remat = "layers.py:46 Block.__call__: remat added (22 operations are recomputed)"
    assert claims(denoiser, "night4", "mlp") == [
        (remat, None, -9_512_685_992, False, "proven")
    ]
    wider = "layers.py:30 Attention.__call__: bf16 → f32 in 35 operations"
    assert claims(denoiser, "night4", "night5") == [
        (remat, None, -9_529_458_688, False, "proven"),
        (wider, None, None, True, "likely"),
        ("several edits together", None, 72_826_762, True, "proven"),
    ]


def test_a_fall_says_what_counts_against_it(
    denoiser: duckdb.DuckDBPyConnection,
) -> None:
    """No row says how many bytes the wider type takes of what the checkpoint gives."""
    made = build_diff(denoiser, "night4", "night5", Settings(), top=5)
    assert made.headline == "± nothing worse; 1 improved"
    assert (
        "Against it: likely layers.py:30 Attention.__call__: bf16 → f32 in 35"
        " operations."
    ) in " ".join(renderer("text")(made).split())


def test_an_array_that_a_loop_no_longer_stores_is_the_cause_of_a_fall(
    statespace: duckdb.DuckDBPyConnection,
) -> None:
    """The covariances of the posterior stay in the memory of a result."""
    assert claims(statespace, "night5", "night6") == [
        (STORED.format("no longer stores"), None, -2_324_224, False, "proven")
    ]
    asked = {"base": "night5", "candidate": "night6"}
    asked["program"] = "jit_kalman_smooth"
    rows = run_query(statespace, "buffer_diff", asked).dicts()
    assert [
        (row["part"], row["buffer"], row["delta_bytes"], row["source_line"])
        for row in rows
        if row["part"] not in ("lifetime", "fragmentation")
    ] == [("gone", "while.2{6}", -1_179_648, 24)]


def test_an_array_that_a_loop_stores_is_the_cause_of_a_rise(
    statespace: duckdb.DuckDBPyConnection,
) -> None:
    advice = "Return from the body of lax.scan only what is read of every step;"
    advice += " where only sums or norms of that are read, compute these in the body."
    assert claims(statespace, "night6", "night5") == [
        (STORED.format("also stores"), advice, 2_324_224, False, "proven")
    ]


def test_operations_of_an_edit_are_those_that_hold_the_bytes(
    statespace: duckdb.DuckDBPyConnection,
) -> None:
    """The square of line 55 is of 4,096 numbers, the kernel of 820 times as many."""
    words = "ssgp/gp.py:53 nll: added: kernel (dot_general, exp, sqrt)"
    assert claims(statespace, "night6", "night7") == [
        (words, None, 27_102_808, False, "proven")
    ]


def test_what_all_results_are_like_is_no_waste(
    statespace: duckdb.DuckDBPyConnection,
) -> None:
    """Means and variances are what the smoother computes; their sums need as much."""
    asked = {"run": "night6", "program": "jit_kalman_smooth"}
    assert run_query(statespace, "remedies", asked).dicts() == []


@pytest.mark.slow
def test_an_effect_names_what_is_freed_beside_it(
    statespace: duckdb.DuckDBPyConnection,
) -> None:
    found = build_report(statespace, Request("night7", "night6"), Settings())
    [cause] = [each.cause for each in found.findings if each.change == "worse"]
    assert cause is not None
    assert cause.effect == (
        "9 new buffers, 4 of mul, add, exp"
        " (+89.74 MiB, others -63.89 MiB, net +25.85 MiB)"
    )


@pytest.mark.slow
def test_a_report_says_one_share_of_a_cause(
    flow: duckdb.DuckDBPyConnection, vae: duckdb.DuckDBPyConnection
) -> None:
    """That of the difference, or none; and no split into one part."""
    cause = "Cause (program): "
    assert report(flow, "night1", "night3a") == [
        f"{cause}{MOVED}. It accounts for 100 % of -31.81 MiB."
    ]
    donate = "To undo: Donate them again: donate_argnums, donate_argnames, donate."
    assert report(flow, "night1", "night3") == [donate, f"{cause}{MOVED}."]
    undo = "To undo: Return only what is used: outputs live to the end."
    assert report(flow, "night1", "night4log") == [
        undo,
        f"{cause}{STATES}. It accounts for 100 % of +22.50 MiB.",
    ]
    split = f"Split: +13.50 MiB from {STATES}; +13.74 MiB from several edits together."
    both = f"{NARROWED.format('')}; {STATES}"
    assert report(flow, "night1", "night4") == [split, f"{cause}{both}.", split]
    words = "model/network.py:12 convolve: f32 → bf16 in 399 operations"
    assert report(vae, "night4", "night5") == [
        f"{cause}{words}. It accounts for 100 % of -61.01 MiB."
    ]

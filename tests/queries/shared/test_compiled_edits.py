"""What is claimed of edits of five programs.

A state-space model and two encoders for a v5e; PPO, passing of messages in a graph and
a diffusion transformer for a CPU.
The archives and the truth of each edit are in tests/data/edits.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from bench.causes import EDITS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_diff
from hlodb.reports.config.settings import Settings
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect

AGAIN = "Recompute it again: jax.checkpoint, nn.remat, eqx.filter_checkpoint."


def ingested(archive: str, folder: Path, *names: str) -> Path:
    """Return a warehouse with the base of an archive and the edits of these names."""
    pairs = {p.name: p for p in unpacked(EDITS / f"{archive}.tar.xz", folder)}
    file = folder / "w.duckdb"
    dumps = {"base": next(iter(pairs.values())).base}
    dumps |= {name: pairs[name].candidate for name in names}
    for name, dump in dumps.items():
        ingest([str(dump)], file, request=RunRequest(name=name), jobs=1)
    return file


@pytest.fixture(scope="module")
def state_space(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    names = ("u1_remat", "u2_shard", "u3_f32", "u6_order")
    file = ingested("state_space_tpu", tmp_path_factory.mktemp("space"), *names)
    with connect(file) as connection:
        yield connection


@pytest.fixture(scope="module")
def rollouts(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    names = ("u2_fullkl", "u7_mask", "d2_mu")
    file = ingested("ppo_rollouts", tmp_path_factory.mktemp("ppo"), *names)
    with connect(file) as connection:
        yield connection


@pytest.fixture(scope="module")
def messages(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    names = ("g4_dropout", "h2_both")
    file = ingested("message_passing", tmp_path_factory.mktemp("messages"), *names)
    with connect(file) as connection:
        yield connection


@pytest.fixture(scope="module")
def diffusion(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    names = ("noremat", "nochunk", "accum")
    file = ingested("latent_diffusion", tmp_path_factory.mktemp("latent"), *names)
    with connect(file) as connection:
        yield connection


@pytest.fixture(scope="module")
def encoders(
    tmp_path_factory: pytest.TempPathFactory, queries_installed: None
) -> Iterator[duckdb.DuckDBPyConnection]:
    file = ingested(
        "audio_text_tpu", tmp_path_factory.mktemp("audio"), "noremat", "f32act"
    )
    with connect(file) as connection:
        yield connection


def leading(
    connection: duckdb.DuckDBPyConnection, candidate: str
) -> tuple[str, str | None, int | None, str]:
    """Return the first claim of the main memory: words, undo, bytes and standing."""
    asked = {"base": "base", "candidate": candidate}
    rows = run_query(connection, "claims", asked).dicts()
    row = next(row for row in rows if row["color"] == 0)
    return row["claim"], row["advice"], row["delta_bytes"], row["standing"]


@pytest.mark.parametrize(
    ("candidate", "claim", "advice", "size"),
    [
        (
            "u1_remat",
            "scan.py:29 selective_scan: a checkpoint removed, others kept"
            " (132 → 123 operations are recomputed)",
            AGAIN,
            1_196_210_176,
        ),
        (
            "u2_shard",
            "lm.py:39 loss: sharding constraint 2x1x2 → 2x1x1, 2 copies: replicated",
            "Shard it over the mesh again: every copy takes memory.",
            1_442_329_088,
        ),
        (
            "u6_order",
            "train.py:22 make.<locals>.train_step: what computes the new output f32[]"
            " of sqrt",
            "Leave it out, or compute it earlier or from fewer arrays.",
            375_321_088,
        ),
    ],
)
def test_an_edit_is_claimed_where_it_was_made(
    state_space: duckdb.DuckDBPyConnection,
    candidate: str,
    claim: str,
    advice: str,
    size: int,
) -> None:
    """Of two checkpoints one is lost; a helper is called elsewhere, too; four bytes."""
    assert leading(state_space, candidate) == (claim, advice, size, "proven")


def test_a_type_first_differs_where_the_first_cast_is_lost(
    state_space: duckdb.DuckDBPyConnection,
) -> None:
    """Not where a layer or the inner loop casts what is now wider."""
    claim, _, _, standing = leading(state_space, "u3_f32")
    assert claim == "bf16 → f32 in 258 operations, first at lm.py:25"
    assert standing == "proven"


def test_no_run_is_told_that_needs_more_for_another_reason(
    state_space: duckdb.DuckDBPyConnection,
) -> None:
    """Runs in between need more than the base, each by other bytes."""
    made = build_diff(state_space, "base", "u3_f32", Settings(), top=5)
    [worse] = [f for f in made.findings if f.color == 0 and f.change == "worse"]
    assert (worse.first_run, worse.since_run) == ("u1_remat", None)
    assert "Since" not in renderer("text")(made)


def test_little_differences_are_counted_apart(
    state_space: duckdb.DuckDBPyConnection,
) -> None:
    made = build_diff(state_space, "base", "u6_order", Settings(), top=5)
    assert made.headline.startswith("± 3 worse, 2 by less than 1 MiB: jit_train_step")
    assert "Also: " not in renderer("text")(made)


def test_two_edits_that_are_all_that_differs_are_the_cause_together(
    rollouts: duckdb.DuckDBPyConnection,
) -> None:
    assert leading(rollouts, "u2_fullkl") == (
        "ppo.py:31 ppo_loss: added: exp, log_softmax, mul",
        None,
        None,
        "proven",
    )


def test_the_line_is_that_of_the_largest_array_that_is_named(
    rollouts: duckdb.DuckDBPyConnection,
) -> None:
    claim, *_ = leading(rollouts, "u7_mask")
    assert claim == (
        "model.py:63 hidden: broadcast_in_dim, mul, dynamic_index_in_dim for tril"
    )


def test_a_narrower_argument_whose_memory_a_loop_takes_over_is_not_gone(
    rollouts: duckdb.DuckDBPyConnection,
) -> None:
    asked = {"base": "base", "candidate": "d2_mu"}
    rows = run_query(rollouts, "buffer_diff", asked).dicts()
    moments = {
        (row["part"], row["delta_bytes"])
        for row in rows
        if (row["op_path"] or "").startswith("opt_state[0].mu['blocks']['down']")
    }
    assert moments == {("retyped", -67_108_864)}


def test_the_loop_of_a_random_number_generator_is_no_edit(
    messages: duckdb.DuckDBPyConnection,
) -> None:
    """Its path in a called computation does not name the call."""
    assert leading(messages, "g4_dropout") == (
        "gnn/model.py:34 forward: draws a random mask pred[4,600000,128] (bernoulli)",
        "Draw less: in the body of a loop the mask of one step, and one that is shared"
        " over a dimension (broadcast_dims of nn.Dropout).",
        4_198_204_224,
        "proven",
    )


def test_what_is_not_of_the_inputs_is_of_the_edit(
    messages: duckdb.DuckDBPyConnection,
) -> None:
    made = build_diff(messages, "base", "h2_both", Settings(), top=5)
    text = renderer("text")(made)
    assert made.headline == (
        "± jit_train_step CPU memory grew 3.82 → 11.77 GiB (+7.95 GiB, +208.1 %),"
        " inputs changed: dimension 0 of graph['e'] 600,000 → 700,000 (and 2 more); and"
        " gnn/model.py:33 forward.<locals>.<lambda>: remat removed (18 operations were"
        " recomputed)"
    )
    assert "recomputed); +579.07 MiB from the inputs." in text
    assert "unexplained" not in text.partition("Findings")[0]
    [finding] = [f for f in made.findings if f.color == 0 and f.scope == "candidate"]
    claims = {(c.kind, c.standing): c.delta_bytes for c in finding.claims}
    assert claims[("inputs", "proven")] == 607_200_000
    assert claims[("edit", "proven")] == pytest.approx(
        8_535_100_068 - 607_200_000, 0.01
    )
    assert sum(c.delta_bytes or 0 for c in finding.claims) == finding.delta_bytes


@pytest.mark.parametrize(
    ("candidate", "claim"),
    [
        (
            "noremat",
            "ldm/model.py:99 denoise: a checkpoint removed, others kept (1248 → 108"
            " operations are recomputed)",
        ),
        (
            "nochunk",
            "ldm/model.py:52 self_attention: loop of 4 steps removed from"
            " self_attention",
        ),
        (
            "accum",
            "ldm/step.py:37 train_step: new loop of 4 steps in train_step, each with a"
            " forward and a backward pass",
        ),
    ],
)
def test_a_checkpoint_or_loop_is_one_edit(
    diffusion: duckdb.DuckDBPyConnection, candidate: str, claim: str
) -> None:
    """Not the checkpoint that stays, nor what ran in the loop or runs in it now."""
    asked = {"base": "base", "candidate": candidate}
    rows = run_query(diffusion, "claims", asked).dicts()
    assert [(row["claim"], row["standing"]) for row in rows] == [(claim, "proven")]


@pytest.mark.parametrize(
    ("candidate", "claim"),
    [
        (
            "noremat",
            "clap/encoder.py:46 encode: remat removed (162 operations were recomputed)",
        ),
        ("f32act", "clap/model.py:27 embed_audio: bf16 → f32 in 115 operations"),
    ],
)
def test_the_line_is_the_first_that_the_program_comes_to(
    encoders: duckdb.DuckDBPyConnection, candidate: str, claim: str
) -> None:
    """A norm that two encoders share stands before their casts in the text."""
    assert leading(encoders, candidate)[0] == claim

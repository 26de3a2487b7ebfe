"""Remedies whose edit was compiled, and programs for which there is none.

tests/data/advice has the programs before and after the first edit of an expert.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.advice import DATA, outcome, truths
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

TRUTHS = {truth.program: truth for truth in truths()}

MOST = {
    "brain_patches": 1.01,
    "codon_tree": 1.02,
    "gaussian_mixture": 1.02,
    "pixel_epochs": 1.15,
    "recurrent_layers": 1.03,
    "state_ensemble": 1.07,
    "table_pairs": 1.02,
}
"""Of what came, where the edited program needs an array of its own for the rest."""


@pytest.mark.parametrize(
    ("program", "rule", "subject", "off"),
    [
        ("sparse_table", "add_rows", "whole gradient of table", 0.01),
        ("speech_cache", "write_in_place", "results bf16[64,2048,4,64]", 0.01),
        ("transducer", "chunk_loss", "logits", 0.15),
        ("vision_adam", "shard", "m, v, weights (1 part for 8 partitions)", 0.31),
        ("scanned_pairs", "chunk_attention", "attention scores", 0.06),
        ("contrastive_towers", "chunk_pairs", "values of all pairs", 0.01),
        (
            "bootstrap_fits",
            "chunk_batch",
            "values of all 512 that jax.vmap maps over",
            0.05,
        ),
        (
            "shuffled_epochs",
            "prepare_in_loop",
            "arrays made for all iterations of while.163",
            0.01,
        ),
        ("summed_chains", "sum_in_loop", "history that while.66 collects", 0.01),
        ("dense_factors", "chunk_pairs", "values of all pairs", 0.05),
        # A price needs the mean and the least of each path, its slope as well.
        ("heston_vega", "sum_in_loop", "history that while.126 collects", 0.01),
        (
            "laplace_jacobian",
            "chunk_batch",
            "values of all 131072 examples",
            0.08,
        ),
        # A loop blends one patch in each iteration; all were segmented before it.
        (
            "brain_patches",
            "prepare_in_loop",
            "arrays made for all iterations of while.6",
            0.01,
        ),
        # Quantiles are taken of the sums of each day.
        ("season_model", "sum_in_loop", "history that while.209 collects", 0.01),
        (
            "window_cache",
            "keep_window",
            "caches of which 1,024 of 16,384 positions are read",
            0.04,
        ),
        ("linear_voxels", "reorder_products", "products of all pairs", 0.01),
        # Its least and greatest are of differences to the mean of each step.
        ("grid_faults", "sum_in_loop", "history that while.2 collects", 0.01),
        ("codon_tree", "multiply_then_select", "copies of a few matrices", 0.02),
        ("table_pairs", "project_parts", "joined copies of smaller arrays", 0.02),
        ("gene_saliency", "sum_outputs", "backward passes of 96 outputs at once", 0.02),
        # XLA writes some of them with the parts first.
        ("gaussian_mixture", "product_distances", "differences of all pairs", 0.02),
        ("state_ensemble", "select_first", "products of which a part is read", 0.07),
        # They are widened before their order is drawn, and then read in parts. The
        # expert's edit still shuffles all of them, in 8 bits.
        (
            "pixel_epochs",
            "prepare_in_loop",
            "arrays made for all iterations of while.263",
            0.15,
        ),
        # Four layers run one line: a checkpoint there is one edit.
        (
            "recurrent_layers",
            "checkpoint_loop",
            "values that while.321 and 3 more save per iteration",
            0.03,
        ),
    ],
)
def test_the_edit_of_an_expert_comes_first(
    program: str, rule: str, subject: str, off: float
) -> None:
    found = outcome(TRUTHS[program], DATA)
    assert found is not None and found.measured is not None
    first = found.listed[0]
    assert (first["rule_id"], first["subject"]) == (rule, subject)
    promised = int(first["saved_reserved_bytes"])
    assert promised == pytest.approx(found.measured[0], rel=off)
    # It may fall further: a promise is no more than what came.
    assert promised <= MOST.get(program, 1.002) * found.measured[0]


@pytest.mark.parametrize("program", ["vision_adam", "masked_tiles", "action_chunks"])
def test_gradients_may_be_divided_with_the_state(program: str) -> None:
    """XLA shards the gradients of these, too, so that more is saved than the state."""
    found = outcome(TRUTHS[program], DATA)
    assert found is not None
    assert found.place == 1 and found.listed[0]["rule_id"] == "shard"
    assert found.promised and found.most and found.measured
    for least, most, true in zip(
        found.promised, found.most, found.measured, strict=True
    ):
        assert 1.2 * least < true < most


def listed(program: str, folder: Path) -> list[dict[str, Any]]:
    file = folder / "w.duckdb"
    ingest([str(DATA / f"{program}.base.tar.xz")], file, jobs=1)
    with connect(file) as connection:
        return run_query(connection, "remedies", {"color": 0, "top": None}).dicts()


@pytest.mark.parametrize(
    "program",
    [
        "tuned_reservoir",
        "tuned_captions",
        "tuned_verifier",
        "tuned_perceiver",
        "tuned_sampler",
    ],
)
def test_a_tuned_program_gets_no_advice(program: str) -> None:
    """Weights in parts of an inference step; a first moment that is bf16 already."""
    found = outcome(TRUTHS[program], DATA)
    assert found is not None
    assert found.is_quiet
    assert not found.impossible


def test_gathered_weights_are_no_logits(tmp_path: Path) -> None:
    """Logits come in checkpointed chunks here; the head is gathered beside them."""
    rules = {row["rule_id"] for row in listed("chunked_lm", tmp_path)}
    assert "chunk_loss" not in rules


def test_a_gate_of_as_many_channels_as_residues_has_no_scores(tmp_path: Path) -> None:
    """XLA for TPUs computes a sigmoid by an exponential, as a softmax is."""
    rows = listed("triangle_trunk", tmp_path)
    assert rows[0]["rule_id"] == "checkpoint_loop"
    assert "chunk_attention" not in {row["rule_id"] for row in rows}


def test_logits_of_relative_positions_are_scores(tmp_path: Path) -> None:
    """There are twice as many; chunks of 512 queries were compiled to 28.5 GiB less."""
    row, *_ = listed("relative_tracks", tmp_path)
    assert (row["rule_id"], row["subject"]) == ("chunk_attention", "attention scores")
    assert row["saved_reserved_bytes"] == pytest.approx(28.5 * 2**30, rel=0.25)


def test_with_gradients_of_each_example_goes_all_of_the_examples(
    tmp_path: Path,
) -> None:
    """Chunks of 4 of 32 X-rays were compiled to 2.50 GiB less."""
    row, *_ = listed("private_xrays", tmp_path)
    assert row["rule_id"] == "chunk_examples"
    assert row["saved_reserved_bytes"] == pytest.approx(2.50 * 2**30, rel=0.25)


@pytest.mark.parametrize(
    "program", ["centred_paths", "median_paths", "centred_features"]
)
def test_what_needs_all_parts_before_each_is_no_sum(
    program: str, tmp_path: Path
) -> None:
    """A distance to the mean and a median take a second pass over what is kept."""
    rules = {row["rule_id"] for row in listed(program, tmp_path)}
    assert not rules & {"sum_in_loop", "keep_last", "chunk_batch"}


def test_a_mean_of_what_is_computed_is_a_sum(tmp_path: Path) -> None:
    """The same paths, without that mean: 128 steps of 65,536 walks of 8 numbers."""
    row, *_ = listed("mean_paths", tmp_path)
    assert row["rule_id"] == "sum_in_loop"
    assert row["saved_reserved_bytes"] == pytest.approx(256 * 2**20, rel=0.05)


def test_a_price_has_no_batch_to_halve(tmp_path: Path) -> None:
    """Its strike is a number and so is the price: nothing is updated by that."""
    rules = {row["rule_id"] for row in listed("heston_vega", tmp_path)}
    assert rules == {"sum_in_loop"}


def test_pairs_of_residues_are_no_batch(tmp_path: Path) -> None:
    rows = listed("pair_stack", tmp_path)
    assert rows[0]["rule_id"] == "checkpoint_loop"
    assert "halve_batch" not in {row["rule_id"] for row in rows}


@pytest.mark.parametrize("program", ["shallow_water", "tuned_shallow_water"])
def test_a_field_that_observations_lie_on_is_no_batch(
    program: str, tmp_path: Path
) -> None:
    """There are 64 gauges, and 384 rows of the grid are a multiple of that."""
    rules = {row["rule_id"] for row in listed(program, tmp_path)}
    assert "halve_batch" not in rules


def test_what_a_checkpointed_loop_keeps_is_its_whole_state() -> None:
    """Height and currents are saved apart, the state of each step is kept whole."""
    found = outcome(TRUTHS["shallow_water"], DATA)
    assert found is not None and found.measured is not None
    first = found.listed[0]
    assert first["rule_id"] == "checkpoint_loop"
    promised = first["saved_reserved_bytes"]
    assert promised == pytest.approx(found.measured[0], rel=0.001)


def test_what_the_compiler_alone_widens_is_not_to_be_narrowed(tmp_path: Path) -> None:
    """XLA for a CPU multiplies in f32, and turns what it widened."""
    rows = listed("tuned_mixer", tmp_path)
    assert "halve_activation" not in {row["rule_id"] for row in rows}


def test_of_summed_gradients_the_microbatch_is_to_be_halved(tmp_path: Path) -> None:
    """Compiled with 16 examples instead of 32, 226 MiB less are reserved."""
    [row] = listed("tuned_mixer", tmp_path)
    assert (row["rule_id"], row["is_last_resort"]) == ("halve_microbatch", True)
    assert row["advice"].startswith("Halve the microbatch: twice as many iterations")
    assert row["saved_reserved_bytes"] == pytest.approx(226 << 20, rel=0.1)


@pytest.mark.parametrize("program", ["contrastive_towers", "sigmoid_pairs"])
def test_half_of_the_batch_of_a_loss_over_pairs_is_another_loss(
    program: str, tmp_path: Path
) -> None:
    rows = listed(program, tmp_path)
    assert rows[0]["rule_id"] == "chunk_pairs"
    assert "halve_batch" not in {row["rule_id"] for row in rows}


def test_rows_of_two_inputs_make_pairs() -> None:
    found = outcome(TRUTHS["nearest_rows"], DATA)
    assert found is not None and found.measured is not None
    [row] = found.listed
    assert (row["rule_id"], row["subject"]) == ("chunk_pairs", "values of all pairs")
    promised = row["saved_reserved_bytes"]
    assert promised == pytest.approx(found.measured[0], rel=0.02)


def test_what_is_recomputed_at_once_is_there_again(tmp_path: Path) -> None:
    """A checkpoint around the joint network was compiled to 170 MiB less."""
    [row] = [r for r in listed("transducer", tmp_path) if r["rule_id"] == "recompute"]
    assert row["saved_reserved_bytes"] == pytest.approx(170 << 20, rel=0.1)


def test_half_of_the_points_is_half_of_a_batch(tmp_path: Path) -> None:
    """Points inside and on the boundary; half of the first saved 4.80 GiB."""
    chunks, row = listed("pinn_hessian", tmp_path)
    # What grows with the points, but for a sixteenth.
    assert (chunks["rule_id"], chunks["is_last_resort"]) == ("chunk_batch", False)
    assert chunks["saved_reserved_bytes"] == pytest.approx(
        15 / 16 * 9.60 * 2**30, rel=0.05
    )
    assert (row["rule_id"], row["is_last_resort"]) == ("halve_batch", True)
    assert row["saved_reserved_bytes"] == pytest.approx(4.80 * 2**30, rel=0.05)


def test_layers_whose_checkpoints_xla_undoes_can_be_a_loop(tmp_path: Path) -> None:
    """XLA for a CPU merged what each checkpoint repeats with the first computation."""
    found = outcome(TRUTHS["unrolled_pairs"], DATA)
    assert found is not None and found.measured is not None
    [row] = [r for r in found.listed if r["rule_id"] == "scan_layers"]
    assert row["saved_reserved_bytes"] == pytest.approx(found.measured[0], rel=0.05)
    assert "recompute" not in {r["rule_id"] for r in found.listed}
    file = tmp_path / "w.duckdb"
    ingest([str(DATA / "unrolled_pairs.base.tar.xz")], file, jobs=1)
    with connect(file) as connection:
        rows = run_query(connection, "peak_by_role", {"color": 0}).dicts()
    roles = {row["role"]: row["owned_bytes"] for row in rows}
    assert roles["saved_activations"] > 20 * roles["recomputed_activations"]


def test_three_layers_are_no_loop(tmp_path: Path) -> None:
    """The first and the last have other sizes than the three between them."""
    rules = {row["rule_id"] for row in listed("pinn_hessian", tmp_path)}
    assert "scan_layers" not in rules


def test_a_width_is_no_vocabulary(tmp_path: Path) -> None:
    """The head has a row for each channel of the stream, and few classes."""
    rules = {row["rule_id"] for row in listed("tuned_classifier", tmp_path)}
    assert "chunk_loss" not in rules


def test_an_argument_called_m_is_no_moment(tmp_path: Path) -> None:
    """Nothing replaces it; the moments of the factors are small."""
    rows = listed("dense_factors", tmp_path)
    assert "halve_moment" not in {row["rule_id"] for row in rows}


def test_classes_are_counted_by_index() -> None:
    """No row is looked up by these: sums are made of them."""
    found = outcome(TRUTHS["class_counts"], DATA)
    assert found is not None and found.measured is not None
    first = found.listed[0]
    assert first["rule_id"] == "use_index"
    promised = int(first["saved_reserved_bytes"])
    assert promised == pytest.approx(found.measured[0], rel=0.01)

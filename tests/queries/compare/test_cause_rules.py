"""Rules of cause_rules: each names a compiled pair, and is silent about another."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from bench.causes import EDITS, PAIRS, unpacked
from bench.causes import RULES as RULE_FILE
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

# The candidate of a pair; after ~ base and candidate change places.
RULES = {
    "classifier-cpu": {
        "accumulation_removed": ("cnn_no_accumulation", "cnn_unrolled"),
        "loop_unrolled": ("cnn_unrolled", "cnn_fewer_steps"),
        "output_added": ("cnn_activations_kept", "cnn_order"),
        "output_removed": ("~cnn_activations_kept", "cnn_activations_kept"),
        "remat_added": ("~cnn_no_checkpoint", "cnn_no_checkpoint"),
        "remat_removed": ("cnn_no_checkpoint", "cnn_unrolled"),
    },
    "decoder-cpu": {
        "cache_copied": ("gen_concatenated", "~gen_concatenated"),
        "callback_added": ("gen_callback", "~gen_callback"),
        "callback_removed": ("~gen_callback", "gen_again"),
        "constant_captured": ("gen_constant", "gen_capacity"),
        "constant_removed": ("~gen_constant", "gen_constant"),
        "donation_gained": ("~gen_donation", "gen_donation"),
        "donation_lost": ("gen_donation", "gen_renamed"),
        "loop_added": ("gen_chunked", "~gen_chunked"),
        "loop_removed": ("~gen_chunked", "gen_unrolled"),
        "narrower_type": ("~gen_promotion", "gen_promotion"),
        "output_changed": ("gen_all_logits", "gen_prompt"),
        "promotion": ("gen_promotion", "~gen_promotion"),
        "replaced": ("~gen_concatenated", "gen_concatenated"),
    },
    "deblur": {
        "complex_transform": ("~real_transform", "real_transform"),
        "real_transform": ("real_transform", "~real_transform"),
    },
    "event_history": {
        "accumulation_added": ("microbatches", "click_gradient"),
        "loop_run_again": ("average_eval", "click_gradient"),
        "loop_run_less": ("~click_gradient", "click_gradient"),
        "loop_trained_again": ("click_gradient", "average_eval"),
        "random_added": ("attention_dropout", "shared_masks"),
        "random_changed": ("shared_masks", "~attention_dropout"),
        "random_removed": ("~attention_dropout", "attention_dropout"),
    },
    "image_text": {
        "moved_out_of_loop": ("hoisted", "saves_less"),
        "moved_into_loop": ("~hoisted", "hoisted"),
    },
    "latent_diffusion": {
        "training_loop_added": ("accum", "~accum"),
        "training_loop_removed": ("~accum", "accum"),
    },
    "sparse_experts": {
        "loop_larger_steps": ("~more_parts", "more_parts"),
        "loop_smaller_steps": ("more_parts", "~more_parts"),
    },
    "glow_flow": {
        "batched": ("draws", "level_remat"),
        "unbatched": ("~draws", "draws"),
        "remat_around_loop": ("level_remat", "draws"),
        "remat_around_steps": ("~level_remat", "level_remat"),
    },
    "lm-cpu": {
        "mask_materialised": ("lm_mask", "~lm_mask"),
        "one_hot": ("lm_one_hot", "~lm_one_hot"),
        "optimiser_added": ("~lm_optimiser", "lm_optimiser"),
        "optimiser_changed": ("lm_optimiser", "lm_layers"),
        "remat_saves_less": ("~lm_dots_policy", "lm_dots_policy"),
        "remat_saves_more": ("lm_dots_policy", "lm_refactoring"),
    },
    "optax_factors": {
        "loop_partly_unrolled": ("factors_unrolled", "factors_at_once"),
        "loop_rolled": ("~factors_unrolled", "factors_unrolled"),
    },
    "ppo_rollouts": {
        "added": ("u2_fullkl", "u4_donate"),
        "removed": ("~u2_fullkl", "u4_donate"),
    },
    "recycled_trunk": {
        "gradients_added": ("recycle_grad", "no_remat"),
        "gradients_removed": ("~recycle_grad", "recycle_grad"),
    },
    "sharded-cpu": {
        "argument_replicated": ("mesh_weights", "mesh_columns"),
        "argument_resharded": ("mesh_columns", "mesh_devices"),
        "argument_sharded": ("~mesh_weights", "mesh_weights"),
        "replicated": ("mesh_replicated", "~mesh_replicated"),
        "resharded": ("~mesh_hidden", "mesh_hidden"),
    },
    "state_space_tpu": {
        "remat_partly_added": ("~u1_remat", "u1_remat"),
        "remat_partly_removed": ("u1_remat", "u2_shard"),
    },
    "weather_fno": {"gradients_kept": ("multi_steps", "modes")},
    "weather_windows": {
        "gradients_computed": ("~stopped", "stopped"),
        "gradients_left_out": ("stopped", "library_attention"),
        "remat_moved": ("block_remat", "policy"),
    },
}

# What these say is compared in tests/queries/shared/test_single_edits.py and
# test_edits_in_functions.py, and in test_source_changes.py.
ELSEWHERE = (
    *("edit_stored", "edit_stored_no_more", "loop_steps", "reshaped"),
    *("output_computed", "saved_stack_added", "stack_added", "stack_removed"),
    *("remat_saves_products", "remat_recomputes_products"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "archive",
    [
        pytest.param("classifier-cpu", marks=pytest.mark.slow),
        pytest.param("decoder-cpu", marks=pytest.mark.slow),
        "sharded-cpu",
        pytest.param("lm-cpu", marks=pytest.mark.slow),
        pytest.param("optax_factors", marks=pytest.mark.slow),
        pytest.param("ppo_rollouts", marks=pytest.mark.slow),
        "recycled_trunk",
        pytest.param("state_space_tpu", marks=pytest.mark.slow),
        "weather_fno",
        "weather_windows",
        "event_history",
        "glow_flow",
        "image_text",
        "latent_diffusion",
        "sparse_experts",
    ],
)
def test_rules_apply_where_they_should_alone(tmp_path: Path, archive: str) -> None:
    expected = RULES[archive]
    asked = sorted({name for pair in expected.values() for name in pair})
    home = PAIRS if archive.endswith("-cpu") else EDITS
    pairs = {p.name: p for p in unpacked(home / f"{archive}.tar.xz", tmp_path)}
    warehouse = tmp_path / "pairs.duckdb"
    folders = {"base": next(iter(pairs.values())).base}
    folders |= {n: pairs[n].candidate for n in (name.lstrip("~") for name in asked)}
    for name, folder in folders.items():
        ingest([str(folder)], warehouse, request=RunRequest(name=name), jobs=1)
    ends = [
        (name[1:], "base") if name.startswith("~") else ("base", name) for name in asked
    ]
    found = _rules(warehouse, ends)
    of_name = dict(zip(asked, found, strict=False))
    wrong = {
        rule: (applies, silent)
        for rule, (applies, silent) in expected.items()
        if rule not in of_name[applies] or rule in of_name[silent]
    }
    assert wrong == {}


def _rules(warehouse: Path, ends: list[tuple[str, str]]) -> list[set[str]]:
    """Return the rules that name edits between each pair of runs."""
    with connect(warehouse) as connection:
        sources = {
            name: (run_id, module_id)
            for name, run_id, module_id in connection.execute(
                "SELECT r.name, m.run_id, m.module_id FROM modules AS m"
                " JOIN runs AS r USING (run_id) WHERE m.stage = 'before_optimizations'"
            ).fetchall()
        }
        given = {
            "base_runs": [sources[base][0] for base, _ in ends],
            "base_ids": [sources[base][1] for base, _ in ends],
            "candidate_runs": [sources[candidate][0] for _, candidate in ends],
            "candidate_ids": [sources[candidate][1] for _, candidate in ends],
        }
        found: dict[int, set[str]] = defaultdict(set)
        for row in run_query(connection, "source_edits", given).dicts():
            found[row["pair"]].add(row["rule_id"])
    return [found[place] for place in range(1, len(ends) + 1)]


def test_no_rule_is_without_its_pairs(tmp_path: Path) -> None:
    ingest([str(PAIRS / "sharded-tpu.tar.xz")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "cause_rules").dicts()
    tested = [rule for rules in RULES.values() for rule in rules]
    assert {row["rule_id"] for row in rows} == {*tested, *ELSEWHERE}
    assert len(tested) == len({*tested})
    assert [row["place"] for row in rows] == sorted({row["place"] for row in rows})


WIDTHS = {
    **dict.fromkeys(("s4", "u4"), 4),
    **dict.fromkeys(("pred", "s8", "u8", "f8e4m3fn", "f8e5m2"), 8),
    **dict.fromkeys(("bf16", "f16", "s16", "u16"), 16),
    **dict.fromkeys(("f32", "s32", "u32"), 32),
    **dict.fromkeys(("f64", "s64", "u64", "c64"), 64),
    "c128": 128,
}


def test_a_promotion_is_to_a_wider_type() -> None:
    """What no promotion is, `narrower_type` says: of a type that is not wider."""
    with RULE_FILE.open(encoding="utf-8", newline="") as file:
        patterns = {rule["rule_id"]: rule["pattern"] for rule in csv.DictReader(file)}
    is_told = {
        (base, candidate): re.search(
            patterns["promotion"], f"mul | {base} > {candidate}"
        )
        is not None
        for base in WIDTHS
        for candidate in WIDTHS
        if WIDTHS[base] != WIDTHS[candidate]
    }
    assert is_told == {
        (base, candidate): WIDTHS[base] < WIDTHS[candidate]
        for base, candidate in is_told
    }

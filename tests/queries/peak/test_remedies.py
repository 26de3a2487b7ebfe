"""What remedies promise, against programs that were compiled with the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

CHANGES = DATA / "changes"
PAIRS = ("donation", "zoo-donation", "zoo-remat", "sharding")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("remedies") / "w.duckdb"
    for pair in PAIRS:
        for dump in sorted((CHANGES / pair).iterdir()):
            name = f"{pair}/{dump.name.removesuffix('.tar.xz')}"
            ingest([str(dump)], path, request=RunRequest(name=name), jobs=1)
    return path


def ask(path: Path, query: str, **asked: Value) -> list[dict[str, Any]]:
    with connect(path) as connection:
        return run_query(connection, query, asked).dicts()


def peak(path: Path, run: str) -> int:
    [row] = ask(path, "peak_by_space", run=run)
    return int(row["live_peak_bytes"])


def saved(path: Path, run: str) -> dict[str, tuple[str, int]]:
    """Return subject and bytes by rule; of several of one rule, the largest."""
    rows = ask(path, "remedies", run=run, top=None)
    return {r["rule_id"]: (r["subject"], r["saved_bytes"]) for r in reversed(rows)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "arguments"),
    [("donation", "v"), ("zoo-donation", "all of p (6 arrays)")],
)
def test_a_lost_donation_is_priced_to_the_byte(
    changed: Path, pair: str, arguments: str
) -> None:
    """The second program keeps gradients in the results' memory before the results."""
    fall = peak(changed, f"{pair}/dropped") - peak(changed, f"{pair}/base")
    assert saved(changed, f"{pair}/dropped")["donate"] == (arguments, fall)
    assert "donate" not in saved(changed, f"{pair}/base")


@pytest.mark.slow
def test_recomputing_a_loop_saves_what_is_said(changed: Path) -> None:
    fall = peak(changed, "zoo-remat/base") - peak(changed, "zoo-remat/extra")
    _, promised = saved(changed, "zoo-remat/base")["checkpoint_loop"]
    # What one layer computes is held while it is computed again.
    assert 0.95 * fall <= promised <= 1.15 * fall
    assert "checkpoint_loop" not in saved(changed, "zoo-remat/extra")


@pytest.mark.slow
def test_a_replicated_argument_is_to_be_sharded(changed: Path) -> None:
    whole = ask(changed, "remedies", run="sharding/whole", top=None)
    split = ask(changed, "remedies", run="sharding/split", top=None)

    def sharded(rows: list[dict[str, Any]]) -> dict[str, int]:
        return {r["subject"]: r["saved_bytes"] for r in rows if r["rule_id"] == "shard"}

    parts = "(1 part for 4 partitions)"
    assert sharded(whole) == {f"x {parts}": 62_592, f"w {parts}": 6_144}
    assert sharded(split) == {f"w {parts}": 6_144}
    # What is computed of the batch is divided as well, in the compiled pair, too.
    peaks = [
        ask(changed, "peak_by_space", run=f"sharding/{run}")[0]["live_peak_bytes"]
        for run in ("whole", "split")
    ]
    assert peaks[0] - peaks[1] == pytest.approx(62_592, rel=0.01)


@pytest.mark.slow
def test_half_the_width_is_what_the_set_of_a_type_says(demo_warehouse: Path) -> None:
    """And padding is that of arrays alone: a scalar fills no tile."""
    run = "v5e-jax-0.10.2"
    wide = ("f32", "f64", "s64", "u64", "c128")
    sets = ask(
        demo_warehouse,
        "peak_leverage_of_sets",
        run=run,
        color=0,
        grouped_by="element_type",
        top=None,
    )
    expected = {
        (r["program"], f"all values of {r['set_name']}", r["half_leverage_bytes"])
        for r in sets
        if r["set_name"] in wide and r["half_leverage_bytes"] > 0
    }
    rows = ask(demo_warehouse, "remedies", run=run, top=None, min_ratio=0.0)
    assert expected == {
        (r["program"], r["subject"], r["saved_bytes"])
        for r in rows
        if r["rule_id"] == "halve_element"
    }
    tiled = [r["subject"] for r in rows if r["rule_id"] == "fill_tile"]
    assert tiled
    assert all("," in subject.partition("[")[2].partition("]")[0] for subject in tiled)


@pytest.mark.slow
def test_half_a_batch_leaves_weights_and_state_as_they_are(
    demo_warehouse: Path,
) -> None:
    """Embeddings that come out sharded are replaced, though by smaller arrays."""
    asked = {"run": "v5e-jax-0.10.2", "program": "jit_gpt_fsdp"}
    rows = ask(demo_warehouse, "remedies", **asked)
    [half] = [row for row in rows if row["rule_id"] == "halve_batch"]
    curve = ask(demo_warehouse, "live_timeline", color=0, **asked)
    # Nothing else falls: at another step no temporary array is left to halve.
    without = max(row["live_bytes"] - row["temp_live_bytes"] // 2 for row in curve)
    assert half["saved_bytes"] <= half["live_peak_bytes"] - without
    assert half["saved_bytes"] == 3_670_016


def test_nothing_is_advised_that_only_looks_like_a_remedy(tmp_path: Path) -> None:
    """Kernels of vectors, scans, batch statistics, complex spectra, derivatives."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "dumps.tar.xz")], path, jobs=1)
    programs = {row["program"] for row in ask(path, "peak_by_space")}
    assert programs == {
        "jit_likelihood", "jit_filtered", "jit_normalised", "jit_shifted", "jit_slopes"
    }  # fmt: skip
    assert ask(path, "remedies", top=None) == []


def test_no_mask_mean_or_other_layer_is_overlooked(tmp_path: Path) -> None:
    """Products, caches, joins and loops that differ in one thing from a remedy's."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "chains.tar.xz")], path, jobs=1)
    found = {
        (row["program"], row["rule_id"])
        for row in ask(path, "remedies", top=None)
        if row["rule_id"] not in ("donate", "halve_cache")
    }
    # All pairs can be computed in chunks, and of an image a part be returned.
    assert found == {("jit_greatest", "chunk_pairs"), ("jit_blended", "part_of_answer")}


@pytest.mark.parametrize(
    ("name", "donation"),
    [
        ("v", 'jax.jit(…, donate_argnames="v")'),
        ("args[0]", "jax.jit(…, donate_argnums=…)"),
    ],
)
def test_only_names_that_jax_takes_are_donated_by_name(
    name: str, donation: str, tmp_path: Path
) -> None:
    """Arguments of *args are args[0] and so on, and jax.jit has no such name."""
    dump = tmp_path / "dump"
    dump.mkdir()
    for file in (DATA / "changes" / "donation" / "dropped").iterdir():
        text = file.read_text().replace('op_name="v"', f'op_name="{name}"')
        (dump / file.name).write_text(text)
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    rows = ask(tmp_path / "w.duckdb", "remedies", top=None)
    [donate] = [row for row in rows if row["rule_id"] == "donate"]
    assert donate["advice"] == (
        f"Donate these arguments: {donation} lets results take their memory."
    )


def test_activations_shaped_as_positions_are_no_gradients(tmp_path: Path) -> None:
    """Those of each example are shaped as the embedding of positions, too."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "positions-jaxlib-0.11.2.tar.xz")], path, jobs=1)
    rows = ask(path, "remedies", top=None)
    assert [row["rule_id"] for row in rows] == ["halve_batch", "halve_moment"]


def test_numbers_of_a_product_are_no_selected_rows(tmp_path: Path) -> None:
    """a @ b[:, index] has other numbers than those picked one by one."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "selected.tar.xz")], path, jobs=1)
    rows = ask(path, "remedies", top=None)
    assert {row["program"] for row in rows if row["rule_id"] == "select_first"} == {
        "jit_columns",
        "jit_rows",
    }


def test_the_key_of_random_numbers_is_no_batch(tmp_path: Path) -> None:
    """It is two words, beside 512 traces; with 256 of them 31.11 GiB less came."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "random_key.tar.xz")], path, jobs=1)
    [half] = ask(path, "remedies", top=None)
    assert half["rule_id"] == "halve_batch"
    assert half["saved_reserved_bytes"] == pytest.approx(31.11 * 2**30, rel=0.15)


def test_nodes_and_edges_of_a_graph_are_no_words_and_no_batch(tmp_path: Path) -> None:
    """There are 100,000 and 600,000 of them, and each is read by others."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "graph.tar.xz")], path, jobs=1)
    rules = {row["rule_id"] for row in ask(path, "remedies", top=None)}
    assert rules.isdisjoint({"chunk_loss", "halve_batch"})


def test_what_the_compiler_widens_is_no_array_to_narrow(tmp_path: Path) -> None:
    """It is of 16 bits in the program; weights of 16 bits would be kept in both."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "lookalikes" / "widened.tar.xz")], path, jobs=1)
    rows = ask(path, "remedies", top=None)
    found = {(row["rule_id"], row["subject"]) for row in rows}
    found_first = (rows[0]["rule_id"], rows[0]["saved_bytes"])
    assert not {rule for rule, _ in found} & {"narrow_argument", "halve_softmax"}
    assert ("halve_activation", "values of f32[6,512,1536]") not in found
    # Its copies go with what a loop saves: compiled, 134 MiB less are reserved.
    assert found_first == ("checkpoint_loop", 141_557_760)


def test_positions_of_max_pooling_are_no_mask(demo_warehouse: Path) -> None:
    """XLA adds them to its gradient: no comparison in the program makes them."""
    asked = {"run": "jaxlib-0.5.3", "program": "jit_cnn"}
    rows = ask(demo_warehouse, "remedies", **asked, top=None)
    assert {row["rule_id"] for row in rows} == {"halve_batch"}

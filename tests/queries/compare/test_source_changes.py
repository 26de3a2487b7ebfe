"""What is said of compiled pairs with one edit, or two, whose truth is known."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.causes import EDITS, PAIRS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, DUMPS

Edit = tuple[str | None, int | None, int | None, str | None, str]
"""Path, line of base and candidate, function, and what was edited there."""

CLASSIFIER: dict[str, list[Edit]] = {
    "cnn_again": [],
    "cnn_batch": [],
    "cnn_order": [],
    "cnn_unrolled": [
        ("classifier.py", 73, None, "accumulated",
         "loop of 4 steps unrolled in accumulated"),
    ],
    "cnn_fewer_steps": [
        ("classifier.py", 73, 73, "accumulated",
         "loop steps 4 → 2, each larger, in accumulated"),
    ],
    "cnn_donation": [
        (None, None, None, None,
         "state[0].trace.head.weight and 19 more arguments no longer"
         " donated"),
    ],
    "cnn_activations_kept": [
        ("classifier.py", None, 80, "fit_step",
         "new output f32[32,32,32,32] of relu"),
    ],
    "two_accumulation_checkpoint": [
        ("classifier.py", 78, None, "fit_step",
         "loop of 4 steps removed from accumulated: no gradient accumulation"),
        ("classifier.py", 49, 49, "Classifier.__call__",
         "remat removed (126 operations were recomputed)"),
    ],
}  # fmt: skip

DECODER: dict[str, list[Edit]] = {
    "gen_again": [],
    "gen_renamed": [],
    "gen_capacity": [],
    "gen_prompt": [],
    "gen_layers": [],
    "gen_concatenated": [
        ("decoder.py", 40, 40, "attend",
         "cache copied: concatenate, slice for dynamic_update_slice"),
    ],
    "gen_cache_f32": [
        # The cast in line 53 begins where the product did: it may be implied.
        ("decoder.py", 45, 40, "attend", "bf16 → f32 in 4 operations"),
    ],
    "gen_unrolled": [
        ("decoder.py", 62, None, "generate", "loop of 4 steps unrolled in generate"),
    ],
    "gen_donation": [
        (None, None, None, None, "cache[0] and 1 more argument no longer donated"),
    ],
    "gen_all_logits": [
        ("decoder.py", 65, 65, "generate",
         "output f32[8,2048] → f32[8,64,2048] of log_softmax"),
    ],
    "gen_constant": [
        ("decoder.py", None, 60, "generate", "constant f32[8192,256] captured"),
    ],
    "gen_promotion": [
        ("decoder.py", None, 33, "normalise", "bf16 → f32 in 47 operations"),
    ],
    "gen_callback": [
        ("decoder.py", None, 63, "generate",
         "callback to Python added (debug_callback)"),
    ],
    "two_donation_logits": [
        (None, None, None, None, "cache[0] and 1 more argument no longer donated"),
        ("decoder.py", 65, 65, "generate",
         "output f32[8,2048] → f32[8,64,2048] of log_softmax"),
    ],
    "two_capacity_constant": [
        ("decoder.py", None, 60, "generate", "constant f32[8192,256] captured"),
    ],
}  # fmt: skip

SHARDED: dict[str, list[Edit]] = {
    "mesh_again": [],
    "mesh_batch": [],
    "mesh_width": [],
    "mesh_devices": [],
    "mesh_replicated": [
        ("sharded.py", 26, 26, "forward",
         "sharding constraint 2x2 → 1x2, 2 copies: replicated"),
    ],
    "mesh_hidden": [
        ("sharded.py", 26, 26, "forward",
         "sharding constraint 2x2 → 2x1, 2 copies: replicated"),
    ],
    "mesh_weights": [
        (None, None, None, None,
         "params['up'][0] and 8 more arguments kept in more copies: 1x2, 2 copies →"
         " replicated"),
    ],
    "mesh_donation": [
        (None, None, None, None,
         "params['down'][0] and 5 more arguments no longer donated"),
    ],
}  # fmt: skip

LANGUAGE_MODEL: dict[str, list[Edit]] = {
    "lm_again": [],
    "lm_renamed_block": [],
    "lm_refactoring": [],
    "lm_batch": [],
    "lm_vocabulary": [],
    "lm_layers": [],
    "lm_no_remat": [
        ("lm.py", 55, 55, "LanguageModel.__call__",
         "remat removed (304 operations were recomputed)"),
    ],
    "lm_dots_policy": [
        ("lm.py", 55, 55, "LanguageModel.__call__",
         "remat saves more, recomputes less (304 → 294 operations)"),
    ],
    "lm_one_hot": [
        ("lm.py", 62, 62, "loss_fn", "one-hot array in place of an index"),
    ],
    "lm_mask": [
        ("lm.py", 27, 28, "Attention.__call__",
         "mask materialised, bf16 → f32 in 96 operations"),
    ],
    "lm_norm_f32": [
        ("lm.py", None, 57, "LanguageModel.__call__", "bf16 → f32 in 13 operations"),
    ],
    "two_remat_constant": [
        ("lm.py", 55, 55, "LanguageModel.__call__",
         "remat removed (304 operations were recomputed)"),
        ("lm.py", None, 53, "LanguageModel.__call__",
         "constant f32[2048,512] captured"),
    ],
    "two_output_promotion": [
        ("lm.py", None, 38, "Mlp.__call__", "added: mul, convert_element_type"),
        ("lm.py", None, 57, "LanguageModel.__call__",
         "new output bf16[8,128,4096] of LanguageModel/Dense_0/add"),
    ],
}  # fmt: skip


FACTORS: dict[str, list[Edit]] = {
    # bf16 comes with the arguments.
    "factors_moment": [],
    "factors_unrolled": [
        ("optax_factors.py", 29, 29, "train",
         "loop of 8 steps partly unrolled in train"),
    ],
    "factors_at_once": [
        ("optax_factors.py", 29, None, "train",
         "loop of 8 steps removed from train, each with a forward and a backward pass"),
    ],
    # A loop carries it to its reader.
    "factors_constant": [
        ("optax_factors.py", None, 15, "predict", "constant f32[8192,64] captured"),
    ],
    "factors_renamed": [],
    "factors_extracted": [],
}  # fmt: skip

IMAGES: dict[str, list[Edit]] = {
    "augment_bf16": [
        ("dm_pix_augment.py", 15, 28, "augment",
         "output f32[32,96,96,3] → bf16[32,96,96,3] of convert_element_type"),
    ],
    "augment_renamed": [],
    "augment_moved": [],
    "two_bf16_side": [
        ("dm_pix_augment.py", None, 28, "augment", "f32 → bf16 in 1 operation"),
    ],
}  # fmt: skip

SEARCH: dict[str, list[Edit]] = {
    "search_bf16_scores": [
        ("sharded_search.py", 16, 14, "search", "f32 → bf16 in 19 operations"),
    ],
    "search_renamed": [],
    "search_extracted": [],
}  # fmt: skip

GAMES: dict[str, list[Edit]] = {
    "games_renamed": [],
    "games_moved": [],
    # Half as many steps again do not unroll it.
    "two_longer_lost": [
        ("pgx_selfplay.py", 29, 29, "play", "loop steps 40 → 60 in play"),
        (None, None, None, None,
         "momentum['think'] and 2 more arguments no longer donated"),
    ],
}  # fmt: skip

SNAKE: dict[str, list[Edit]] = {
    # Unrolled, the loop gives other operations for the outputs of the base.
    "two_unrolled_grids": [
        ("jumanji_snake.py", 27, 27, "rollout",
         "loop of 48 steps partly unrolled in rollout"),
        ("jumanji_snake.py", None, 27, "rollout",
         "new output f32[48,2048,12,12,5] of reshape"),
    ],
}  # fmt: skip

COUNTS: dict[str, list[Edit]] = {
    "two_drawn_narrow": [
        ("numpyro_counts.py", 27, 28, "infer",
         "other shapes in 511 operations, as f32[4,1024] → f32[8,1024]"),
    ],
}  # fmt: skip

DECODERS: dict[str, list[Edit]] = {
    # So are the outputs, and nothing was removed.
    "giant_wide": [
        ("giant_fsdp.py", None, 42, "slopes_of.<locals>.part",
         "bf16 → f32 in 58 operations"),
    ],
}  # fmt: skip

TOWERS: dict[str, list[Edit]] = {
    # The base converts a smaller array in the same function.
    "towers_f32_scores": [
        ("two_tower_tpu.py", None, 22, "loss", "bf16 → f32 in 5 operations"),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        pytest.param("two_tower_tpu", TOWERS, marks=pytest.mark.slow),
        pytest.param("dm_pix_augment", IMAGES, marks=pytest.mark.slow),
        pytest.param("optax_factors", FACTORS, marks=pytest.mark.slow),
        pytest.param("pgx_selfplay", GAMES, marks=pytest.mark.slow),
        pytest.param("jumanji_snake", SNAKE, marks=pytest.mark.slow),
        pytest.param("numpyro_counts", COUNTS, marks=pytest.mark.slow),
        pytest.param("giant_fsdp", DECODERS, marks=pytest.mark.slow),
        pytest.param("sharded_search", SEARCH, marks=pytest.mark.slow),
        pytest.param("classifier-cpu", CLASSIFIER, marks=pytest.mark.slow),
        pytest.param("decoder-cpu", DECODER, marks=pytest.mark.slow),
        ("sharded-cpu", SHARDED),
        pytest.param("lm-cpu", LANGUAGE_MODEL, marks=pytest.mark.slow),
    ],
)
def test_edits_of_pairs_are_told_at_their_lines(
    tmp_path: Path, archive: str, expected: dict[str, list[Edit]]
) -> None:
    home = PAIRS if archive.endswith("-cpu") else EDITS
    pairs = {p.name: p for p in unpacked(home / f"{archive}.tar.xz", tmp_path)}
    warehouse = tmp_path / "pairs.duckdb"
    first, *_ = pairs.values()
    folders = {"base": first.base, **{n: pairs[n].candidate for n in expected}}
    for name, folder in folders.items():
        ingest([str(folder)], warehouse, request=RunRequest(name=name), jobs=1)
    with connect(warehouse) as connection:
        assert _edits(connection, expected) == expected


def _edits(connection: Connection, names: Iterable[str]) -> dict[str, list[Edit]]:
    """Return the edits of all candidates, from one call as reports make it."""
    rows = _rows(connection, names)
    return {
        name: [_told(row) for row in rows if row["pair"] == pair]
        for pair, name in enumerate(names, 1)
    }


def _rows(
    connection: Connection, names: Iterable[str], with_paths: bool = False
) -> list[dict[str, Any]]:
    sources = {
        name: (run_id, module_id)
        for name, run_id, module_id in connection.execute(
            "SELECT r.name, m.run_id, m.module_id FROM modules AS m"
            " JOIN runs AS r USING (run_id) WHERE m.stage = 'before_optimizations'"
        ).fetchall()
    }
    asked: dict[str, Any] = {
        "base_runs": [sources["base"][0] for _ in names],
        "base_ids": [sources["base"][1] for _ in names],
        "candidate_runs": [sources[name][0] for name in names],
        "candidate_ids": [sources[name][1] for name in names],
        "with_paths": with_paths,
    }
    rows = run_query(connection, "source_edits", asked).dicts()
    return sorted(rows, key=lambda row: row["place"])


def _told(row: dict[str, Any]) -> Edit:
    return (
        row["source_path"],
        row["base_line"],
        row["candidate_line"],
        row["function_name"],
        row["sentence"],
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ("mesh_again", ["equal"]),
        ("mesh_batch", ["different"]),
        ("mesh_weights", ["different"]),
    ],
)
def test_source_changes_say_whether_sources_are_equal(
    tmp_path: Path, candidate: str, expected: list[str]
) -> None:
    pairs = {p.name: p for p in unpacked(PAIRS / "sharded-cpu.tar.xz", tmp_path)}
    warehouse = tmp_path / "pairs.duckdb"
    pair = pairs[candidate]
    for name, folder in (("base", pair.base), ("candidate", pair.candidate)):
        ingest([str(folder)], warehouse, request=RunRequest(name=name), jobs=1)
    with connect(warehouse) as connection:
        rows = run_query(connection, "source_changes").dicts()
    assert [row["sources"] for row in rows] == expected


def returning(count: int) -> str:
    """Return a program that adds arguments of 4, 8, … numbers to themselves.

    It returns the first `count` sums, of five.
    """
    sizes = [4 * n for n in range(1, 6)]
    types = [f"f32[{size}]{{0}}" for size in sizes]
    result = f"({', '.join(types[:count])})"
    lines = [
        f"  p{n} = {shape} parameter({n})\n  t{n} = {shape} add(p{n}, p{n}),"
        f' metadata={{op_name="jit(step)/sum{n}" source_file="/a/step.py"'
        f" source_line={10 + n}}}\n"
        for n, shape in enumerate(types)
    ]
    sums = ", ".join(f"t{n}" for n in range(count))
    return (
        f"HloModule jit_step, entry_computation_layout={{({', '.join(types)})->"
        f"{result}}}\n\nENTRY main {{\n{''.join(lines)}"
        f"  ROOT r = {result} tuple({sums})\n}}\n"
    )


@pytest.mark.parametrize(
    ("counts", "sentences"),
    [
        pytest.param((1, 2), ["new output f32[8] of sum1"], marks=pytest.mark.slow),
        ((1, 5), ["new output f32[20] of sum4 and 3 more outputs"]),
        pytest.param(
            (5, 1),
            ["output f32[20] of sum4 and 3 more outputs removed"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_many_outputs_are_one_edit_told_by_the_largest(
    tmp_path: Path, counts: tuple[int, int], sentences: list[str]
) -> None:
    base, candidate = map(returning, counts)
    assert sentences_of(tmp_path, base, candidate) == sentences


def test_outputs_of_one_shape_go_together_whatever_computes_them(
    tmp_path: Path,
) -> None:
    """One of three is new: another operation gives what the base has, too."""
    base, candidate = returning(1), returning(2).replace("sum0", "product0")
    candidate = candidate.replace("add(p0", "multiply(p0")
    assert sentences_of(tmp_path, base, candidate)[-1] == "new output f32[8] of sum1"


def calling(operations: Sequence[str]) -> str:
    """Return a program that calls a function of some operations."""
    shape = "f32[8]{0}"
    where = 'metadata={{op_name="{}" source_file="/a/s.py" source_line={}}}'
    lines = [
        f"  {'ROOT ' if n == len(operations) else ''}v{n} = {shape} {name}(v{n - 1}),"
        f" {where.format(name, 10 + n)}\n"
        for n, name in enumerate(operations, 1)
    ]
    return (
        f"HloModule jit_step, entry_computation_layout={{({shape})->{shape}}}\n\n"
        f"norm {{\n  v0 = {shape} parameter(0)\n{''.join(lines)}}}\n\n"
        f"ENTRY main {{\n  p = {shape} parameter(0)\n  ROOT c = {shape} call(p),"
        f" to_apply=norm, {where.format('jit(step)/jvp(jit(norm))', 9)}\n}}\n"
    )


def test_paths_of_an_edit_are_those_that_inlining_leaves(tmp_path: Path) -> None:
    texts = calling(["negate"]), calling(["tanh", "negate"])
    (edit,) = edits_of(tmp_path, *texts, with_paths=True)
    assert edit["candidate_paths"].split("\n") == ["jvp(jit(norm))/tanh"]


def sharded(first: str, second: str) -> str:
    """Return a program with two arguments, split over devices as the texts say."""
    shape = "f32[8,8,8]{2,1,0}"
    return (
        f"HloModule jit_step, entry_computation_layout={{({shape}, {shape})->{shape}}}"
        f"\n\nENTRY main {{\n  p0 = {shape} parameter(0), sharding={{{first}}}\n"
        f"  p1 = {shape} parameter(1), sharding={{{second}}}\n"
        f"  ROOT r = {shape} add(p0, p1)\n}}\n"
    )


def test_arguments_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """TensorFlow calls all of them XLA_Args; only one is no longer donated."""
    shape, name = "f32[8,8]{1,0}", 'metadata={op_name="XLA_Args"}'
    texts = [
        f"HloModule jit_step{alias}, entry_computation_layout="
        f"{{({', '.join([shape] * 3)})->({shape}, {shape})}}\n\nENTRY main {{\n"
        + "".join(f"  p{n} = {shape} parameter({n}), {name}\n" for n in range(3))
        + f"  a = {shape} add(p0, p1)\n  m = {shape} multiply(a, p2)\n"
        f"  ROOT r = ({shape}, {shape}) tuple(a, m)\n}}\n"
        for alias in (
            ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, may-alias) }",
            ", input_output_alias={ {0}: (0, {}, may-alias) }",
        )
    ]
    assert sentences_of(tmp_path, *texts) == ["XLA_Args no longer donated"]


def test_one_sharding_written_in_two_ways_is_no_change(tmp_path: Path) -> None:
    """XLA of 2023 lists the devices, later releases say how they are counted."""
    copies = "last_tile_dim_replicate"
    listed = sharded(
        f"devices=[1,1,4,2]0,1,2,3,4,5,6,7 {copies}", "devices=[1,2,4]0,1,2,3,4,5,6,7"
    )
    counted = sharded(f"devices=[1,1,4,2]<=[8] {copies}", "devices=[1,4,2]<=[8]")
    assert sentences_of(tmp_path, listed, counted) == [
        "parameter 1 sharded otherwise: 1x2x4 → 1x4x2"
    ]


LOOP = """\
HloModule jit_step, entry_computation_layout={(f32[8]{0})->(s32[], f32[8]{0})}

body {
  b = (s32[], f32[8]{0}) parameter(0)
  n = s32[] get-tuple-element(b), index=0
  one = s32[] constant(1)
  m = s32[] add(n, one)
  x = f32[8]{0} get-tuple-element(b), index=1
  y = f32[8]{0} add(x, x)
  ROOT t = (s32[], f32[8]{0}) tuple(m, y)
}

condition {
  c = (s32[], f32[8]{0}) parameter(0)
  k = s32[] get-tuple-element(c), index=0
  last = s32[] constant(4)
  ROOT less = pred[] compare(k, last), direction=LT
}

ENTRY main {
  a = f32[8]{0} parameter(0)
  zero = s32[] constant(0)
  p = (s32[], f32[8]{0}) tuple(zero, a)
  ROOT w = (s32[], f32[8]{0}) WHILE(p)WHERE
}
"""


def test_a_loop_without_the_name_of_its_function_is_in_the_program(
    tmp_path: Path,
) -> None:
    """Releases until 2024 say a line alone."""
    where = ', metadata={op_name="jit(step)/while" source_file="/a/s.py" source_line=9}'
    called = ", condition=condition, body=body"
    rolled = LOOP.replace("WHILE", "while").replace("WHERE", called + where)
    plain = LOOP.replace("WHILE", "copy").replace("WHERE", where)
    assert sentences_of(tmp_path, plain, rolled) == [
        "new loop of 4 steps in the program"
    ]


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        ("zero = s32[] constant(0)", "zero = s32[] constant(1)", " of 3 steps"),
        ("one = s32[] constant(1)", "one = s32[] constant(3)", " of 2 steps"),
        ("constant(4)", "constant(0)", " of 0 steps"),
        ("direction=LT", "direction=GT", ""),
        ("add(n, one)", "multiply(n, one)", ""),
        ("add(n, one)", "add(one, one)", ""),
        ("tuple(zero, a)", "tuple(start, a)", ""),
        ("compare(k, last)", "compare(last, last)", ""),
    ],
)
def test_the_number_of_steps_is_that_of_a_counter_that_the_condition_reads(
    tmp_path: Path, before: str, after: str, steps: str
) -> None:
    """Any other constant, as of a condition counter > 0, is no number of steps."""
    where = ', condition=condition, body=body, metadata={op_name="jit(step)/while"'
    where += ' source_file="/a/s.py" source_line=9}'
    assert before in LOOP
    text = LOOP.replace(before, after).replace(
        "  zero =", "  start = s32[] convert(a)\n  zero ="
    )
    rolled = text.replace("WHILE", "while").replace("WHERE", where)
    plain = text.replace("WHILE", "copy").replace("WHERE", "")
    assert sentences_of(tmp_path, plain, rolled) == [f"new loop{steps} in the program"]


def test_a_loop_that_ends_at_a_fraction_has_no_number_of_steps(tmp_path: Path) -> None:
    where = ', condition=condition, body=body, metadata={op_name="jit(step)/while"'
    where += ' source_file="/a/s.py" source_line=9}'
    text = LOOP.replace("s32[]", "f32[]").replace("constant(4)", "constant(0.25)")
    rolled = text.replace("WHILE", "while").replace("WHERE", where)
    plain = text.replace("WHILE", "copy").replace("WHERE", "")
    assert sentences_of(tmp_path, plain, rolled) == ["new loop in the program"]


def sentences_of(folder: Path, *texts: str) -> list[str]:
    """Return what is said of the edit of one program to another."""
    return [row["sentence"] for row in edits_of(folder, *texts)]


def edits_of(
    folder: Path, *texts: str, with_paths: bool = False
) -> list[dict[str, Any]]:
    """Return the edits of one program to another."""
    runs = ["base", "candidate"]
    for run, text in zip(runs, texts, strict=True):
        (folder / run).mkdir()
        for stage in ("before_optimizations", "cpu_after_optimizations"):
            (folder / run / f"module_0001.jit_step.{stage}.txt").write_text(text)
        request = RunRequest(name=run)
        ingest([str(folder / run)], folder / "w.duckdb", request=request, jobs=1)
    with connect(folder / "w.duckdb") as connection:
        return _rows(connection, runs[1:], with_paths)


@pytest.mark.parametrize(
    ("runs", "change"),
    [
        (("jaxlib-0.5.3", "jaxlib-0.7.2"), "added"),
        (("jaxlib-0.7.2", "jaxlib-0.5.3"), "removed"),
    ],
)
def test_loops_are_the_same_where_one_release_says_less_of_them(
    demo_warehouse: Path, runs: tuple[str, str], change: str
) -> None:
    """The earlier one does not say which of them is of the backward pass."""
    asked = dict(zip(("base", "candidate"), runs, strict=True))
    with connect(demo_warehouse) as connection:
        rows = run_query(connection, "source_changes", asked).dicts()
    assert [(r["program"], r["change"]) for r in rows if r["change"]] == [
        ("jit__lambda", change),
        ("jit_cnn", change),
    ]


def test_another_release_has_no_other_checkpoint(tmp_path: Path) -> None:
    """Its operations have other keys, and 106 are recomputed in place of 108."""
    warehouse = tmp_path / "w.duckdb"
    files = {
        "old": DUMPS / "cpu" / "jaxlib-0.10.2.tar.xz",
        "new": DATA / "remat" / "zoo-jaxlib-0.11.2.tar.xz",
    }
    for run, path in files.items():
        ingest([str(path)], warehouse, request=RunRequest(name=run), jobs=1)
    with connect(warehouse) as connection:
        for base, candidate in (("old", "new"), ("new", "old")):
            asked = {"base": base, "candidate": candidate}
            rows = run_query(connection, "source_changes", asked).dicts()
            program = [r for r in rows if r["program"] == "jit_gpt_scan_remat"]
            assert program
            assert "recomputation" not in {r["change"] for r in program}


@pytest.mark.slow
def test_a_checkout_in_another_folder_is_no_change(tmp_path: Path) -> None:
    """As in a CI that checks every commit out into a folder of its own."""
    pair = next(
        p
        for p in unpacked(PAIRS / "classifier-cpu.tar.xz", tmp_path)
        if p.name == "cnn_activations_kept"
    )
    warehouse = tmp_path / "w.duckdb"
    moved = tmp_path / "moved"
    shutil.copytree(pair.candidate, moved)
    for file in moved.rglob("*.txt"):
        file.write_text(file.read_text().replace("/home/me/model/", "/builds/2/"))
    for name, folder in (
        ("base", pair.base),
        ("candidate", pair.candidate),
        ("moved", moved),
    ):
        ingest([str(folder)], warehouse, request=RunRequest(name=name), jobs=1)
    with connect(warehouse) as connection:
        edits = _edits(connection, ["candidate", "moved"])
        files = connection.execute(
            "SELECT count(*) FROM store.stack_frames WHERE file_name LIKE '/builds/2/%'"
        ).fetchone()
    assert files != (0,)
    assert edits["moved"] == edits["candidate"] != []

"""How arguments of two programs differ, on programs made of arguments alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

NAMED = "SELECT r.name, m.module_id FROM modules AS m JOIN runs AS r USING (run_id)"

Row = tuple[Any, ...]


def program(
    arguments: Sequence[str], line: int, given: Sequence[int] | None = None
) -> str:
    """Return a module with these arguments that adds up the first two.

    An argument that ends with block_N has 4 times as many elements as N says, unless
    their numbers are given.
    """
    sizes = [4 * int(name[-3]) if "block_" in name else 4 for name in arguments]
    sizes = list(given or sizes)
    types = ", ".join(f"f32[{size}]{{0}}" for size in sizes)
    named = ", ".join(f"p{n}: f32[{size}]" for n, size in enumerate(sizes))
    parameters = "\n".join(
        f"  %p{n} = f32[{size}]{{0}} parameter({n}), metadata={{op_name="
        f'"{name}" source_file="step.py" source_line={line}}}'
        for n, (name, size) in enumerate(zip(arguments, sizes, strict=True))
    )
    return (
        "HloModule jit_step, is_scheduled=true,"
        f" entry_computation_layout={{({types})->f32[4]{{0}}}}\n\n"
        f"ENTRY %main ({named}) -> f32[4] {{\n{parameters}\n"
        "  ROOT %sum = f32[4]{0} add(%p0, %p1)\n}\n"
    )


def changes(
    folder: Path,
    base: Sequence[str],
    candidate: Sequence[str],
    sizes: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None),
) -> list[Row]:
    """Return the changes between two programs; a third run is the base moved down."""
    texts = {
        "b": program(base, 1, sizes[0]),
        "c": program(candidate, 1, sizes[1]),
        "d": program(base, 2, sizes[0]),
    }
    return changes_of(folder, texts)


def changes_of(folder: Path, texts: Mapping[str, str]) -> list[Row]:
    path = folder / "w.duckdb"
    for run, text in texts.items():
        (folder / run).mkdir()
        file = folder / run / "module_0001.jit_step.cpu_after_optimizations.txt"
        file.write_text(text)
        ingest([str(folder / run)], path, request=RunRequest(name=run), jobs=1)
    with connect(path) as connection:
        ids = dict(connection.execute(NAMED).fetchall())
        assert ids["b"] == ids.get("d", ids["b"])
        asked = {"base_ids": [ids["b"]], "candidate_ids": [ids["c"]]}
        shown = ("change", "meaning", "base_size", "candidate_size", "argument_count")
        rows = run_query(connection, "input_changes", asked).dicts()
        return [tuple(row[name] for name in shown) for row in rows]


def blocks(name: str, count: int) -> list[str]:
    return [f"{name}['block_{n}']" for n in range(1, count + 1)]


def test_an_optimiser_with_less_state_has_no_fewer_layers(tmp_path: Path) -> None:
    """None of its state is taken for that of the other optimiser."""
    base = ["x", "y", *blocks("state[0].mu", 3), *blocks("state[0].nu", 3)]
    candidate = ["x", "y", *blocks("state[0].trace", 1)]
    assert changes(tmp_path, base, candidate) == [
        ("gone", "optimiser state", "6", None, 6),
        ("new", "optimiser state", None, "1", 1),
    ]


@pytest.mark.parametrize(
    ("arrays", "meaning"),
    [
        (("opt_state[0].mu",), "optimiser state"),
        (("params", "opt_state[0].mu"), "layers"),
    ],
)
def test_moments_alone_are_no_layers(
    tmp_path: Path, arrays: Sequence[str], meaning: str
) -> None:
    base, candidate = (
        ["x", "y", *(b for a in arrays for b in blocks(a, count))] for count in (4, 2)
    )
    found = changes(tmp_path, base, candidate)
    assert found == [("repeated", meaning, "4", "2", 2 * len(arrays))]


@pytest.mark.parametrize(
    ("other", "size", "meaning"),
    [
        ("batch['labels']", 16, "batch['ids'][2][0]"),
        ("batch['mean']", 16, "batch"),
        ("batch['token_weight']", 1, "batch"),
        ("params['input']", 16, "batch"),
    ],
)
def test_a_batch_is_as_large_as_its_labels(
    tmp_path: Path, other: str, size: int, meaning: str
) -> None:
    """Weights have no batch, whatever they are called, nor what all examples share."""
    arrays = ["x", "z", "batch['ids'][2]", other]
    found = changes(tmp_path, arrays, arrays, ([3, 3, 64, size], [3, 3, 96, size]))
    assert found == [("resized", meaning, "64", "96", 1)]


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ([], []),
        (["z"], [("new", "arguments", None, "1", 1)]),
        # Which of both is the array of before is not known.
        (
            ["ema['params']['w']"],
            [
                ("gone", "weights", "1", None, 1),
                ("new", "averaged weights", None, "1", 1),
                ("new", "arguments", None, "1", 1),
            ],
        ),
    ],
)
def test_an_argument_may_become_a_part_of_one_other(
    tmp_path: Path, others: Sequence[str], found: Sequence[Row]
) -> None:
    base, candidate = ["x", "y", "params['w']"], ["x", "y", "state['params']['w']"]
    assert changes(tmp_path, base, [*others, *candidate]) == found


def test_new_arguments_are_called_by_their_names(tmp_path: Path) -> None:
    """A copy of the weights that follows them is no state of the optimiser."""
    new = [
        *("opt['rows']['users']['m']", "opt['rows']['users']['v']"),
        *("state.ema['gate']", "state.params['gate']", "mask"),
        *("state['ema']['gate']", "state[1][2].ema['gate']"),
    ]
    assert changes(tmp_path, ["x", "y"], ["x", "y", *new]) == [
        ("new", "weights", None, "1", 1),
        ("new", "optimiser state", None, "3", 3),
        ("new", "averaged weights", None, "2", 2),
        ("new", "arguments", None, "1", 1),
    ]


def test_counts_of_an_optimiser_are_there_below_another_one(tmp_path: Path) -> None:
    """optax.MultiSteps holds what was the state; two counts have one name and shape."""
    base = ["params['w']", "opt[1][0].count", "opt[1][0].mu['w']", "opt[1][1].count"]
    candidate = [
        "params['w']", "opt.mini_step", "opt.inner[1][0].count",
        "opt.inner[1][0].mu['w']", "opt.inner[1][1].count", "opt.acc_grads['w']",
    ]  # fmt: skip
    assert changes(tmp_path, base, candidate) == [
        ("new", "optimiser state", None, "2", 2)
    ]


def test_moments_below_another_transformation_are_paired(tmp_path: Path) -> None:
    """Where all names are attributes, gradients that are summed up end like moments."""
    base = ["params.w", "opt[1][0].mu.w", "opt[1][0].nu.w"]
    inner = ["opt.inner[1][0].mu.w", "opt.inner[1][0].nu.w"]
    candidate = ["params.w", "opt.acc_grads.w", *inner]
    assert changes(tmp_path, base, candidate) == [
        ("new", "optimiser state", None, "1", 1)
    ]


def test_an_average_is_no_other_one_whose_name_begins_alike(tmp_path: Path) -> None:
    base = ["params['w']", "ema['w']"]
    candidate = ["params['w']", "ema_fast['w']", "mask"]
    assert changes(tmp_path, base, candidate) == [
        ("gone", "averaged weights", "1", None, 1),
        ("new", "averaged weights", None, "1", 1),
        ("new", "arguments", None, "1", 1),
    ]


def test_a_momentum_is_no_first_moment(tmp_path: Path) -> None:
    base = ["params['w']", "opt[0].trace['w']"]
    candidate = ["params['w']", "opt[0].mu['w']", "opt[0].nu['w']"]
    assert changes(tmp_path, base, candidate) == [
        ("new", "optimiser state", None, "2", 2),
        ("gone", "optimiser state", "1", None, 1),
    ]


@pytest.mark.parametrize(
    ("arguments", "meaning"),
    [
        ((("targets", 8), ("points", 4)), "targets[0]"),
        ((("targets", 8), ("points", 8)), "batch"),
        ((("tokens", 8), ("points", 4)), "batch"),
        # Weights of a target network and of an encoder of images.
        (
            (("target['gates']['bias']", 8), ("target['out']['bias']", 8)),
            "target['out']['bias'][0]",
        ),
        (
            (("params['image_encoder']['bias']", 8), ("points", 4)),
            "params['image_encoder']['bias'][0]",
        ),
    ],
)
def test_a_target_has_a_batch_with_another_argument(
    tmp_path: Path, arguments: Sequence[tuple[str, int]], meaning: str
) -> None:
    """Points have other targets without being more themselves."""
    names = [name for name, _ in arguments]
    base, candidate = ([4, 4], [size for _, size in arguments])
    found = changes(tmp_path, names, names, (base, candidate))
    assert [row[:4] for row in found] == [("resized", meaning, "4", "8")]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("params['scale_{}']", "scales"),
        ("params['experts_{}']", "experts"),
        ("params['experts'][{}]", "experts"),
        ("params['Dense_{}']", "Dense layers"),
        ("params['Layer_{}']", "layers"),
        ("params['h{}']", "layers"),
        # The layers of one encoder are no encoders, nor are arrays parameters.
        ("params['encoder'][{}]", "layers"),
        ("params[{}]", "layers"),
    ],
)
def test_what_is_repeated_has_its_own_word(
    tmp_path: Path, name: str, meaning: str
) -> None:
    base, candidate = (
        ["x", "y", *(name.format(n) for n in range(count))] for count in (3, 4)
    )
    assert changes(tmp_path, base, candidate) == [("repeated", meaning, "3", "4", 1)]


STEPS = """\
HloModule jit_step, is_scheduled=true

ENTRY %main (p0: u8[4,{batch},6]) -> f32[{batch},6] {{
  %p0 = u8[4,{batch},6]{{2,1,0}} parameter(0), metadata={{op_name="{argument}"}}
  %wide = f32[4,{batch},6]{{2,1,0}} convert(%p0)
  %one = f32[1,{batch},6]{{2,1,0}} slice(%wide)
  %image = f32[{batch},6]{{1,0}} bitcast(%one)
  %square = f32[{batch},6]{{1,0}} multiply(%image, %image)
  ROOT %sum = f32[{batch},6]{{1,0}} add(%square, %image)
}}
"""


@pytest.mark.parametrize(
    ("argument", "meaning"), [("tokens", "batch"), ("table", "table[1]")]
)
def test_a_batch_may_be_cut_out_of_an_argument(
    tmp_path: Path, argument: str, meaning: str
) -> None:
    """Steps of accumulation come first: the program computes with one at a time."""
    texts = {
        run: STEPS.format(batch=batch, argument=argument)
        for run, batch in {"b": 8, "c": 16}.items()
    }
    found = changes_of(tmp_path, texts)
    assert found == [("resized", meaning, "8", "16", 1)]


@pytest.mark.slow
def test_layers_are_counted_once_however_many_runs_hold_them(tmp_path: Path) -> None:
    base, candidate = (["x", "y", *blocks("params", count)] for count in (4, 2))
    assert changes(tmp_path, base, candidate) == [("repeated", "layers", "4", "2", 2)]

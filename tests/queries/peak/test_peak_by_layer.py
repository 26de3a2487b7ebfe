"""Layers of framework paths, and the bytes of the peak that each holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import example, given

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, Made
from tests.newcomers import ingested
from tests.queries.assignments import Allocation, Assignment, Value, assignments
from tests.queries.peak.test_live_bytes import THREE_ON_A_BYTE, owned_bytes
from tests.queries.stored import Connection, add, examples, stored

STEP = "jit(train_step)/transpose(jvp(LanguageModel))"

LAYERS = {
    f"{STEP}/jvp(LanguageModel)/checkpoint/block_3/Attention_0/dot_general": "block_3",
    "state[0]['params']['block_11']['Mlp_0']['Dense_1']['kernel']": "block_11",
    "p['blocks'][2]['ln1']": "blocks_2",
    "model.layers[7].attention.query.weight": "layers_7",
    "params['params']['encoder']['layers_4']['kernel']": "encoder/layers_4",
    "jit(f)/jvp(T5)/decoder/block/5/layer/1/mul": "decoder/block_5",
    "jit(f)/ViT/Transformer/encoderblock_9/MlpBlock_3/add": "encoderblock_9",
    "params['transformer']['h']['6']['mlp']['kernel']": "h_6",
    "jit(f)/resnet/layer2/conv1/conv_general_dilated": "layer_2",
    "resnet50/conv3_block1_2_conv/Conv2D": "conv3_block_1",
    "jit(loss)/jvp(CNN)/Conv_1/conv_general_dilated": "Conv_1",
    "opt_state[0].mu['Dense_0']['kernel']": "Dense_0",
    # A loop is around blocks, or it holds them all.
    "jit(f)/while/body/jvp(LM)/block_2/mul": "block_2",
    "jit(f)/jvp(LM)/while/body/block/Attention_0/Dense_1/dot_general": None,
    "params['block']['Attention_0']['kernel']": None,
    "params[3]": None,
    "p[1][0]": None,
    "jit(misc)/cond/branch_1_fun/neg": None,
    "jit(f)/LayerNorm/log1p": None,
    "gradients/matmul_grad/MatMul_3": None,
    "gradient_tape/Gelu_1/mul_2/Mul": None,
    "aten__mul.3/aten__mul": None,
    "layers_123456789012345678901234567890/mul": None,
    "": None,
}
"""The layer that a colleague reads in a path."""


def of_paths(assignment: Assignment) -> dict[tuple[int, str], int]:
    """Return bytes by memory space and layer; value 0 has the first path."""
    layers = list(LAYERS.values())
    found: dict[tuple[int, str], int] = defaultdict(int)
    for (color, _, value_id), (owned, _) in owned_bytes(assignment).items():
        layer = None if value_id is None else layers[value_id % len(layers)]
        found[color, layer or "(no layer)"] += owned
    return dict(found)


def ask(connection: Connection) -> dict[tuple[int, str], int]:
    for form, path in enumerate(LAYERS):
        add(connection, "store.instruction_forms", form_id=2 + form, op_name=path)
    connection.execute(
        "UPDATE store.instructions SET form_id = 2 + instruction_id % ?", [len(LAYERS)]
    )
    rows = connection.execute(
        "SELECT color, layer, owned_bytes FROM peak_by_layer() WHERE owned_bytes > 0"
    ).fetchall()
    found = {row[:2]: row[2] for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_path_has_its_layer(empty_warehouse: Connection) -> None:
    whole = Assignment(
        tuple(
            Allocation(n, n + 1, 0, "temp", (Value(n, 0, n + 1, 0, 1),))
            for n in range(len(LAYERS))
        ),
        1,
    )
    expected: dict[tuple[int, str], int] = defaultdict(int)
    for number, layer in enumerate(LAYERS.values()):
        expected[0, layer or "(no layer)"] += number + 1
    counts = Counter(layer or "(no layer)" for layer in LAYERS.values())
    with stored(empty_warehouse, whole) as connection:
        assert ask(connection) == expected
        others = connection.execute(
            "SELECT layer, value_count, peak_ratio, largest_instruction"
            " FROM peak_by_layer()"
        ).fetchall()
    # The n-th path is that of a value of n bytes; all are live at once.
    last = {layer or "(no layer)": n for n, layer in enumerate(LAYERS.values())}
    total = sum(range(len(LAYERS) + 1))
    assert {row[0]: row[1:] for row in others} == {
        layer: (
            counts[layer],
            pytest.approx(expected[0, layer] / total),
            f"v{last[layer]}",
        )
        for layer in counts
    }


@pytest.mark.slow
@examples
@example(assignment=THREE_ON_A_BYTE)
@given(assignment=assignments())
def test_layers_add_up_to_the_live_peak(
    empty_warehouse: Connection, assignment: Assignment
) -> None:
    with stored(empty_warehouse, assignment) as connection:
        assert ask(connection) == of_paths(assignment)


def test_arguments_tell_the_layers_that_scopes_name(made: Made) -> None:
    """Two programs of the same memory: in one alone scopes name the blocks."""

    def both(path: Path) -> None:
        dumps = [DATA / "layers" / f"{name}.tar.xz" for name in ("scopes", "arguments")]
        for dump in dumps:
            ingest([str(dump)], path, jobs=1)

    held: dict[str, Counter[str]] = {}
    with connect(made("scopes", both)) as connection:
        for run in ("scopes", "arguments"):
            held[run] = Counter()
            for row in run_query(connection, "peak_by_layer", {"run": run}).dicts():
                held[run][row["layer"].replace("blk", "blocks")] += row["owned_bytes"]
    assert held["arguments"] == held["scopes"] == {
        "(no layer)": 2_158_472, "blocks_0": 1_409_728, "blocks_1": 1_138_368,
    }  # fmt: skip


def test_no_array_of_a_loop_is_in_two_layers(tmp_path: Path) -> None:
    """The parameter of its body is known as a whole, and element by element."""
    with connect(ingested("layered", tmp_path)) as connection:
        found = run_query(connection, "peak_by_layer").dicts()
        [space] = run_query(connection, "peak_by_space").dicts()
    held = {row["layer"]: row["owned_bytes"] for row in found}
    assert sum(held.values()) == space["live_peak_bytes"]
    assert held["(no layer)"] == 45_361_260

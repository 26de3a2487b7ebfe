"""Forward, backward or optimiser: what PyTorch's names and lines say of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

AUTOGRAD = "/site-packages/torch/autograd/graph.py"
FORWARD = "/site-packages/torch/nn/modules/linear.py"
SAID = (
    ("aten__mm", FORWARD, "other"),
    ("aten__mm", AUTOGRAD, "backward"),
    ("aten__mm", None, "backward"),
    ("aten__gelu_backward", FORWARD, "backward"),
    ("aten__lerp.3/aten__lerp", "/site-packages/torch/optim/adam.py", "optimiser"),
    ("aten__mul", "/site-packages/torch_xla/amp/syncfree/adam.py", "optimiser"),
    ("aten__mul", "/home/me/torch/autograd/function.py", "other"),
    # A layer that a scan goes through is traced in both passes from one line.
    ("aot_forward.36/aten__mm", "/site-packages/torch/_ops.py", "forward"),
    ("aot_backward.63/aten__mm", "/site-packages/torch/_ops.py", "backward"),
    # XLA stacks what the layers keep, and gives it the name of the scan alone.
    ("xla__scan", None, "other"),
    ("", None, "none"),
)


def phases(folder: Path, said: tuple[tuple[str, str | None, str], ...]) -> list[str]:
    """Return the phases of a chain of negations with these names and files."""
    lines = ["  %i0 = f32[4]{0} parameter(0)"]
    for number, (op_name, file, _) in enumerate(said, 1):
        source = f' source_file="{file}" source_line=1' if file else ""
        named = f', metadata={{op_name="{op_name}"{source}}}' if op_name else ""
        root = "ROOT " if number == len(said) else ""
        lines.append(f"  {root}%i{number} = f32[4]{{0}} negate(%i{number - 1}){named}")
    text = "HloModule f, is_scheduled=true\n\nENTRY %main (i0: f32[4]) -> f32[4] {\n"
    dump, db = folder / "dump", folder / "w.duckdb"
    dump.mkdir()
    file_name = "module_0001.f.cpu_after_optimizations.txt"
    (dump / file_name).write_text(text + "\n".join(lines) + "\n}\n")
    ingest([str(dump)], db, jobs=1)
    with connect(db) as connection:
        found = run_query(connection, "instruction_phases").dicts()
    return [row["phase"] for row in sorted(found, key=lambda r: r["instruction_id"])][
        1:
    ]


def test_lines_tell_the_phases_of_pytorch(tmp_path: Path) -> None:
    assert phases(tmp_path, SAID) == [phase for *_, phase in SAID]


@pytest.mark.parametrize("op_name", ["aten__mm", "jit(f)/dot_general"])
def test_where_nothing_has_a_line_none_tells(tmp_path: Path, op_name: str) -> None:
    """As where only the names of PyTorch are dumped."""
    assert phases(tmp_path, ((op_name, None, ""),) * 2) == ["other", "other"]


def test_a_missing_line_says_nothing_of_jax(tmp_path: Path) -> None:
    said = (("jit(f)/jvp()/dot_general", "/home/me/train.py", "forward"),)
    assert phases(tmp_path, (*said, ("jit(f)/mul", None, "other"))) == [
        "forward",
        "other",
    ]

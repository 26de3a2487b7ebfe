"""The pass that made a buffer, on dumps after every pass; expected rows by hand."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

PASSES = DATA / "passes"
SHOWN = ("space_name", "instruction", "owned_bytes", "origin", "pass", "was_fused")
KIB = 1 << 10

FUSED = """\
HloModule jit_ring

%fused (p: f32[32,64]) -> f32[32,256] {
  %p = f32[32,64]{1,0} parameter(0)
  %all_gather.3 = f32[32,256]{0,1} all-gather(%p), dimensions={1}
  ROOT %negate.1 = f32[32,256]{1,0} negate(%all_gather.3)
}

ENTRY %main (x: f32[32,64]) -> f32[32,256] {
  %x = f32[32,64]{1,0} parameter(0)
  ROOT %fusion.7 = f32[32,256]{1,0} fusion(%x), kind=kLoop, calls=%fused
}
"""
"""A snapshot in which the all-gather has no buffer of its own."""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Return the folder of a program that was dumped after every pass."""
    folder = tmp_path / "ring"
    with tarfile.open(PASSES / "jit_ring.tar.xz") as packed:
        packed.extractall(folder)
    return folder


def origins(dump: Path, tmp_path: Path) -> list[tuple[object, ...]]:
    file = tmp_path / "w.duckdb"
    ingest([str(dump)], file, jobs=1)
    with connect(file) as connection:
        rows = run_query(connection, "buffer_origin", {}).dicts()
    return [tuple(row[name] for name in SHOWN) for row in rows]


def test_layout_assignment_makes_a_copy_that_another_pass_wraps(
    ring: Path, tmp_path: Path
) -> None:
    """`copy.10` of the wrapped fusion is in snapshot 16, after layout-assignment."""
    assert origins(ring, tmp_path) == [
        ("host", "param.3", 256 * KIB, "given", None, False),
        ("host", "all_gather.3", 32 * KIB, "inlining", "call-inliner", False),
        ("host", "wrapped_copy.1", 32 * KIB, "layout", "layout-assignment", False),
        ("host", "param.2", 8 * KIB, "given", None, False),
    ]


def test_a_fusion_that_is_undone_is_the_origin(ring: Path, tmp_path: Path) -> None:
    """Between snapshots 12 and 13 the all-gather is within a fusion alone."""
    name = "module_0042.jit_ring.0012.simplification.after_fuser.before_defuser.txt"
    (ring / name).write_text(FUSED)
    [found] = [row for row in origins(ring, tmp_path) if row[1] == "all_gather.3"]
    assert found[3:] == ("unfused", "pipeline-start", True)


def test_without_dumps_after_passes_nothing_is_said(ring: Path, tmp_path: Path) -> None:
    for snapshot in ring.glob("*.after_*.before_*"):
        snapshot.unlink()
    for snapshot in ring.glob("*copy-insertion*"):
        snapshot.unlink()
    assert origins(ring, tmp_path) == []


@pytest.mark.slow
def test_prefetches_come_after_the_last_pass_that_is_dumped(tmp_path: Path) -> None:
    """A training step for a v5e: results of fusions are there from the beginning."""
    found = origins(PASSES / "v5e-jit_step.tar.xz", tmp_path)
    by_origin: dict[tuple[object, object], set[object]] = {}
    for space, instruction, _, origin, name, _ in found:
        by_origin.setdefault((origin, name), set()).add((space, instruction))
    arguments = ("weights_0_.1", "weights_1_.1", "momentum_0_.1", "momentum_1_.1")
    updates = ("multiply_subtract_fusion", "multiply_subtract_fusion.1")
    assert by_origin == {
        ("given", None): {
            *(("HBM", name) for name in (*arguments, *updates, "x.1", "y.1")),
            ("VMEM", "convolution_tanh_fusion"),
            ("VMEM", "multiply_reduce_fusion"),
        },
        ("simplification", "algsimp"): {("HBM", "multiply.2")},
        ("fusion", "tpu_fusion"): {("HBM", "multiply_subtract_fusion")},
        ("later", None): {
            *(("VMEM", name) for name in (
                "copy-start", "copy-start.1", "copy-start.2", "copy-start.3",
                "copy-start.4",
            )),
            *(("SMEM", name) for name in (
                "copy-start", "copy-start.1", "copy-start.3",
            )),
        },
    }  # fmt: skip

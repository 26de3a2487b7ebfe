"""Compiles the gradient of ten layers, of which a TPU holds too few, so XLA recomputes.

    pip install "jax[tpu]==0.10.2" && python make_dump.py FOLDER.tar.xz

For a v5e of 16 GB, ahead of time, without one.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

LAYERS, BATCH, WIDTH = 10, 65_536, 4096
KEPT = (
    ".before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)


def compile_step() -> None:
    """Compile the gradient of the layers."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    chip = topologies.get_topology_desc("v5e:2x2", "tpu").devices[0]
    place = SingleDeviceSharding(chip)

    def step(weights: list[Any], x: Any) -> Any:
        def loss(weights: list[Any]) -> Any:
            h = x
            for w in weights:
                with jax.named_scope("layer"):
                    h = jnp.tanh(h @ w) * jnp.sin(h)
            return (h**2).sum()

        return jax.grad(loss)(weights)

    def array(*dims: int) -> Any:
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=place)

    weights = [array(WIDTH, WIDTH)] * LAYERS
    jax.jit(step).lower(weights, array(BATCH, WIDTH)).compile()


def main(target: Path) -> None:
    """Compile with dumps on, and pack what is kept of them."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("to=" + folder, "hlo_as_text")
        os.environ["XLA_FLAGS"] = " ".join(f"--xla_dump_{flag}" for flag in flags)
        os.environ["TPU_SKIP_MDS_QUERY"] = "1"
        compile_step()
        with tarfile.open(target, "w:xz") as archive:
            for path in sorted(Path(folder).iterdir()):
                if path.name.endswith(KEPT):
                    text = path.read_text()
                    for prefix in (Path(__file__).parent, sys.prefix):
                        text = text.replace(f"{prefix}/", "")
                    path.write_text(text)
                    archive.add(path, path.name, filter=without_owner)


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Compiles the gradient of eight layers, without and with jax.checkpoint around each.

    pip install "jax==0.11.2" && python make_cpu_dump.py FOLDER.tar.xz

Packs the dump of the first, and prints the temporary bytes of both for a CPU.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

LAYERS, ROWS, WIDTH = 8, 16_384, 512
KEPT = (
    ".before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    "compile_options.textproto",
)


def compile_step(wrapped: Callable[[Any], Any]) -> int:
    """Compile the gradient of the layers; return its temporary bytes."""
    import jax
    import jax.numpy as jnp

    @wrapped
    def layer(w: Any, x: Any) -> Any:
        return x + jnp.tanh(jax.nn.gelu(x @ w[0]) @ w[1])

    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            h = x
            for w in weights:
                h = layer(w, h)
            return jnp.mean(h**2)

        grads = jax.grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, grads)

    def array(*dims: int) -> Any:
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    weights = [(array(WIDTH, 4 * WIDTH), array(4 * WIDTH, WIDTH))] * LAYERS
    lowered = jax.jit(step, donate_argnums=0).lower(weights, array(ROWS, WIDTH))
    return int(lowered.compile().memory_analysis().temp_size_in_bytes)


def main(target: Path) -> None:
    """Compile both with dumps on, and pack what is kept of the first."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder}"
        print("saved", compile_step(lambda layer: layer))
        with tarfile.open(target, "w:xz") as archive:
            for path in sorted(Path(folder).rglob("*")):
                name = str(path.relative_to(folder))
                if "jit_step" in name and name.endswith(KEPT):
                    text = path.read_text()
                    for prefix in (Path(__file__).parent, sys.prefix, folder):
                        text = text.replace(f"{prefix}/", "").replace(f"{prefix}", "")
                    path.write_text(text)
                    archive.add(path, name, filter=without_owner)
        import jax

        print("recomputed", compile_step(jax.checkpoint))


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Compiles a training step of three layers and one of four, on a CPU and for a v5e.

    pip install "jax[tpu]==0.10.2"
    for target in cpu v5e; do python make_dumps.py $target; done

Gives TARGET-3.tar.xz and TARGET-4.tar.xz here. Its state is a tuple: weights, and two
moments of Adam, which no name tells from them.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)


def compile_step(target: str, layers: int) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    if target == "cpu":
        chips = jax.devices("cpu")
    else:
        chips = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    alone = NamedSharding(Mesh(np.array(chips[:1]), ("x",)), PartitionSpec())
    array = jax.ShapeDtypeStruct((128, 128), jnp.float32, sharding=alone)

    def train_step(state: Any, x: Any) -> Any:
        weights, mean, square = state

        def loss(weights: Any) -> Any:
            h = x
            for w in weights.values():
                h = jnp.tanh(h @ w)
            return (h**2).mean()

        grads = jax.grad(loss)(weights)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
        square = jax.tree.map(lambda n, g: 0.99 * n + 0.01 * g * g, square, grads)

        def updated(w: Any, m: Any, n: Any) -> Any:
            return w - 1e-3 * m / (jnp.sqrt(n) + 1e-8)

        return jax.tree.map(updated, weights, mean, square), mean, square

    weights = {f"w{layer}": array for layer in range(layers)}
    step = jax.jit(train_step, donate_argnums=0)
    step.lower((weights, weights, weights), array).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(target: str, layers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if (child := os.fork()) == 0:
            os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
            os.environ["TPU_SKIP_MDS_QUERY"] = "1"
            compile_step(target, layers)
            os._exit(0)
        os.waitpid(child, 0)
        with tarfile.open(HERE / f"{target}-{layers}.tar.xz", "w:xz") as packed:
            for file in sorted(Path(folder).glob("*train_step*")):
                if file.name.endswith(KEPT):
                    packed.add(file, file.name, filter=anonymous)


if __name__ == "__main__":
    for count in (3, 4):
        dump(sys.argv[1], count)

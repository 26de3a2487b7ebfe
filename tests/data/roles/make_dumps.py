"""Compiles three training steps whose buffers were labelled by hand, on CPU and v5e.

    pip install "jax[tpu]==0.10.2"
    for target in cpu v5e; do python make_dumps.py $target; done

Gives TARGET.tar.xz here. labels.csv says by hand what buffers of them hold.
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
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)
WIDTH, HIDDEN, BATCH, LAYERS, CLASSES = 128, 512, 1024, 3, 256


def compile_all(target: str) -> None:
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

    def like(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=alone)

    def block(x: Any, p: Any) -> Any:
        return x + jnp.tanh(x @ p["up"]) @ p["down"]

    def cross_entropy(logits: Any) -> Any:
        return -jax.nn.log_softmax(logits)[:, 0].mean()

    def unrolled(params: Any, m: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            h = x @ params["emb"]
            for p in params["blocks"]:
                h = block(h, p)
            return cross_entropy(h @ params["head"])

        grads = jax.grad(loss)(params)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, m), m

    def scanned(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            h, _ = jax.lax.scan(
                lambda h, p: (block(h, p), None), x @ params["emb"], params["blocks"]
            )
            return cross_entropy(h @ params["head"])

        grads = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    one = {"up": like(WIDTH, HIDDEN), "down": like(HIDDEN, WIDTH)}
    stacked = {
        "up": like(LAYERS, WIDTH, HIDDEN),
        "down": like(LAYERS, HIDDEN, WIDTH),
    }
    ends = {"emb": like(WIDTH, WIDTH), "head": like(WIDTH, CLASSES)}
    listed = {**ends, "blocks": [one] * LAYERS}
    x = like(BATCH, WIDTH)
    jax.jit(unrolled, donate_argnums=(0, 1)).lower(listed, listed, x).compile()
    jax.jit(scanned, donate_argnums=0).lower({**ends, "blocks": stacked}, x).compile()

    def nameless(*a: Any) -> Any:
        up, down, x = a

        def loss(w: Any) -> Any:
            return cross_entropy(jnp.tanh(x @ w[0]) @ w[1])

        return jax.tree.map(
            lambda p, g: p - 0.1 * g, (up, down), jax.grad(loss)((up, down))
        )

    step = lambda *a: nameless(*a)  # noqa: E731
    jax.jit(step).lower(one["up"], one["down"], x).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if (child := os.fork()) == 0:
            os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
            os.environ["TPU_SKIP_MDS_QUERY"] = "1"
            compile_all(target)
            os._exit(0)
        os.waitpid(child, 0)
        with tarfile.open(HERE / f"{target}.tar.xz", "w:xz") as packed:
            for file in sorted(Path(folder).iterdir()):
                if file.name.endswith(KEPT):
                    packed.add(file, file.name, filter=anonymous)


if __name__ == "__main__":
    dump(sys.argv[1])

"""Compiles programs that hand arrays on for a v5e, ahead of time.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py

Gives v5e.tar.xz here. `either` hands arrays to the branches of a conditional, `scanned`
fills arrays in loops, one of them in the host's memory; `attend` is an attention of
plain arguments, and `paged` one whose cache lies in pages.
"""

from __future__ import annotations

import os
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


def compile_all() -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.ad_checkpoint import checkpoint_name
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    chips = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    alone = NamedSharding(Mesh(np.array(chips[:1]), ("x",)), PartitionSpec())

    def array(*sizes: int, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(sizes, dtype, sharding=alone)

    def either(p: Any, x: Any, y: Any) -> Any:
        h = jnp.tanh(x @ y)
        g = jnp.sin(h)

        def one(h: Any, g: Any) -> Any:
            return jnp.sort(jnp.cos(h @ y) @ y, axis=0) + g

        def other(h: Any, g: Any) -> Any:
            return jnp.sort(g, axis=0)

        return jax.lax.cond(p > 0, one, other, h, g)

    def layer(x: Any, w: Any) -> Any:
        first = checkpoint_name(jnp.tanh(x @ w["a"]), "first")
        return x + checkpoint_name(jnp.sin(first @ w["b"]), "second"), None

    def scanned(weights: Any, x: Any) -> Any:
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["second"],
            names_which_can_be_offloaded=["first"],
            offload_src="device",
            offload_dst="pinned_host",
        )
        body = jax.checkpoint(layer, policy=policy, prevent_cse=False)

        def loss(weights: Any) -> Any:
            out = jax.lax.scan(body, x, weights)[0].astype(jnp.float32)
            return (out**2).mean()

        return jax.tree.map(lambda w, g: w - g, weights, jax.grad(loss)(weights))

    def attend(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(q @ k.T) @ v

    def paged(k_pages: Any, v_pages: Any, table: Any, q: Any, k: Any, v: Any) -> Any:
        k_pages = k_pages.at[table[-1], 0].set(k)
        v_pages = v_pages.at[table[-1], 0].set(v)
        keys = k_pages[table].reshape(-1, 128)
        values = v_pages[table].reshape(-1, 128)
        return attend(q, keys, values), k_pages, v_pages

    number = array(dtype=jnp.int32)
    jax.jit(either).lower(number, array(512, 512), array(512, 512)).compile()
    layers = {name: array(8, 1024, 1024, dtype=jnp.bfloat16) for name in "ab"}
    jax.jit(scanned, donate_argnums=0).lower(
        layers, array(4096, 1024, dtype=jnp.bfloat16)
    ).compile()
    jax.jit(attend).lower(*[array(256, 128)] * 3).compile()
    pages, row = array(64, 16, 128), array(128)
    jax.jit(paged, donate_argnums=(0, 1)).lower(
        pages, pages, array(8, dtype=jnp.int32), array(4, 128), row, row
    ).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        compile_all()
        with tarfile.open(HERE / "v5e.tar.xz", "w:xz", preset=9) as packed:
            for path in sorted(Path(folder).iterdir()):
                if path.name.endswith(KEPT):
                    packed.add(path, path.name, filter=anonymous)


if __name__ == "__main__":
    main()

"""Compiles programs that compute while something else goes on, ahead of time.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py v5e
    pip install jax==0.10.2 jax-cuda12-plugin==0.10.2 jax-cuda12-pjrt==0.10.2 \\
        nvidia-cuda-nvcc-cu12 && python make_dumps.py h100

Gives DEVICE.tar.xz (v5e, v5p, h100) here. `fsdp` gathers the weights of four devices
before it uses them and sums their gradients; `offload`, but on a v5p, keeps what six
layers save in the host's memory; `streams`, on an H100, computes something on a stream
of its own.
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
TOPOLOGIES = {"v5e": "v5e:2x2", "v5p": "v5p:2x2x1"}


def four_devices(device: str) -> Any:
    from jax.experimental import topologies

    if device != "h100":
        return topologies.get_topology_desc(TOPOLOGIES[device], "tpu").devices[:4]
    return topologies.get_topology_desc(
        platform="cuda",
        topology_name="",
        target_config=(HERE.parent / "gpu/h100.txtpb").read_text(),
        topology="1x8x1",
    ).devices[:4]


def compile_all(device: str) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.ad_checkpoint import checkpoint_name
    from jax.experimental.compute_on import compute_on
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(four_devices(device)), ("x",))
    split = NamedSharding(mesh, PartitionSpec("x"))
    whole = NamedSharding(mesh, PartitionSpec())

    def array(*sizes: int, sharding: Any = split) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=sharding)

    def fsdp(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            h = x
            for w in weights:
                h = jax.lax.with_sharding_constraint(jnp.tanh(h @ w), split)
            return (h**2).mean()

        return jax.tree.map(lambda w, g: w - g, weights, jax.grad(loss)(weights))

    def layer(x: Any, w: Any) -> Any:
        saved = checkpoint_name(jnp.tanh(x @ w), "saved")
        return x + jnp.sin(saved @ w), None

    def offload(weights: Any, x: Any) -> Any:
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[],
            names_which_can_be_offloaded=["saved"],
            offload_src="device",
            offload_dst="pinned_host",
        )
        body = jax.checkpoint(layer, policy=policy, prevent_cse=False)

        def loss(weights: Any) -> Any:
            return (jax.lax.scan(body, x, weights)[0] ** 2).mean()

        return jax.grad(loss)(weights)

    def beside(x: Any) -> Any:
        return jnp.sin(x @ x) @ x

    def streams(x: Any) -> Any:
        return compute_on("gpu_stream:1")(jax.jit(beside))(x), jnp.cos(x @ x)

    weights = [array(256, 256)] * 3
    jax.jit(fsdp, donate_argnums=0).lower(weights, array(512, 256)).compile()
    if device != "v5p":
        layers = array(6, 128, 128, sharding=whole)
        jax.jit(offload).lower(layers, array(256, 128, sharding=whole)).compile()
    if device == "h100":
        jax.jit(streams).lower(array(64, 64, sharding=whole)).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main(device: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text" + (
            " --xla_gpu_autotune_level=0" if device == "h100" else ""
        )
        os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # There is no driver.
        compile_all(device)
        with tarfile.open(HERE / f"{device}.tar.xz", "w:xz", preset=9) as packed:
            for path in sorted(Path(folder).iterdir()):
                if path.name.endswith(KEPT):
                    packed.add(path, path.name, filter=anonymous)


if __name__ == "__main__":
    main(sys.argv[1])

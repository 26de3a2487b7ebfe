"""Compiles two programs for an H100 ahead of time, on a machine without a GPU.

    pip install jax==0.10.2 jax-cuda12-plugin==0.10.2 jax-cuda12-pjrt==0.10.2 \\
        nvidia-cuda-nvcc-cu12 && python make_dumps.py FOLDER.tar.xz

`step` is a gradient step whose weights are donated; `ring` gathers, scatters and sums
over eight GPUs, with temporaries and what collectives exchange in memory spaces of
their own where the release has them. h100.txtpb says what XLA has to know of the GPU.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

LEFT_OUT = (".ll", ".ptx", ".cubin")
TARGET = Path(__file__).with_name("h100.txtpb")
FLAGS = (
    "--xla_dump_hlo_as_text",
    "--xla_dump_hlo_as_proto",
    "--xla_gpu_autotune_level=0",
)
SPACES = (
    "--xla_gpu_temp_buffer_use_separate_color=true",
    "--xla_gpu_enable_nccl_user_buffers=true",
)
"""Earlier releases than 0.9 end with an assertion, or don't know them."""


def compile_all() -> dict[str, Any]:
    """Compile the programs; give what JAX says of each one's memory."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.experimental import topologies
    from jax.experimental.shard_map import shard_map
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    gpus = topologies.get_topology_desc(
        platform="cuda",
        topology_name="",
        target_config=TARGET.read_text(),
        topology="1x8x1",
    ).devices
    alone = NamedSharding(Mesh(np.array(gpus[:1]), ("data",)), PartitionSpec())
    mesh = Mesh(np.array(gpus).reshape(2, 4), ("data", "model"))
    by_both = PartitionSpec("data", "model")
    everywhere = PartitionSpec()

    def array(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    def step(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)) ** 2)

        return w - 0.1 * jax.grad(loss)(w)

    def on_each(x: Any, w: Any) -> Any:
        y = lax.all_gather(x, "model", axis=1, tiled=True) @ w
        y = lax.psum_scatter(y, "model", scatter_dimension=1, tiled=True)
        y = lax.ppermute(y, "data", [(0, 1), (1, 0)])
        return lax.psum(y, "data")

    def ring(x: Any, w: Any) -> Any:
        specs = (by_both, everywhere)
        out = PartitionSpec(None, "model")
        each = shard_map(on_each, mesh=mesh, in_specs=specs, out_specs=out)
        return each(x, w)

    def placed(spec: Any) -> Any:
        return NamedSharding(mesh, spec)

    compiled = {
        "jit_step": jax.jit(step, in_shardings=(alone, alone), donate_argnums=0)
        .lower(array(64, 256), array(128, 64))
        .compile(),
        "jit_ring": jax.jit(ring, in_shardings=(placed(by_both), placed(everywhere)))
        .lower(array(64, 256), array(256, 256))
        .compile(),
    }
    return {name: program.memory_analysis() for name, program in compiled.items()}


def main(archive: Path) -> None:
    """Compile, and pack what is dumped beside what JAX says of it."""
    with tempfile.TemporaryDirectory() as folder:
        new = SPACES if version("jaxlib") in ("0.9.2", "0.10.2") else ()
        os.environ["XLA_FLAGS"] = " ".join([f"--xla_dump_to={folder}", *FLAGS, *new])
        os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # There is no driver.
        said = [
            {"module": name}
            | {key: getattr(stats, key) for key in dir(stats) if "_in_bytes" in key}
            for name, stats in compile_all().items()
        ]
        if all(len(stats) > 1 for stats in said):  # Not told before 2025-04.
            Path(folder, "memory_analysis.json").write_text(json.dumps(said, indent=1))
        pack(Path(folder), archive)


def pack(dump: Path, archive: Path) -> None:
    """Pack what is kept of a dump, without times and owners."""

    def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(dump.iterdir()):
            if not path.name.endswith(LEFT_OUT):
                packed.add(path, path.name, filter=anonymous)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

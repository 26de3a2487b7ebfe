"""Compiles a program for one v5e that keeps a value in HBM, or moves it to the host.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py

Gives kept.tar.xz and moved.tar.xz here.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STAGES = ("before_optimizations", "after_optimizations")
KEPT = (
    *(f".{stage}.txt" for stage in STAGES),
    *(f".{STAGES[1]}{more}.txt" for more in ("-buffer-assignment", "-live-range")),
)


def compile_with(is_moved: bool) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    chips = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    alone = NamedSharding(Mesh(np.array(chips[:1]), ("x",)), PartitionSpec())
    kinds = [alone.with_memory_kind(kind) for kind in ("pinned_host", "device")]

    def step(weights: Any, x: Any) -> Any:
        kept = x
        for layer in range(6):
            x = jnp.tanh(x @ weights[layer])
            if layer == 1:
                kept = jax.device_put(x, kinds[0]) if is_moved else x
        return x + (jax.device_put(kept, kinds[1]) if is_moved else kept)

    jax.jit(step).lower(
        jax.ShapeDtypeStruct((6, 128, 128), jnp.float32, sharding=alone),
        jax.ShapeDtypeStruct((256, 128), jnp.float32, sharding=alone),
    ).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        for name, is_moved in (("kept", False), ("moved", True)):
            compile_with(is_moved)
            with tarfile.open(HERE / f"{name}.tar.xz", "w:xz", preset=9) as packed:
                for path in sorted(Path(folder).iterdir()):
                    if path.name.endswith(KEPT) and ".jit_step." in path.name:
                        packed.add(path, path.name, filter=anonymous)
                        path.unlink()


if __name__ == "__main__":
    main()

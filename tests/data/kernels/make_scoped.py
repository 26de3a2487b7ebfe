"""Compiles a kernel in Pallas for a v5e that may reserve 32 or 48 MiB of VMEM.

    pip install "jax[tpu]==0.10.2" && python make_scoped.py

Gives scoped-32.tar.xz and scoped-48.tar.xz here.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STAGES = ("before_optimizations", "after_optimizations")
COMPANIONS = ("-buffer-assignment", "-buffer-assignment-values", "-live-range")
KEPT = (
    *(f".{stage}.txt" for stage in STAGES),
    *(f".{STAGES[1]}{companion}.txt" for companion in COMPANIONS),
)


def compile_with(mebibytes: int) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import pallas, topologies
    from jax.experimental.pallas import tpu
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    def double(x: Any, out: Any) -> None:
        out[...] = x[...] * 2

    def kernel(x: Any) -> Any:
        doubled = pallas.pallas_call(
            double,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            compiler_params=tpu.CompilerParams(vmem_limit_bytes=mebibytes << 20),
        )
        return jnp.sin(doubled(x))

    chips = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    alone = NamedSharding(Mesh(np.array(chips[:1]), ("x",)), PartitionSpec())
    x = jax.ShapeDtypeStruct((256, 256), jnp.float32, sharding=alone)
    jax.jit(kernel).lower(x).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        for mebibytes in (32, 48):
            compile_with(mebibytes)
            dump = HERE / f"scoped-{mebibytes}.tar.xz"
            with tarfile.open(dump, "w:xz", preset=9) as packed:
                for path in sorted(Path(folder).iterdir()):
                    if path.name.endswith(KEPT):
                        packed.add(path, path.name, filter=anonymous)
                    if path.is_file():
                        path.unlink()


if __name__ == "__main__":
    main()

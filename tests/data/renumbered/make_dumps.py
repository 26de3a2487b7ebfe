"""Compiles a program of complex numbers in two versions for a v5e, without one.

And the first of them once more, sharded over the four chips of a board.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py FOLDER

TPU compilers give such a program a new number on the way. Each version is dumped after
every pass: the first passes stand under the first number, all others under the new one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

VERSIONS = {"base": (2, 1), "candidate": (3, 1), "sharded": (2, 4)}
"""The exponent and the number of chips of each."""
KEPT = (
    ".after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    ".before_optimizations.txt",
)


def compile_power(exponent: int, chips: int) -> None:
    """Compile the absolute value of a product of complex numbers."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

    board = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    mesh = Mesh(np.array(board[:chips]), ("x",))
    over_all = NamedSharding(mesh, PartitionSpec("x"))
    sharding = over_all if chips > 1 else SingleDeviceSharding(board[0])

    def power(x: Any) -> Any:
        product = x
        for _ in range(exponent - 1):
            product = product * x
        return jnp.abs(product)

    array = jax.ShapeDtypeStruct((64,), jnp.complex64, sharding=sharding)
    jax.jit(power).trace(array).lower(lowering_platforms=("tpu",)).compile()


def pack(dump: Path, target: Path) -> None:
    """Pack what is kept of a dump."""
    with tarfile.open(target, "w:xz") as archive:
        for path in sorted(dump.glob("*.txt")):
            if path.name.endswith(KEPT) or ".after_pipeline-start." in path.name:
                info = archive.gettarinfo(path, path.name)
                info.mtime, info.uid, info.gid = 0, 0, 0
                info.uname = info.gname = ""
                with path.open("rb") as stream:
                    archive.addfile(info, stream)


def main(target: Path) -> None:
    """Compile each version in a process of its own, with dumps on."""
    for name, (exponent, chips) in VERSIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            flags = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=.*"
            settings = {"XLA_FLAGS": flags, "TPU_SKIP_MDS_QUERY": "1"}
            subprocess.run(
                [sys.executable, __file__, "--compile", f"{exponent}", f"{chips}"],
                env={**os.environ, **settings},
                check=True,
            )
            pack(Path(folder), target / f"{name}.tar.xz")


if __name__ == "__main__":
    if sys.argv[1] == "--compile":
        compile_power(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[1]))

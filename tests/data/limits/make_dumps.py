"""Makes dumps of programs just below and just above the limit of each TPU.

ALLOW_MULTIPLE_LIBTPU_LOAD=1 TPU_SKIP_MDS_QUERY=1 TPU_WORKER_HOSTNAMES=localhost \\
TPU_WORKER_ID=0 TPU_ACCELERATOR_TYPE=v5litepod-4 JAX_PLATFORMS=cpu \\
python make_dumps.py limits.tar.xz          with jax[tpu] 0.10.2

A program is the sum of one array. The largest array that libtpu compiles is searched
to 4 KiB; "DEVICE fits" is the dump of that size, "DEVICE exceeds" of the next: libtpu
counts the program's code, which the assignment lacks. "DEVICE above" has 2 MiB more.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DEVICES = {
    "TPU v2": ("v2:2x2x1", None),
    "TPU v3": ("v3:2x2x1", None),
    "TPU v4": ("v4:2x2x1", "megacore"),
    "TPU v4 (one core)": ("v4:2x2x1", "default"),
    "TPU v5e": ("v5e:2x2", None),
    "TPU v5p": ("v5p:2x2x1", None),
    "TPU v6e": ("v6e:2x2", None),
    "TPU7x": ("tpu7x:2x2x1", None),
}
UNIT = 4096
KEPT = (
    ".after_optimizations.txt",
    ".after_optimizations-buffer-assignment.txt",
    ".oom_intermediate_module.txt",
    ".target_arguments.txt",
)


def compiled(device: Any, units: int, dump: str | None) -> bool:
    """Compile the sum of an array of so many units; return whether it fits."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    def total(x: Any) -> Any:
        return x.sum()

    placed = NamedSharding(Mesh(np.array([device]), ("x",)), PartitionSpec())
    shape = jax.ShapeDtypeStruct((units, 8, 128), jnp.float32)
    lowered = jax.jit(total, in_shardings=(placed,)).lower(shape)
    options = {"xla_dump_to": dump} if dump else None
    try:
        lowered.compile(compiler_options=options)
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return False
    return True


def largest(device: Any) -> int:
    """Return how many units fit at most."""
    fits, exceeds = 1, (128 << 30) // UNIT
    while exceeds - fits > 1:
        middle = (fits + exceeds) // 2
        if compiled(device, middle, None):
            fits = middle
        else:
            exceeds = middle
    return fits


def main(output: str) -> None:
    """Write the dumps of every device into one archive."""
    from jax.experimental import topologies

    with TemporaryDirectory() as folder, tarfile.open(output, "w:xz") as archive:
        for name, (topology, config) in DEVICES.items():
            more = {"chip_config_name": config} if config else {}
            described = topologies.get_topology_desc(
                platform="tpu", topology_name=topology, **more
            )
            device = described.devices[0]
            units = largest(device)
            cases = {
                "fits": units,
                "exceeds": units + 1,
                "above": units + (2 << 20) // UNIT,
            }
            for case, count in cases.items():
                dump = Path(folder) / name / case
                compiled(device, count, os.fspath(dump))
                for path in sorted(dump.iterdir()):
                    if path.name.endswith(KEPT):
                        info = archive.gettarinfo(path, f"{name} {case}/{path.name}")
                        info.mtime, info.uid, info.gid = 0, 0, 0
                        info.uname = info.gname = ""
                        with path.open("rb") as file:
                            archive.addfile(info, file)
            print(name, units * UNIT, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""Compiles three programs into JAX's compilation cache, and dumps the compilations.

    for version in 0.4.30 0.5.3 0.6.2 0.7.2 0.9.2 0.10.2; do
        pip install jax==$version jaxlib==$version zstandard
        python make_entries.py cpu jaxlib-$version.tar.xz
    done
    pip uninstall zstandard         # then JAX compresses with zlib
    pip install "jax[tpu]==0.10.2" && python make_entries.py tpu v5e-jax-0.10.2.tar.xz
    pip install jax==0.10.2 jax-cuda12-plugin==0.10.2 jax-cuda12-pjrt==0.10.2 \\
        nvidia-cuda-nvcc-cu12 && python make_entries.py cuda h100-jaxlib-0.10.2.tar.xz

`step` donates its parameters to a loop's results, `sums` sorts, `halves` is split over
two devices. The TPU and the GPU need not be there: both are compiled for ahead of time.
In the archive `cache/` holds the entries as JAX wrote them, `dump/` what XLA dumped of
the modules that they hold.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

GPU = Path(__file__).parent.parent / "gpu" / "h100.txtpb"
KEPT = ("after_optimizations", "after_codegen")
LEFT_OUT = ("memory-usage-report", "_buffer_assignment.")


def compile_all(platform: str, cache: str) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_compilation_cache_dir", cache)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    if hasattr(jax.config, "jax_persistent_cache_enable_xla_caches"):
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    if platform == "tpu":
        devices = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    elif platform == "cuda":
        devices = topologies.get_topology_desc(
            platform="cuda",
            topology_name="",
            target_config=GPU.read_text(),
            topology="1x2x1",
        ).devices
    else:
        devices = jax.devices()
    alone = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), PartitionSpec())
    both = NamedSharding(Mesh(np.array(devices[:2]), ("x",)), PartitionSpec("x"))

    def array(*sizes: int, split: Any = alone) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=split)

    def step(weights: Any, x: Any) -> Any:
        def layer(_: Any, h: Any) -> Any:
            return jnp.tanh(h @ weights["w"]) + weights["b"]

        y = jax.lax.fori_loop(0, 3, layer, x)
        return {name: w - 0.1 * y.mean() for name, w in weights.items()}, y

    def sums(x: Any) -> Any:
        return jnp.cumsum(jnp.where(x > 0, x, 0))[::-1], jnp.sort(x)

    def halves(x: Any) -> Any:
        return x * 2 + x.sum(0)

    weights = {"w": array(32, 32), "b": array(32)}
    jax.jit(step, donate_argnums=0).lower(weights, array(8, 32)).compile()
    jax.jit(sums).lower(array(64)).compile()
    jax.jit(halves).lower(array(8, 16, split=both)).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    platform, archive = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        dump, cache = Path(work, "dump"), Path(work, "cache")
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["TPU_SKIP_MDS_QUERY"] = "1"
        os.environ["XLA_FLAGS"] = (
            f"--xla_dump_to={dump} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"
            " --xla_force_host_platform_device_count=2 --xla_gpu_autotune_level=0"
        )
        compile_all(platform, str(cache))
        with tarfile.open(archive, "w:xz") as tar:
            for path in sorted(cache.iterdir()):
                tar.add(path, f"cache/{path.name}", filter=anonymous)
            for path in sorted(dump.glob("module_*.jit_*")):
                is_kept = any(stage in path.name for stage in KEPT)
                is_left_out = any(part in path.name for part in LEFT_OUT)
                if path.is_file() and is_kept and not is_left_out:
                    tar.add(path, f"dump/{path.name}", filter=anonymous)


if __name__ == "__main__":
    main()

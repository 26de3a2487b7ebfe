"""Compiles an attention whose kernels are written in Pallas, for a v5e, without one.

    pip install "jax[tpu]==0.10.2" && python make_dump.py FOLDER.tar.xz

The dump has each module as text and as proto; in both a kernel is base64 within the
backend configuration of its custom call.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

KEPT = (
    ".after_optimizations.txt",
    ".after_optimizations.hlo.pb",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    "-memory-usage-report.txt",
    ".before_optimizations.txt",
)


def compile_all() -> dict[str, Any]:
    """Compile the gradients of an attention; give what JAX says of its memory."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
    from jax.sharding import SingleDeviceSharding

    chip = topologies.get_topology_desc("v5e:2x2", "tpu").devices[0]

    def attention(q: Any, k: Any, v: Any) -> Any:
        return jnp.tanh(flash_attention(q, k, v, causal=True)).sum()

    array = jax.ShapeDtypeStruct(
        (2, 8, 1024, 128), jnp.float32, sharding=SingleDeviceSharding(chip)
    )
    gradients = jax.jit(jax.grad(attention, argnums=(0, 1, 2)))
    traced = gradients.trace(array, array, array)
    compiled = traced.lower(lowering_platforms=("tpu",)).compile()
    said = compiled.memory_analysis()
    sizes = ("alias", "argument", "generated_code", "output", "temp")
    return {
        "module": "jit_attention",
        **{f"{what}_size_in_bytes": getattr(said, f"{what}_size_in_bytes")
           for what in sizes},
        "peak_memory_in_bytes": said.peak_memory_in_bytes,
    }  # fmt: skip


def main(target: Path) -> None:
    """Compile with dumps on, and pack what is kept of them."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("to=" + folder, "hlo_as_text", "hlo_as_proto")
        os.environ["XLA_FLAGS"] = " ".join(f"--xla_dump_{flag}" for flag in flags)
        os.environ["TPU_SKIP_MDS_QUERY"] = "1"
        dump = Path(folder)
        said = json.dumps([compile_all()], indent=1)
        (dump / "memory_analysis.json").write_text(said + "\n")
        with tarfile.open(target, "w:xz") as archive:
            for path in sorted(dump.glob("*")):
                if path.name.endswith((*KEPT, ".json")):
                    info = archive.gettarinfo(path, path.name)
                    info.mtime, info.uid, info.gid = 0, 0, 0
                    info.uname = info.gname = ""
                    with path.open("rb") as stream:
                        archive.addfile(info, stream)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

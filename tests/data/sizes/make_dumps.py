"""Compiles one training step at several batch sizes and sequence lengths.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py FOLDER

Gives dumps, FOLDER/cpu.tar.xz and FOLDER/v5e.tar.xz, the latter ahead of time, without
a TPU; in FOLDER/cpu.json and v5e.json what `memory_analysis()` says of sizes that are
not there; and in FOLDER/largest.json the largest batches that fit, found by compiling.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DUMPED = (*((b, t) for b in (4, 8, 16, 32) for t in (64, 128, 256)), (16, 512))
OTHERS = ((24, 256), (64, 256), (16, 384))
"""Sizes that a law found on the dumped ones should foretell."""

LARGEST = ((64, 1), (128, 1), (128, 2), (256, 1), (256, 2))
"""Lengths, and limits in GiB."""

KEPT = (
    ".before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)
WIDTH, HEADS = 128, 4


def sharding(backend: str) -> Any:
    """Return the sharding of arrays: on an absent v5e, or on this machine."""
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    if backend == "cpu":
        return None
    chip = topologies.get_topology_desc("v5e:2x2", "tpu").devices[0]
    return SingleDeviceSharding(chip)


def compile_all(backend: str, sizes: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Compile the step at every size; give what JAX says of its memory."""
    import jax
    import jax.numpy as jnp

    place = sharding(backend)

    def array(*dims: int) -> Any:
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=place)

    def block(w: dict[str, Any], x: Any) -> Any:
        b, t, d = x.shape
        q, k, v = jnp.moveaxis((x @ w["qkv"]).reshape(b, t, 3, HEADS, -1), 2, 0)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / d**0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        x = x + mixed.reshape(b, t, d) @ w["out"]
        return x + jnp.tanh(x @ w["up"]) @ w["down"]

    def train_step(w: dict[str, Any], x: Any, y: Any) -> Any:
        loss, g = jax.value_and_grad(lambda w: ((block(w, x) - y) ** 2).mean())(w)
        return loss, jax.tree.map(lambda w, g: w - 0.1 * g, w, g)

    weights = {
        "qkv": array(WIDTH, 3 * WIDTH),
        "out": array(WIDTH, WIDTH),
        "up": array(WIDTH, 4 * WIDTH),
        "down": array(4 * WIDTH, WIDTH),
    }
    said = []
    for batch, length in sizes:
        data = array(batch, length, WIDTH)
        traced = jax.jit(train_step, donate_argnums=0).trace(weights, data, data)
        compiled = traced.lower(lowering_platforms=(backend,)).compile()
        memory = compiled.memory_analysis()
        said.append(
            {
                "batch": batch,
                "length": length,
                "argument_bytes": memory.argument_size_in_bytes,
                "temp_bytes": memory.temp_size_in_bytes,
            }
        )
    return said


def largest(length: int, limit: int) -> dict[str, int]:
    """Return the largest batch for a CPU with arguments and temporaries in `limit`."""

    def is_small(batch: int) -> bool:
        [said] = compile_all("cpu", [(batch, length)])
        return said["argument_bytes"] + said["temp_bytes"] <= limit

    fits, too_large = 1, 4096
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        fits, too_large = (middle, too_large) if is_small(middle) else (fits, middle)
    return {"length": length, "limit_bytes": limit, "batch": fits}


def pack(dump: Path, target: Path) -> None:
    """Pack what is kept of a dump, the same bytes whenever."""
    with tarfile.open(target, "w:xz") as archive:
        for path in sorted(dump.glob("*train_step*")):
            if path.name.endswith(KEPT):
                info = archive.gettarinfo(path, path.name)
                info.mtime, info.uid, info.gid = 0, 0, 0
                info.uname = info.gname = ""
                with path.open("rb") as stream:
                    archive.addfile(info, stream)


def main(folder: Path) -> None:
    """Compile on each backend, with dumps on, and the other sizes without."""
    for backend, name in (("cpu", "cpu"), ("tpu", "v5e")):
        with tempfile.TemporaryDirectory() as dump:
            run(backend, "dumped", f"--xla_dump_to={dump} --xla_dump_hlo_as_text")
            pack(Path(dump), folder / f"{name}.tar.xz")
        (folder / f"{name}.json").write_text(run(backend, "others", ""))
    (folder / "largest.json").write_text(run("cpu", "largest", ""))


def run(backend: str, which: str, flags: str) -> str:
    """Compile in a process of its own; give what it prints."""
    environment = {**os.environ, "XLA_FLAGS": flags, "TPU_SKIP_MDS_QUERY": "1"}
    if backend == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    command = [sys.executable, __file__, "--compile", backend, which]
    done = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


if __name__ == "__main__":
    if sys.argv[1] == "--compile":
        if sys.argv[3] == "largest":
            found = [largest(length, limit << 30) for length, limit in LARGEST]
        else:
            sizes = DUMPED if sys.argv[3] == "dumped" else OTHERS
            found = compile_all(sys.argv[2], sizes)
        print(json.dumps(found, indent=1))
    else:
        main(Path(sys.argv[1]))

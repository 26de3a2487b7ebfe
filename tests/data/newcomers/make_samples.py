"""Compile two evaluations as newcomers wrote them, and as hlodb advises, for a CPU.

    pip install "jax==0.10.2"
    python make_samples.py

Gives samples.tar.xz here. `sampled` decodes eight samples of each image under jax.vmap,
`sampled_apart` one after the other. `rolled` collects each state of a loop and compares
all with measured ones, `rolled_summed` sums the differences up in the loop.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = ("sampled", "sampled_apart", "rolled", "rolled_summed")
KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)


def compile_sampled(is_apart: bool) -> None:
    import jax
    import jax.numpy as jnp

    def decode(weights: Any, z: Any) -> Any:
        x = jax.nn.silu(z @ weights["project"]).reshape(-1, 4, 4, 40)
        for w in weights["widen"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.silu((x - x.mean(-1, keepdims=True)) / (1 + x.var()))
        return x

    def eval_step(weights: Any, images: Any, noise: Any) -> Any:
        z = images.reshape(64, -1) @ weights["encode"] + noise

        def one(z: Any) -> Any:
            return decode(weights, z)

        drawn = jax.lax.map(one, z, batch_size=1) if is_apart else jax.vmap(one)(z)
        errors = jnp.sum((jax.nn.sigmoid(drawn) - images) ** 2, axis=(2, 3, 4))
        return jax.nn.logsumexp(-errors, axis=0).mean()

    def f32(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    weights = {
        "encode": f32(16 * 16 * 3, 16), "project": f32(16, 640),
        "widen": [f32(3, 3, 40, 16), f32(3, 3, 16, 3)],
    }  # fmt: skip
    jax.jit(eval_step).lower(weights, f32(64, 16, 16, 3), f32(8, 64, 16)).compile()


def compile_rolled(is_summed: bool) -> None:
    import jax
    import jax.numpy as jnp

    def step(w: Any, state: Any) -> Any:
        return state + jnp.tanh(jnp.roll(state, 1, 1) @ w)

    def eval_step(w: Any, state: Any, measured: Any) -> Any:
        def collect(state: Any, _: Any) -> Any:
            state = step(w, state)
            return state, state

        def add(carried: Any, number: Any) -> Any:
            state, total = carried
            state = step(w, state)
            return (state, total + jnp.sum((state - measured[number]) ** 2)), None

        if is_summed:
            start = (state, jnp.float32(0))
            (_, total), _ = jax.lax.scan(add, start, jnp.arange(16))
            return total / measured.size
        _, states = jax.lax.scan(collect, state, None, length=16)
        return jnp.mean((states - measured) ** 2)

    def f32(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    jax.jit(eval_step).lower(f32(48, 48), f32(8, 48, 48), f32(16, 8, 48, 48)).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(folder: Path, name: str) -> None:
    subprocess.run(
        [sys.executable, __file__, name],
        env=os.environ
        | {
            "XLA_FLAGS": f"--xla_dump_to={folder / name} --xla_dump_hlo_as_text",
            "JAX_PLATFORMS": "cpu",
        },
        check=True,
    )
    for path in (folder / name).iterdir():
        if "eval_step" in path.name and path.name.endswith(KEPT):
            path.write_text(path.read_text().replace(str(HERE), "/home/me"))
        elif path.is_file():
            path.unlink()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        kind, _, variant = sys.argv[1].partition("_")
        (compile_sampled if kind == "sampled" else compile_rolled)(bool(variant))
    else:
        with (
            tempfile.TemporaryDirectory() as folder,
            tarfile.open(HERE / "samples.tar.xz", "w:xz") as packed,
        ):
            for each in NAMES:
                dump(Path(folder), each)
            for path in sorted(Path(folder).rglob("*.txt")):
                inside = path.relative_to(folder)
                packed.add(path, f"samples/{inside}", filter=anonymous)

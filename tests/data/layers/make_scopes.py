"""Compile a training step through time whose two blocks bear scopes, or none.

    pip install "jax==0.10.2"
    python make_scopes.py

Give scopes.tar.xz and arguments.tar.xz here. Both programs are compiled to the same
memory; op_name tells the blocks apart in the first one only. Names of arguments tell
them apart in both.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)


def compile_step(is_scoped: bool) -> None:
    import jax
    import jax.numpy as jnp

    def scope(name: str) -> Any:
        return jax.named_scope(name) if is_scoped else contextlib.nullcontext()

    def convolve(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def correct(p: Any, x: Any, z: Any) -> Any:
        with scope("stem"):
            h = jax.nn.gelu(convolve(x, p["stem"]))
        for number, block in enumerate(p["blocks"]):
            with scope(f"blk_{number}"):
                scale, shift = jnp.split(z @ block["film"], 2, axis=-1)
                y = convolve(h, block["c1"]) + block["b1"]
                y = jax.nn.gelu(y * (1 + scale[:, None, None]) + shift[:, None, None])
                h = h + convolve(y, block["c2"])
        return convolve(h, p["head"])

    def loss(p: Any, batch: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            rolled = 0.5 * (jnp.roll(state, 1, 1) + jnp.roll(state, 1, 2))
            state = state - rolled * state[..., :1]
            state = state + jax.checkpoint(correct)(p, state, batch["z"])
            return state, state[..., 2]

        _, smoke = jax.lax.scan(step, batch["state"], None, length=6)
        return jnp.mean((smoke - batch["smoke"]) ** 2)

    def train_step(p: Any, m: Any, batch: Any) -> Any:
        grads = jax.grad(loss)(p, batch)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda w, m: w - 1e-3 * m, p, m), m

    def f32(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    block = {
        "c1": f32(3, 3, 16, 16), "b1": f32(16), "c2": f32(3, 3, 16, 16),
        "film": f32(64, 32),
    }  # fmt: skip
    p = {"stem": f32(3, 3, 3, 16), "blocks": [block, block], "head": f32(3, 3, 16, 3)}
    batch = {"state": f32(4, 32, 32, 3), "smoke": f32(6, 4, 32, 32), "z": f32(4, 64)}
    jax.jit(train_step).lower(p, p, batch).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        subprocess.run(
            [sys.executable, __file__, name],
            env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
            check=True,
        )
        with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as packed:
            for path in sorted(Path(folder).iterdir()):
                if "train_step" in path.name and path.name.endswith(KEPT):
                    text = path.read_text().replace(str(HERE), "/home/me")
                    path.write_text(text)
                    packed.add(path, f"{name}/{path.name}", filter=anonymous)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compile_step(sys.argv[1] == "scopes")
    else:
        for each in ("scopes", "arguments"):
            dump(each)

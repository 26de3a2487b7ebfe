"""Compile a training step whose moments get half the width, for a CPU.

    pip install "jax==0.10.2"
    python make_donations.py

Gives donations.tar.xz here. `base` donates weights and moments of f32. `narrow` takes
moments of bf16, and no longer donates; `narrow_donated` still does. `widened` takes
moments of bf16 and returns them in f32: no argument can hold these.
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
NAMES = ("base", "narrow", "narrow_donated", "widened")
KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)


def compile_step(name: str) -> None:
    import jax
    import jax.numpy as jnp

    moment = jnp.float32 if name == "base" else jnp.bfloat16
    returned = jnp.float32 if name == "widened" else moment

    def loss(weights: Any, x: Any) -> Any:
        return jnp.mean(jnp.tanh(x @ weights["inner"]) @ weights["outer"])

    def step(weights: Any, moments: Any, x: Any) -> Any:
        gradients = jax.grad(loss)(weights, x)
        moved = jax.tree.map(
            lambda m, g: 0.9 * m.astype(jnp.float32) + g, moments, gradients
        )
        weights = jax.tree.map(lambda w, m: w - 0.1 * m, weights, moved)
        return weights, jax.tree.map(lambda m: m.astype(returned), moved)

    sizes = {"inner": (512, 1024), "outer": (1024, 512)}
    weights = {k: jax.ShapeDtypeStruct(s, jnp.float32) for k, s in sizes.items()}
    moments = {k: jax.ShapeDtypeStruct(s, moment) for k, s in sizes.items()}
    x = jax.ShapeDtypeStruct((64, 512), jnp.float32)
    donated = () if name == "narrow" else (0, 1)
    jax.jit(step, donate_argnums=donated).lower(weights, moments, x).compile()


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(root: Path, name: str) -> None:
    env = {
        **os.environ,
        "XLA_FLAGS": f"--xla_dump_to={root / name}",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
    }
    subprocess.run([sys.executable, __file__, name], env=env, check=True)
    for path in (root / name).iterdir():
        if "jit_step." in path.name and path.name.endswith(KEPT):
            path.write_text(path.read_text().replace(str(HERE), "/home/me"))
        elif path.is_file():
            path.unlink()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            dump(Path(folder), name)
        with tarfile.open(HERE / "donations.tar.xz", "w:xz") as archive:
            for path in sorted(Path(folder).glob("*/*.txt")):
                inside = f"donations/{path.relative_to(folder)}"
                archive.add(path, inside, filter=anonymous)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compile_step(sys.argv[1])
    else:
        main()

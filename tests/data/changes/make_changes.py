"""Compiles four small programs twice, the second time with one thing changed.

    pip install jax==0.10.2 && python make_changes.py FOLDER

tensor: one tensor doubled · donation: one donation dropped · dtype: one element type
widened · remat: one more block recomputed. Each is compiled in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)
VARIANTS = (
    "tensor/base",
    "tensor/doubled",
    "donation/base",
    "donation/dropped",
    "dtype/base",
    "dtype/widened",
    "remat/base",
    "remat/extra",
)
FLAGS = "--xla_dump_to={} --xla_dump_hlo_module_re=jit_(step|update|loss).*"


def compile_variant(variant: str) -> None:
    import jax
    import jax.numpy as jnp

    def shape(*dimensions: int) -> Any:
        return jax.ShapeDtypeStruct(dimensions, jnp.float32)

    def tensor(rows: int) -> Any:
        def step(x: Any) -> Any:
            with jax.named_scope("hidden"):
                h = jnp.sort(x[:rows], axis=1)
            return h.sum(0)

        return jax.jit(step).lower(shape(256, 64))

    def donation(*donated: int) -> Any:
        def update(w: Any, v: Any, g: Any, h: Any) -> Any:
            with jax.named_scope("optimizer"):
                return jnp.tanh(w - 0.1 * g), jnp.tanh(v - 0.1 * h)

        w, v = shape(128, 128), shape(64, 128)
        return jax.jit(update, donate_argnums=donated).lower(w, v, w, v)

    def dtype(kind: Any) -> Any:
        def step(x: Any) -> Any:
            with jax.named_scope("quantized"):
                q = jnp.sort(jnp.round(x).astype(kind), axis=1)
            return q[:, 0].astype(jnp.float32)

        return jax.jit(step).lower(shape(64, 128))

    def remat(*recomputed: int) -> Any:
        def block(x: Any, w: Any) -> Any:
            with jax.named_scope("block"):
                return jnp.tanh(jax.nn.gelu(x @ w))

        def loss(weights: Any, x: Any) -> Any:
            for i, w in enumerate(weights):
                x = (jax.checkpoint(block) if i in recomputed else block)(x, w)
            return x.sum()

        return jax.jit(jax.grad(loss)).lower([shape(32, 32)] * 4, shape(128, 32))

    lowered = {
        "tensor/base": lambda: tensor(64),
        "tensor/doubled": lambda: tensor(128),
        "donation/base": lambda: donation(0, 1),
        "donation/dropped": lambda: donation(0),
        "dtype/base": lambda: dtype(jnp.int16),
        "dtype/widened": lambda: dtype(jnp.int32),
        "remat/base": lambda: remat(0),
        "remat/extra": lambda: remat(0, 2),
    }
    lowered[variant]().compile()


def dump(variant: str, folder: Path) -> None:
    environment = {**os.environ, "XLA_FLAGS": FLAGS.format(folder / variant)}
    subprocess.run([sys.executable, __file__, variant], check=True, env=environment)
    for file in sorted((folder / variant).rglob("*"), reverse=True):
        if file.is_dir():
            file.rmdir()
        elif not file.name.endswith(KEPT):
            file.unlink()
        else:
            text = file.read_text().replace(f"{Path(__file__).parent}/", "")
            file.write_text(text.replace(f"{sys.prefix}/", ""))


if __name__ == "__main__":
    if sys.argv[1] in VARIANTS:
        compile_variant(sys.argv[1])
    else:
        for each in VARIANTS:
            dump(each, Path(sys.argv[1]))

"""Compiles six small programs twice, the second time with one thing changed.

    pip install jax==0.10.2 && PYTHONPATH=ZOO python make_changes.py FOLDER

ZOO is the folder of zoo.py, whose programs the dumps in examples/ were compiled from.
tensor: one tensor doubled · donation: one donation dropped, or the results in another
order behind a new one · dtype: one element type widened · remat: one more block
recomputed · fusion: one pass switched off · sharding: the batch no longer split over
devices. The last two are dumped after every pass. zoo-*: the first four in programs of
the zoo. Each is compiled in a process of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

KEPT = (
    "before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
)
PASS = re.compile(r"\.\d{4}\..*\.after_.*\.txt$")
VARIANTS = (
    "tensor/base",
    "tensor/doubled",
    "donation/base",
    "donation/dropped",
    "donation/reordered",
    "dtype/base",
    "dtype/widened",
    "remat/base",
    "remat/extra",
    "fusion/on",
    "fusion/off",
    "sharding/split",
    "sharding/whole",
    "zoo-tensor/base",
    "zoo-tensor/doubled",
    "zoo-donation/base",
    "zoo-donation/dropped",
    "zoo-dtype/base",
    "zoo-dtype/widened",
    "zoo-remat/base",
    "zoo-remat/extra",
)
FLAGS = "--xla_dump_to={} --xla_dump_hlo_module_re=jit_(step|update|loss|zoo).*"
PASSES = " --xla_dump_hlo_pass_re=.*"
MORE_FLAGS = {
    "fusion/on": PASSES,
    "fusion/off": f"{PASSES} --xla_disable_hlo_passes=fusion",
    "sharding/split": f"{PASSES} --xla_force_host_platform_device_count=4",
    "sharding/whole": f"{PASSES} --xla_force_host_platform_device_count=4",
}


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

    def donation(*donated: int, reordered: bool = False) -> Any:
        def update(w: Any, v: Any, g: Any, h: Any) -> Any:
            with jax.named_scope("optimizer"):
                new_w, new_v = jnp.tanh(w - 0.1 * g), jnp.tanh(v - 0.1 * h)
            return (g.sum(), new_v, new_w) if reordered else (new_w, new_v)

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

    def train(*sharding: Any) -> Any:
        def step(w: Any, x: Any) -> Any:
            def loss(w: Any) -> Any:
                h = jnp.tanh(x @ w)
                return (jax.nn.softmax(h, -1) * h).sum()

            return w - 0.1 * jax.grad(loss)(w)

        shardings = {"in_shardings": sharding} if sharding else {}
        return jax.jit(step, **shardings).lower(shape(32, 64), shape(128, 32))

    def sharded(*axes: str) -> Any:
        mesh = jax.make_mesh((4,), ("data",))
        spec = jax.sharding.PartitionSpec
        kinds = (spec(), spec(*axes))
        return train(*(jax.sharding.NamedSharding(mesh, kind) for kind in kinds))

    lowered: dict[str, Callable[[], Any]] = {
        "tensor/base": lambda: tensor(64),
        "tensor/doubled": lambda: tensor(128),
        "donation/base": lambda: donation(0, 1),
        "donation/dropped": lambda: donation(0),
        "donation/reordered": lambda: donation(0, 1, reordered=True),
        "dtype/base": lambda: dtype(jnp.int16),
        "dtype/widened": lambda: dtype(jnp.int32),
        "remat/base": lambda: remat(0),
        "remat/extra": lambda: remat(0, 2),
        "fusion/on": train,
        "fusion/off": train,
        "sharding/split": lambda: sharded("data"),
        "sharding/whole": sharded,
    }
    lowered[variant]().compile()


def compile_zoo(variant: str) -> None:
    import functools

    import jax
    import jax.numpy as jnp
    import zoo  # type: ignore[import-not-found]

    def shape(*dimensions: int, kind: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(dimensions, kind)

    tokens = shape(4, 64, kind=jnp.int32)

    def tensor(positions: int) -> Any:
        weights = zoo.gpt_params(1, 32, 128, 64, False)
        weights["pos"] = shape(positions, 32)

        def zoo_loss(p: Any, t: Any) -> Any:
            return zoo.gpt_loss(p, t, 4, False, False)

        return jax.jit(zoo_loss).lower(weights, tokens)

    def donation(*donated: int) -> Any:
        def zoo_mlp(p: Any, x: Any, y: Any) -> Any:
            return zoo.mlp_step(p, x, y)

        weights = zoo.mlp_params([784, 256, 256, 10])
        lower = jax.jit(zoo_mlp, donate_argnums=donated).lower
        return lower(weights, shape(128, 784), shape(128, 10))

    def dtype(kind: Any) -> Any:
        def zoo_moe(x: Any, wg: Any, w1: Any, w2: Any) -> Any:
            return zoo.moe(x, wg, w1, w2)

        half = functools.partial(shape, kind=jnp.bfloat16)
        first = shape(8, 128, 256, kind=kind)
        return jax.jit(zoo_moe).lower(
            half(64, 128), half(128, 8), first, half(8, 256, 128)
        )

    def remat(recomputed: bool) -> Any:
        def zoo_loss(p: Any, t: Any) -> Any:
            return zoo.gpt_loss(p, t, 4, True, recomputed)

        weights = zoo.gpt_params(2, 32, 128, 64, True)
        return jax.jit(jax.grad(zoo_loss)).lower(weights, tokens)

    lowered: dict[str, Callable[[], Any]] = {
        "zoo-tensor/base": lambda: tensor(64),
        "zoo-tensor/doubled": lambda: tensor(128),
        "zoo-donation/base": lambda: donation(0),
        "zoo-donation/dropped": donation,
        "zoo-dtype/base": lambda: dtype(jnp.bfloat16),
        "zoo-dtype/widened": lambda: dtype(jnp.float32),
        "zoo-remat/base": lambda: remat(False),
        "zoo-remat/extra": lambda: remat(True),
    }
    lowered[variant]().compile()


def dump(variant: str, folder: Path) -> None:
    flags = FLAGS.format(folder / variant) + MORE_FLAGS.get(variant, "")
    environment = {**os.environ, "XLA_FLAGS": flags}
    subprocess.run([sys.executable, __file__, variant], check=True, env=environment)
    for file in sorted((folder / variant).rglob("*"), reverse=True):
        if file.is_dir():
            file.rmdir()
        elif not (file.name.endswith(KEPT) or PASS.search(file.name)):
            file.unlink()
        else:
            text = file.read_text()
            for path in (Path(__file__).parent, os.environ["PYTHONPATH"], sys.prefix):
                text = text.replace(f"{path}/", "")
            file.write_text(text)
    if variant in MORE_FLAGS or variant.startswith("zoo"):
        pack(folder / variant)


def pack(folder: Path) -> None:
    with tarfile.open(folder.with_suffix(".tar.xz"), "w:xz") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, file.name, filter=without_owner)
            file.unlink()
    folder.rmdir()


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    if sys.argv[1] in VARIANTS:
        is_zoo = sys.argv[1].startswith("zoo")
        (compile_zoo if is_zoo else compile_variant)(sys.argv[1])
    else:
        for each in VARIANTS:
            dump(each, Path(sys.argv[1]))

"""Compiles training steps whose arguments have no names that tell anything, for CPUs.

    pip install jax==0.10.2 && python make_dump.py

Gives cpu.tar.xz here. Each takes a tuple of weights and what it keeps beside them.
`bare` is Adam with a clipped norm, as are `accumulating`, which adds gradients up in a
loop, `skipping`, in a branch, `mixed_update`, of bfloat16 weights, and `looping`, all
steps in one loop; `running` keeps averages of what is seen and of the weights; in
`adversarial` and `nested` there is nothing but weights, which are updated one by the
other.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = (
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-live-range.txt",
)


def compile_all() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax

    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    tree = jax.tree.map

    def array(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    def net(weights: Any, x: Any) -> Any:
        return jnp.tanh(x @ weights[0] + weights[2]) @ weights[1]

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return jnp.mean((net(weights, x) - y) ** 2)

    def descend(weights: Any, gradients: Any) -> Any:
        return tree(lambda w, g: w - 0.1 * g, weights, gradients)

    def adam(kept: Any, gradients: Any) -> Any:
        weights, m, v, count = kept
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        gradients = tree(lambda g: g / jnp.maximum(norm, 1.0), gradients)
        m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
        v = tree(lambda v, g: 0.99 * v + 0.01 * g * g, v, gradients)
        weights = tree(
            lambda w, m, v: w - 0.1 * m / (jnp.sqrt(v) + 1e-6) / count, weights, m, v
        )
        return weights, m, v, count + 1

    def bare(a: Any, x: Any, y: Any) -> Any:
        return adam(a, jax.grad(loss)(a[0], x, y))

    def accumulating(a: Any, x: Any, y: Any) -> Any:
        def add(sums: Any, batch: Any) -> Any:
            return tree(jnp.add, sums, jax.grad(loss)(a[0], *batch)), None

        return adam(a, lax.scan(add, tree(jnp.zeros_like, a[0]), (x, y))[0])

    def skipping(a: Any, x: Any, y: Any) -> Any:
        gradients = jax.grad(loss)(a[0], x, y)
        sound = jnp.all(jnp.isfinite(gradients[0]))
        return lax.cond(sound, lambda: adam(a, gradients), lambda: a)

    def mixed_update(a: Any, x: Any, y: Any) -> Any:
        weights = tree(lambda w: w.astype(jnp.bfloat16), a[0])
        gradients = jax.grad(loss)(weights, x.astype(jnp.bfloat16), y)
        return adam(a, tree(lambda g: g.astype(jnp.float32), gradients))

    def looping(a: Any, x: Any, y: Any) -> Any:
        return lax.scan(lambda a, batch: (bare(a, *batch), None), a, (x, y))[0]

    def running(a: Any, x: Any, y: Any) -> Any:
        weights, mean, average = a

        def seen(weights: Any) -> Any:
            hidden = x @ weights[0]
            middle = hidden.mean(0)
            result = jnp.tanh(hidden - middle + weights[2]) @ weights[1]
            return jnp.mean((result - y) ** 2), middle

        gradients, middle = jax.grad(seen, has_aux=True)(weights)
        weights = descend(weights, gradients)
        average = tree(lambda e, w: 0.99 * e + 0.01 * w, average, weights)
        return weights, 0.9 * mean + 0.1 * middle, average

    def adversarial(a: Any, x: Any, y: Any) -> Any:
        maker, judge = a

        def judged(judge: Any, y: Any) -> Any:
            return jnp.mean(jnp.tanh(y @ judge[0]) @ judge[1])

        judge = descend(
            judge,
            jax.grad(lambda j: judged(j, y) - judged(j, net(maker, x)))(judge),
        )
        maker = descend(maker, jax.grad(lambda m: judged(judge, net(m, x)))(maker))
        return maker, judge

    def nested(a: Any, x: Any, y: Any) -> Any:
        first = descend(a[0], jax.grad(loss)(a[0], x, y))

        def both(second: Any) -> Any:
            return loss(second, x, y) * (1 + loss(first, x, y))

        def step(second: Any, _: Any) -> Any:
            return descend(second, jax.grad(both)(second)), None

        return first, lax.scan(step, a[1], None, length=4)[0]

    def dump(step: Any, a: Any, *steps: int) -> None:
        batch = array(*steps, 16, 64), array(*steps, 16, 32)
        jax.jit(step, donate_argnums=0).lower(a, *batch).compile()

    weights = array(64, 128), array(128, 32), array(128)
    kept = (weights, weights, weights, array())
    for step in (bare, skipping, mixed_update):
        dump(step, kept)
    for step in (accumulating, looping):
        dump(step, kept, 8)
    dump(running, (weights, array(128), weights))
    dump(adversarial, (weights, (array(32, 128), array(128, 1))))
    dump(nested, (weights, weights))


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        compile_all()
        with tarfile.open(HERE / "cpu.tar.xz", "w:xz", preset=9) as packed:
            for path in sorted(Path(folder).iterdir()):
                if path.name.endswith(KEPT) and ".jit_" in path.name:
                    packed.add(path, path.name, filter=anonymous)


if __name__ == "__main__":
    main()

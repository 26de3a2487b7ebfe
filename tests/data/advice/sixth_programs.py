"""A sixth set of programs, before and after the first edit of an expert.

As in programs.py; they need JAX alone. All but contrastive_towers, which is for a v5e,
are compiled for a CPU by jax 0.10.2.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec
from programs import BF16, F32, I32, Program, Shape, sharded


def wide(*sizes: int) -> Any:
    """Return the shape of an array of 32 bits."""
    return Shape(sizes, F32)


# A field on a grid, and no batch.

GRID, STEPS, SPACING, TIME = 384, 900, 1e3, 20.0


def slope(field: Any, axis: int) -> Any:
    """Return the derivative along an axis of a periodic grid."""
    return (jnp.roll(field, -1, axis) - jnp.roll(field, 1, axis)) / (2 * SPACING)


def tendency(state: Any, depth: Any) -> Any:
    """Return the change of height and currents of shallow water."""
    height, u, v = state
    column = depth + height
    drag = 1e-3 * jnp.sqrt(u * u + v * v + 1e-6) / column
    return jnp.stack(
        [
            -slope(column * u, 1) - slope(column * v, 0),
            -u * slope(u, 1) - v * slope(u, 0) - 9.81 * slope(height, 1) - drag * u,
            -u * slope(v, 1) - v * slope(v, 0) - 9.81 * slope(height, 0) - drag * v,
        ]
    )


def midpoint(state: Any, depth: Any) -> Any:
    """Return the state after one step of time."""
    half = state + 0.5 * TIME * tendency(state, depth)
    return state + TIME * tendency(half, depth)


def assimilating(is_kept: bool, block: int) -> Program:
    """Return a step of the descent to the first state that observations fit."""
    step = midpoint if is_kept else jax.checkpoint(midpoint)

    def assimilate(state: Any, depth: Any, gauges: Any, observed: Any) -> Any:
        def body(state: Any, _: Any) -> Any:
            state = step(state, depth)
            return state, state[0][gauges[:, 0], gauges[:, 1]]

        def misfit(state: Any) -> Any:
            if block == 1:
                seen = jax.lax.scan(body, state, None, length=STEPS)[1]
            else:
                inner = partial(jax.lax.scan, body, xs=None, length=block)
                outer = jax.checkpoint(lambda s, _: inner(s))
                seen = jax.lax.scan(outer, state, None, length=STEPS // block)[1]
            return ((seen.reshape(STEPS, -1) - observed) ** 2).mean()

        value, gradient = jax.value_and_grad(misfit)(state)
        return state - 1e-2 * gradient, value

    arguments = (
        wide(3, GRID, GRID), wide(GRID, GRID), Shape((64, 2), I32), wide(STEPS, 64)
    )  # fmt: skip
    return Program("cpu", assimilate, arguments, {"donate_argnums": 0})


def shallow_water(variant: str) -> Program:
    """Return a long run whose every intermediate value is saved."""
    return assimilating(variant == "base", 1)


def tuned_shallow_water(_: str) -> Program:
    """Return the same in two nested loops, each body under a checkpoint."""
    return assimilating(False, 30)


# Sums of gradients over parts of a batch.


def tuned_mixer(variant: str) -> Program:
    """Return training in 16 bits that sums the gradients of eight microbatches."""
    layers, patches, width, tokens, channels, classes = 8, 196, 512, 256, 2048, 1000
    batch, micro = 256, 16 if variant == "smaller" else 32

    def normal(x: Any, scale: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-3) * scale

    @jax.checkpoint
    def layer(x: Any, w: Any) -> Any:
        y = normal(x, w["s0"]).swapaxes(1, 2)
        x = x + (jax.nn.gelu(y @ w["t0"]) @ w["t1"]).swapaxes(1, 2)
        return x + jax.nn.gelu(normal(x, w["s1"]) @ w["c0"]) @ w["c1"]

    def loss(weights: Any, images: Any, labels: Any) -> Any:
        x = images.reshape(-1, 14, 16, 14, 16, 3).swapaxes(2, 3)
        x = x.reshape(-1, patches, 768).astype(BF16) @ weights["stem"]
        x = jax.lax.scan(lambda x, w: (layer(x, w), None), x, weights["layers"])[0]
        scores = jax.nn.log_softmax((x.mean(1) @ weights["head"]).astype(F32))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    def mixer_step(weights: Any, velocity: Any, images: Any, labels: Any) -> Any:
        def add(total: Any, part: Any) -> Any:
            value, gradient = jax.value_and_grad(loss)(weights, *part)
            return jax.tree.map(jnp.add, total, gradient), value

        parts = (images.reshape(-1, micro, 224, 224, 3), labels.reshape(-1, micro))
        total, values = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, weights), parts)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, total)
        weights = jax.tree.map(lambda w, v: w - 0.1 * v, weights, velocity)
        return weights, velocity, values.mean()

    weights = {
        "stem": Shape((768, width), BF16),
        "head": Shape((width, classes), BF16),
        "layers": {
            "s0": Shape((layers, width), BF16),
            "s1": Shape((layers, width), BF16),
            "t0": Shape((layers, patches, tokens), BF16),
            "t1": Shape((layers, tokens, patches), BF16),
            "c0": Shape((layers, width, channels), BF16),
            "c1": Shape((layers, channels, width), BF16),
        },
    }
    images, labels = Shape((batch, 224, 224, 3), jnp.uint8), Shape((batch,), I32)
    arguments = (weights, dict(weights), images, labels)
    return Program("cpu", mixer_step, arguments, {"donate_argnums": (0, 1)})


# Pairs of rows.


def contrastive_towers(variant: str) -> Program:
    """Return training on four chips whose loss compares all images with all texts."""
    batch, size, widths = 32_768, 512, {"image": 1024, "text": 768}
    data = PartitionSpec("data")

    def build(mesh: Any) -> Any:
        def tower(weights: Any, x: Any) -> Any:
            made = jax.nn.gelu(x @ weights["up"].astype(BF16))
            made = (made @ weights["down"].astype(BF16)).astype(F32)
            return made / jnp.linalg.norm(made, axis=-1, keepdims=True)

        def loss(weights: Any, images: Any, texts: Any) -> Any:
            a, b = tower(weights["image"], images), tower(weights["text"], texts)
            labels = jax.lax.axis_index("data") * len(a) + jnp.arange(len(a))

            def compare(rows: Any, others: Any, labels: Any) -> Any:
                scores = jax.nn.log_softmax(weights["scale"] * rows @ others.T)
                return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

            def one_way(rows: Any, others: Any) -> Any:
                others = jax.lax.all_gather(others, "data", tiled=True)
                if variant == "base":
                    return compare(rows, others, labels)
                part = jax.checkpoint(lambda p: compare(p[0], others, p[1]))
                parts = rows.reshape(16, -1, size), labels.reshape(16, -1)
                return jax.lax.map(part, parts).mean()

            return jax.lax.pmean((one_way(a, b) + one_way(b, a)) / 2, "data")

        over_chips = jax.shard_map(
            loss,
            mesh=mesh,
            in_specs=(PartitionSpec(), data, data),
            out_specs=PartitionSpec(),
            check_vma=False,
        )

        def contrastive_step(weights: Any, images: Any, texts: Any) -> Any:
            value, gradient = jax.value_and_grad(over_chips)(weights, images, texts)
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

        whole = jax.sharding.NamedSharding(mesh, PartitionSpec())
        split = jax.sharding.NamedSharding(mesh, data)
        weights = {
            name: {"up": wide(width, 2048), "down": wide(2048, size)}
            for name, width in widths.items()
        }
        seen = [Shape((batch, width), BF16) for width in widths.values()]
        arguments = (
            sharded({**weights, "scale": wide()}, whole), *sharded(seen, split)
        )  # fmt: skip
        return (contrastive_step, arguments), {"donate_argnums": 0}

    return Program("v5e:2x2", build, (), mesh=(4,))


def nearest_rows(variant: str) -> Program:
    """Return the nearest rows of a large table, and the labels they vote for."""
    queries, rows, width, nearest, classes = 8_192, 131_072, 128, 32, 500

    def unit(x: Any) -> Any:
        return x / (jnp.linalg.norm(x, axis=-1, keepdims=True) + 1e-6)

    def mine(queries: Any, table: Any, labels: Any) -> Any:
        q, c = unit(queries), unit(table)

        def find(q: Any) -> Any:
            squares = (q * q).sum(-1)[:, None] + (c * c).sum(-1)[None]
            negative, found = jax.lax.top_k(2 * q @ c.T - squares, nearest)
            return -negative, found

        if variant == "chunked":
            far, found = jax.lax.map(find, q.reshape(-1, 512, width))
            far, found = far.reshape(-1, nearest), found.reshape(-1, nearest)
        else:
            far, found = find(q)
        votes = jnp.zeros((len(q), classes)).at[
            jnp.arange(len(q))[:, None], labels[found]
        ].add(jnp.exp(-far / 0.07))  # fmt: skip
        return found, far, votes.argmax(-1)

    arguments = (wide(queries, width), wide(rows, width), Shape((rows,), I32))
    return Program("cpu", mine, arguments)


# What jax.vmap maps over is no array of the caller.


def bootstrap_fits(variant: str) -> Program:
    """Return the spread of regressions over samples of the same rows."""
    rows, width, samples = 20_000, 64, 512

    def fit(x: Any, y: Any) -> Any:
        def newton(weights: Any, _: Any) -> Any:
            p = jax.nn.sigmoid(x @ weights)
            slope = x.T @ (y - p) - 1e-2 * weights
            curve = (x * (p * (1 - p))[:, None]).T @ x + 1e-2 * jnp.eye(width)
            return weights + jnp.linalg.solve(curve, slope), None

        return jax.lax.scan(newton, jnp.zeros(width), None, length=15)[0]

    def intervals(key: Any, x: Any, y: Any) -> Any:
        def one(key: Any) -> Any:
            drawn = jax.random.randint(key, (rows,), 0, rows)
            return fit(x[drawn], y[drawn])

        keys = jax.random.split(key, samples)
        if variant == "mapped":
            fits = jax.lax.map(one, keys, batch_size=8)
        else:
            fits = jax.vmap(one)(keys)
        return fits.mean(0), jnp.quantile(fits, jnp.array([0.025, 0.975]), axis=0)

    key = jax.eval_shape(lambda: jax.random.key(0))
    return Program("cpu", intervals, (key, wide(rows, width), wide(rows)))


# Copies for a loop that reads a part of them.


def shuffled_epochs(variant: str) -> Program:
    """Return epochs over pictures, shuffled as a whole before each."""
    count, micro, classes = 16_384, 1024, 18

    def network(w: Any, x: Any) -> Any:
        for kernel, stride in ((w["c0"], 4), (w["c1"], 2)):
            x = jax.nn.relu(
                jax.lax.conv_general_dilated(
                    x, kernel, (stride, stride), "VALID",
                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                )
            )  # fmt: skip
        return jax.nn.relu(x.reshape(len(x), -1) @ w["d"]) @ w["pi"]

    def epochs(weights: Any, pictures: Any, taken: Any, key: Any) -> Any:
        def part(weights: Any, seen: Any) -> Any:
            if variant == "indexed":
                seen = pictures[seen], taken[seen]
            x, labels = seen

            def loss(weights: Any) -> Any:
                scores = jax.nn.log_softmax(network(weights, x))
                return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

            value, gradient = jax.value_and_grad(loss)(weights)
            return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradient), value

        def epoch(weights: Any, key: Any) -> Any:
            order = jax.random.permutation(key, count)
            if variant == "indexed":
                return jax.lax.scan(part, weights, order.reshape(-1, micro))
            x, labels = pictures[order], taken[order]
            parts = x.reshape(-1, micro, *x.shape[1:]), labels.reshape(-1, micro)
            return jax.lax.scan(part, weights, parts)

        weights, values = jax.lax.scan(epoch, weights, jax.random.split(key, 4))
        return weights, values.mean()

    weights = {
        "c0": wide(8, 8, 4, 32),
        "c1": wide(4, 4, 32, 64),
        "d": wide(5184, 256),
        "pi": wide(256, classes),
    }
    key = jax.eval_shape(lambda: jax.random.key(0))
    arguments = (weights, wide(count, 84, 84, 4), Shape((count,), I32), key)
    return Program("cpu", epochs, arguments, {"donate_argnums": 0})


SIXTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "shallow_water": (shallow_water, "checkpointed"),
    "tuned_shallow_water": (tuned_shallow_water, None),
    "tuned_mixer": (tuned_mixer, None),
    "contrastive_towers": (contrastive_towers, "chunked"),
    "nearest_rows": (nearest_rows, "chunked"),
    "bootstrap_fits": (bootstrap_fits, "mapped"),
    "shuffled_epochs": (shuffled_epochs, "indexed"),
}
"""Each program, and its variant after the edit; None where nothing pays."""

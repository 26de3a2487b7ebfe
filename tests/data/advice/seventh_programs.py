"""A seventh set of programs, before and after the first edit of an expert.

As in programs.py; they need JAX alone and are compiled for a CPU by jax 0.10.2.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from programs import BF16, F32, I32, Program, Shape


def wide(*sizes: int) -> Any:
    """Return the shape of an array of 32 bits."""
    return Shape(sizes, F32)


# A history of which the first part is dropped, and sums are made of the rest.


def summed_chains(variant: str) -> Program:
    """Return means and spread of many Langevin chains after their first steps."""
    chains, width, steps, dropped, rows = 2048, 256, 1200, 300, 4000

    def slope(place: Any, x: Any, y: Any) -> Any:
        return x.T @ (y - jax.nn.sigmoid(x @ place)) - place

    def chains_of(key: Any, start: Any, x: Any, y: Any) -> Any:
        def step(places: Any, key: Any) -> Any:
            drift = jax.vmap(slope, (0, None, None))(places, x, y)
            noise = jax.random.normal(key, places.shape)
            return places + 1e-4 * drift + 1e-2 * noise

        keys = jax.random.split(key, steps)
        if variant == "summed":
            last = jax.lax.scan(lambda p, k: (step(p, k), None), start, keys[:dropped])

            def add(state: Any, key: Any) -> Any:
                places, total, squares = state
                places = step(places, key)
                return (places, total + places, squares + places * places), None

            zero = jnp.zeros_like(start)
            state = jax.lax.scan(add, (last[0], zero, zero), keys[dropped:])[0]
            mean = state[1] / (steps - dropped)
            spread = state[2] / (steps - dropped) - mean * mean
        else:
            body = lambda p, k: (step(p, k),) * 2  # noqa: E731
            seen = jax.lax.scan(body, start, keys)[1][dropped:]
            mean, spread = seen.mean(0), seen.var(0)
        return mean.mean(0), spread.mean(0), mean.var(0)

    key = jax.eval_shape(lambda: jax.random.key(0))
    arguments = (key, wide(chains, width), wide(rows, width), wide(rows))
    return Program("cpu", chains_of, arguments)


# A product of two factors, as large as the data.


def dense_factors(variant: str) -> Program:
    """Return a step of factors fitted to a dense matrix of counts, each with trust."""
    rows, columns, width, parts = 49_152, 16_384, 96, 32

    def misfit(left: Any, right: Any, counts: Any, trust: Any) -> Any:
        miss = jnp.log1p(counts) - left @ right.T
        return (trust * miss * miss).sum()

    def loss(factors: Any, counts: Any, trust: Any) -> Any:
        left, right = factors
        if variant == "chunked":
            split = lambda a: a.reshape(parts, -1, a.shape[1])  # noqa: E731
            one = jax.checkpoint(lambda part: misfit(part[0], right, *part[1:]))
            total = jax.lax.map(one, (split(left), split(counts), split(trust))).sum()
        else:
            total = misfit(left, right, counts, trust)
        return total / (rows * columns) + 1e-5 * ((left**2).sum() + (right**2).sum())

    def fit(factors: Any, speed: Any, counts: Any, m: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(factors, counts, m)
        speed = jax.tree.map(lambda v, g: 0.9 * v + g, speed, slopes)
        return jax.tree.map(lambda f, v: f - 0.1 * v, factors, speed), speed, value

    factors = (wide(rows, width), wide(columns, width))
    arguments = (factors, factors, wide(rows, columns), wide(rows, columns))
    return Program("cpu", fit, arguments, {"donate_argnums": (0, 1)})


# Counts per class.


def class_counts(variant: str) -> Program:
    """Return how well predicted classes of pixels overlap with the true ones."""
    batch, side, classes, width = 16, 512, 128, 48

    def overlap(weights: Any, pixels: Any, labels: Any) -> Any:
        hidden = jax.nn.gelu(pixels @ weights["in"])
        found = jnp.argmax(hidden.astype(BF16) @ weights["out"], -1)
        if variant == "counted":
            flat, true = found.reshape(-1), labels.reshape(-1)
            count = lambda a: jnp.zeros(classes).at[a].add(1.0)  # noqa: E731
            hit = jnp.where(flat == true, flat, classes)
            both = jnp.zeros(classes).at[hit].add(1.0, mode="drop")
            either = count(flat) + count(true) - both
        else:
            one = jax.nn.one_hot(found, classes)
            two = jax.nn.one_hot(labels, classes)
            both = (one * two).sum((0, 1, 2))
            either = jnp.maximum(one, two).sum((0, 1, 2))
        return (both / (either + 1e-6)).mean(), both, either

    weights = {"in": wide(3, width), "out": Shape((width, classes), BF16)}
    labels = Shape((batch, side, side), I32)
    return Program("cpu", overlap, (weights, wide(batch, side, side, 3), labels))


# As wide as a vocabulary, with few classes.


def tuned_classifier(_: str) -> Program:
    """Return donated training in 16 bits, of checkpointed layers in a loop."""
    layers, batch, length, width, classes, heads = 10, 24, 1024, 1024, 12, 16

    def normal(x: Any, scale: Any) -> Any:
        wide = x.astype(F32)
        return (wide * jax.lax.rsqrt((wide**2).mean(-1, keepdims=True)) * scale).astype(
            x.dtype
        )

    @jax.checkpoint
    def layer(x: Any, w: Any) -> Any:
        parts = jnp.split(normal(x, w["s"]) @ w["qkv"].astype(BF16), 3, -1)
        split = lambda a: a.reshape(batch, length, heads, -1)  # noqa: E731
        q, k, v = map(split, parts)

        @jax.checkpoint
        def attend(rows: Any) -> Any:
            scores = jnp.einsum("bqhd,bkhd->bhqk", rows, k).astype(F32) / 8
            weights = jax.nn.softmax(scores).astype(BF16)
            return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

        rows = q.reshape(batch, 8, -1, heads, width // heads).swapaxes(0, 1)
        seen = jax.lax.map(attend, rows).swapaxes(0, 1).reshape(x.shape)
        x = x + seen @ w["o"].astype(BF16)
        return x + jax.nn.gelu(x @ w["up"].astype(BF16)) @ w["down"].astype(BF16)

    def loss(weights: Any, words: Any, labels: Any) -> Any:
        x = weights["words"][words].astype(BF16)
        x = jax.lax.scan(lambda x, w: (layer(x, w), None), x, weights["layers"])[0]
        scores = jax.nn.log_softmax(x[:, 0].astype(F32) @ weights["classes"])
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    def learn(weights: Any, speed: Any, words: Any, labels: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(weights, words, labels)
        speed = jax.tree.map(lambda v, g: 0.9 * v + g, speed, slopes)
        weights = jax.tree.map(lambda w, v: w - 0.1 * v, weights, speed)
        return weights, speed, value

    weights = {
        "words": wide(40_000, width),
        "classes": wide(width, classes),
        "layers": {
            "s": wide(layers, width),
            "qkv": wide(layers, width, 3 * width),
            "o": wide(layers, width, width),
            "up": wide(layers, width, 4 * width),
            "down": wide(layers, 4 * width, width),
        },
    }
    arguments = (
        weights, weights, Shape((batch, length), I32), Shape((batch,), I32)
    )  # fmt: skip
    return Program("cpu", learn, arguments, {"donate_argnums": (0, 1)})


SEVENTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "summed_chains": (summed_chains, "summed"),
    "dense_factors": (dense_factors, "chunked"),
    "class_counts": (class_counts, "counted"),
    "tuned_classifier": (tuned_classifier, None),
}
"""Each program, and its variant after the edit; None where nothing pays."""

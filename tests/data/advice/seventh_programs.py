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
from programs import F32, I32, Program, Shape


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
    """Return a step of factors fitted to a dense matrix of counts, each with a trust."""
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

    def fit(factors: Any, speed: Any, counts: Any, trust: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(factors, counts, trust)
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
        found = jnp.argmax(hidden.astype(jnp.bfloat16) @ weights["out"], -1)
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

    weights = {"in": wide(3, width), "out": Shape((width, classes), jnp.bfloat16)}
    labels = Shape((batch, side, side), I32)
    return Program("cpu", overlap, (weights, wide(batch, side, side, 3), labels))


SEVENTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "summed_chains": (summed_chains, "summed"),
    "dense_factors": (dense_factors, "chunked"),
    "class_counts": (class_counts, "counted"),
}
"""Each program, and its variant after the edit; None where nothing pays."""

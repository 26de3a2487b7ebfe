"""An eighth set of programs, before and after the first edit of an expert.

As in programs.py; they need JAX alone and are compiled for a TPU by jax 0.10.2.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from programs import BF16, F32, I32, Program, Shape


def half(*sizes: int) -> Any:
    """Return the shape of an array of 16 bits."""
    return Shape(sizes, BF16)


# A loop over layers reads the cache and stacks another: donated alone, it stays twice.


def stacked_cache(variant: str) -> Program:
    """Read 128 tokens of a prompt; `carried` writes into the cache that is carried."""
    layers, batch, length, heads, size, width, words = 24, 8, 8192, 8, 128, 2048, 65_536
    tokens, inner = 128, heads * size

    def attend(x: Any, w: Any, keys: Any, values: Any, place: Any) -> Any:
        query = (x @ w["q"]).reshape(batch, tokens, heads, size)
        scores = jnp.einsum("bshd,bhtd->bhst", query, keys) * size**-0.5
        seen = jnp.arange(length) <= place + jnp.arange(tokens)[:, None]
        weights = jax.nn.softmax(jnp.where(seen, scores.astype(F32), -1e30))
        x = (
            x
            + jnp.einsum("bhst,bhtd->bshd", weights.astype(BF16), values).reshape(
                batch, tokens, inner
            )
            @ w["o"]
        )
        return x + jax.nn.silu(x @ w["up"]) @ w["down"]

    def fresh(x: Any, w: Any) -> Any:
        shape = (batch, tokens, heads, size)
        keys, values = ((x @ w[name]).reshape(shape) for name in ("k", "v"))
        return keys.swapaxes(1, 2), values.swapaxes(1, 2)

    def stacking(x: Any, weights: Any, cache: Any, place: Any) -> Any:
        def layer(x: Any, given: Any) -> Any:
            w, keys, values = given
            key, value = fresh(x, w)
            keys = jax.lax.dynamic_update_slice(keys, key, (0, 0, place, 0))
            values = jax.lax.dynamic_update_slice(values, value, (0, 0, place, 0))
            return attend(x, w, keys, values, place), (keys, values)

        x, (keys, values) = jax.lax.scan(
            layer, x, (weights["layers"], cache["keys"], cache["values"])
        )
        return x, {"keys": keys, "values": values}

    def carrying(x: Any, weights: Any, cache: Any, place: Any) -> Any:
        def layer(state: Any, given: Any) -> Any:
            x, keys, values = state
            w, number = given
            key, value = fresh(x, w)
            at = (number, 0, 0, place, 0)
            keys = jax.lax.dynamic_update_slice(keys, key[None], at)
            values = jax.lax.dynamic_update_slice(values, value[None], at)
            return (attend(x, w, keys[number], values[number], place), keys, values), ()

        start = x, cache["keys"], cache["values"]
        numbers = jnp.arange(layers)
        (x, keys, values), _ = jax.lax.scan(layer, start, (weights["layers"], numbers))
        return x, {"keys": keys, "values": values}

    def step(weights: Any, cache: Any, prompt: Any, place: Any) -> Any:
        run = carrying if variant == "carried" else stacking
        x, cache = run(weights["words"][prompt], weights, cache, place)
        return jnp.argmax(x[:, -1] @ weights["words"].T, -1), cache

    weights = {
        "words": half(words, width),
        "layers": {
            "q": half(layers, width, inner),
            "k": half(layers, width, inner),
            "v": half(layers, width, inner),
            "o": half(layers, inner, width),
            "up": half(layers, width, 4 * width),
            "down": half(layers, 4 * width, width),
        },
    }
    cache = {
        name: half(layers, batch, heads, length, size) for name in ("keys", "values")
    }
    arguments = (weights, cache, Shape((batch, tokens), I32), Shape((), I32))
    options = {"donate_argnames": ("cache",)} if variant == "carried" else {}
    return Program("v5e:2x2", step, arguments, options)


EIGHTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "stacked_cache": (stacked_cache, "carried"),
}
"""Each program, and its variant after the edit; None where nothing pays."""

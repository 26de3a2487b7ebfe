"""Compiles programs that look like remedies of products, caches, joins and loops.

    pip install "jax==0.11.2" && python make_chains.py

Gives chains.tar.xz here, with a folder for each program.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# It lies beside this script, in no package.
from make_dumps import Made, compile_all, shape  # type: ignore[import-not-found]


def cache_of(length: int) -> Any:
    """Return the shape of keys or values of 8 sequences and 4 heads of 64."""
    return shape(8, 4, length, 64)


def masked_products() -> Made:
    """Return causal linear attention: a mask lies between both products."""
    import jax.numpy as jnp

    def masked(q: Any, k: Any, v: Any) -> Any:
        pairs = jnp.einsum("bqd,bkd->bqk", q, k)
        return jnp.einsum("bqk,bkd->bqd", pairs * jnp.tri(2048), v)

    return masked, [shape(4, 2048, 32)] * 3


def flat_softmax() -> Made:
    """Return attention whose softmax is over rows of all heads at once."""
    import jax
    import jax.numpy as jnp

    def flat(q: Any, k: Any, v: Any) -> Any:
        pairs = jnp.einsum("bqd,bkd->bqk", q, k)
        rows = jax.nn.softmax(pairs.reshape(-1, 2048), axis=-1)
        return jnp.einsum("bqk,bkd->bqd", rows.reshape(4, 2048, 2048), v)

    return flat, [shape(4, 2048, 32)] * 3


def greatest_products() -> Made:
    """Return products of which the greatest of each row is looked for, too."""
    import jax.numpy as jnp

    def greatest(q: Any, k: Any, v: Any) -> Any:
        pairs = jnp.einsum("qd,kd->qk", q, k)
        return pairs.max(-1), pairs @ v

    return greatest, [shape(4096, 32)] * 3


def local_and_global() -> Made:
    """Return a step of two layers: one reads a window of its cache, one all of it."""
    import jax
    import jax.numpy as jnp

    def attend(query: Any, keys: Any, values: Any) -> Any:
        weights = jax.nn.softmax(jnp.einsum("bhd,bhsd->bhs", query, keys))
        return jnp.einsum("bhs,bhsd->bhd", weights, values)

    def step(query: Any, cache: Any, place: Any) -> Any:
        new = query[:, :, None]
        cache = jax.tree.map(
            lambda held: jax.lax.dynamic_update_slice(held, new, (0, 0, place, 0)),
            cache,
        )
        near = [
            jax.lax.dynamic_slice_in_dim(held, jnp.maximum(place - 255, 0), 256, 2)
            for held in cache[:2]
        ]
        return attend(attend(query, *near), *cache[2:]), cache

    return step, [shape(8, 4, 64), [cache_of(4096)] * 4, shape_of_place()]


def cache_in_blocks() -> Made:
    """Return a step that reads its cache block by block, in a loop of its own."""
    import jax
    import jax.numpy as jnp

    def step(query: Any, keys_cache: Any, place: Any) -> Any:
        keys_cache = jax.lax.dynamic_update_slice(
            keys_cache, query[:, :, None], (0, 0, place, 0)
        )

        def add(total: Any, block: Any) -> Any:
            part = jax.lax.dynamic_slice_in_dim(keys_cache, 256 * block, 256, 2)
            scores = jnp.exp(jnp.einsum("bhd,bhsd->bhs", query, part))
            return total + jnp.einsum("bhs,bhsd->bhd", scores, part), None

        total, _ = jax.lax.scan(add, jnp.zeros_like(query), jnp.arange(16))
        return total, keys_cache

    return step, [shape(8, 4, 64), cache_of(4096), shape_of_place()]


def joined_rows() -> Made:
    """Return a product of tokens with the same prompt before each example."""
    import jax.numpy as jnp

    def prompted(prompt: Any, tokens: Any, weights: Any) -> Any:
        spread = jnp.broadcast_to(prompt, (64, 512, 256))
        return (jnp.concatenate([spread, tokens], axis=1) @ weights).sum(1)

    return prompted, [shape(512, 256), shape(64, 64, 256), shape(256, 256)]


def mixed_patches() -> Made:
    """Return patches that are compared with the mean of all before a loop."""
    import jax
    import jax.numpy as jnp

    def blended(image: Any, corners: Any, weights: Any) -> Any:
        def cut(corner: Any) -> Any:
            return jax.lax.dynamic_slice(image, (corner, 0), (256, 1024))

        patches = jnp.tanh(jax.vmap(cut)(corners) @ weights)
        patches = jnp.tanh((patches - patches.mean(0)) @ weights)

        def add(total: Any, item: Any) -> Any:
            corner, patch = item
            old = jax.lax.dynamic_slice(total, (corner, 0), (256, 1024))
            return jax.lax.dynamic_update_slice(total, old + patch, (corner, 0)), None

        total, _ = jax.lax.scan(add, jnp.zeros_like(image), (corners, patches))
        return total

    return blended, [shape(4096, 1024), shape_of_places(64), shape(1024, 1024)]


def shape_of_place() -> Any:
    """Return the shape of a whole number."""
    import jax

    return jax.ShapeDtypeStruct((), "int32")


def shape_of_places(count: int) -> Any:
    """Return the shape of whole numbers."""
    import jax

    return jax.ShapeDtypeStruct((count,), "int32")


PROGRAMS = (
    masked_products,
    flat_softmax,
    greatest_products,
    local_and_global,
    cache_in_blocks,
    joined_rows,
    mixed_patches,
)

if __name__ == "__main__":
    compile_all(PROGRAMS, Path(__file__), "chains.tar.xz", sys.argv[1:])

"""Programs whose memory grows with one size: by lines, squares, cubes, tiles, pieces.

Each function takes a size, and returns a platform, a function and its arguments.
SERIES has the sizes that `hlodb fit` sees, and one near which the limit lies: what is
reserved there is the limit, and make_dumps.py looks for the largest size within it.
"""

# JAX is not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
Shape = jax.ShapeDtypeStruct


def scores(length: int) -> Any:
    """Return attention with all scores: squares of the length."""

    def attend(q: Any, k: Any, v: Any) -> Any:
        share = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k))
        return jnp.einsum("bqk,bkd->bqd", share, v)

    x = Shape((4, length, 64), F32)
    return "cpu", attend, (x, x, x)


def batches(batch: int) -> Any:
    """Return a step of training: lines of the batch."""

    def train(w: Any, x: Any, y: Any) -> Any:
        def loss(w: Any) -> Any:
            h = x
            for one in w:
                h = jnp.tanh(h @ one)
            return jnp.mean((h - y) ** 2)

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    x = Shape((batch, 512), F32)
    return "cpu", train, ([Shape((512, 512), F32)] * 6, x, x)


def chip_batches(batch: int) -> Any:
    """Return a step of training on a chip: lines of the batch, in tiles."""

    def train(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            def layer(h: Any, one: Any) -> Any:
                return h + jax.nn.gelu(h @ one[0]) @ one[1], None

            return jnp.mean(jax.lax.scan(layer, x, w)[0].astype(F32) ** 2)

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    w = Shape((8, 512, 2048), BF16), Shape((8, 2048, 512), BF16)
    return "v5e:2x2", train, (w, Shape((batch, 256, 512), BF16))


def chip_widths(width: int) -> Any:
    """Return products of matrices on a chip: squares of a width, in tiles of 128."""

    def mix(w: Any, x: Any) -> Any:
        h = jnp.tanh(x @ w)
        return jnp.sum(jnp.sin(h @ h.T) @ h)

    return "v5e:2x2", mix, (Shape((width, width), F32), Shape((2048, width), F32))


def kernels(points: int) -> Any:
    """Return the evidence of a Gaussian process: squares of the points."""

    def evidence(x: Any, y: Any) -> Any:
        squares = jnp.sum(x * x, -1)
        squares = squares[:, None] + squares[None] - 2 * x @ x.T
        matrix = jnp.exp(-squares) + 0.1 * jnp.eye(x.shape[0])
        factor = jnp.linalg.cholesky(matrix)
        return jnp.sum(jax.scipy.linalg.solve_triangular(factor, y, lower=True) ** 2)

    return "cpu", evidence, (Shape((points, 8), F32), Shape((points,), F32))


def images(side: int) -> Any:
    """Return convolutions of square images: squares of the side."""

    def blur(w: Any, x: Any) -> Any:
        for one in w:
            x = jax.nn.relu(
                jax.lax.conv_general_dilated(
                    x, one, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
            )
        return x.mean((1, 2))

    w = [Shape((3, 3, a, b), F32) for a, b in ((3, 32), (32, 32), (32, 8))]
    return "cpu", blur, (w, Shape((8, side, side, 3), F32))


def grids(side: int) -> Any:
    """Return waves on a grid: cubes of the side."""

    def wave(a: Any, b: Any) -> Any:
        for _ in range(3):
            c = sum(jnp.roll(a, s, k) for s in (-1, 1) for k in range(3)) - 6 * a
            a, b = 2 * a - b + 0.1 * c, a
        return a, b

    grid = Shape((side, side, side), F32)
    return "cpu", wave, (grid, grid)


def words(count: int) -> Any:
    """Return a step over a vocabulary: lines of it, weights and logits."""

    def train(table: Any, x: Any, targets: Any) -> Any:
        def loss(table: Any) -> Any:
            logits = (x @ table.T).astype(F32)
            logits = jax.nn.log_softmax(logits)
            return -jnp.mean(jnp.take_along_axis(logits, targets[:, None], 1))

        return table - 0.1 * jax.grad(loss)(table)

    arguments = Shape((count, 256), BF16), Shape((2048, 256), BF16)
    return "v5e:2x2", train, (*arguments, Shape((2048,), I32))


def pieces(count: int) -> Any:
    """Return two phases, of which the first holds more for small sizes only."""

    def both(x: Any, w: Any, v: Any) -> Any:
        wide = jnp.sin(x @ w)
        x = x + jnp.cos(wide + jnp.mean(wide, 0)) @ w.T
        first = jax.lax.optimization_barrier(x)
        pairs = jnp.tanh(first @ first.T)
        return jnp.exp(pairs - pairs.max(1, keepdims=True)) @ (first @ v)

    square = Shape((64, 64), F32)
    return "cpu", both, (Shape((count, 64), F32), Shape((64, 4096), F32), square)


def caches(length: int) -> Any:
    """Return a step of decoding: lines of the cache's length, in tiles."""

    def decode(w: Any, keys: Any, values: Any, x: Any, step: Any) -> Any:
        def layer(x: Any, one: Any) -> Any:
            w, k, v = one
            q = (x @ w).reshape(8, 8, 128)
            k = jax.lax.dynamic_update_slice(k, q[:, None], (0, step, 0, 0))
            v = jax.lax.dynamic_update_slice(v, q[:, None], (0, step, 0, 0))
            share = jnp.einsum("bhd,bkhd->bhk", q, k).astype(F32)
            share = jax.nn.softmax(share).astype(BF16)
            mixed = jnp.einsum("bhk,bkhd->bhd", share, v)
            return x + mixed.reshape(x.shape), (k, v)

        return jax.lax.scan(layer, x, (w, keys, values))

    cache = Shape((4, 8, length, 8, 128), BF16)
    arguments = (Shape((4, 1024, 1024), BF16), cache, cache, Shape((8, 1024), BF16))
    return "v5e:2x2", decode, (*arguments, Shape((), I32))


SERIES = {
    "scores": (scores, (256, 512), 1900),
    "batches": (batches, (64, 128, 256), 3000),
    "chip_batches": (chip_batches, (4, 8, 16), 60),
    "chip_widths": (chip_widths, (200, 500, 900), 3000),
    "kernels": (kernels, (500, 1000), 3100),
    "images": (images, (32, 64, 96), 333),
    "grids": (grids, (24, 48, 64), 170),
    "words": (words, (4000, 8000, 16_000), 50_257),
    "pieces": (pieces, (1024, 2048), 9000),
    "caches": (caches, (500, 1000, 2000), 6000),
}
"""Each program, the sizes that are dumped, and one near which the limit lies."""

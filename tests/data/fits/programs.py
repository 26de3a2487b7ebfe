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


def _attend(w: Any, x: Any, heads: int) -> Any:
    q, k, v = (
        (x @ one).reshape(*x.shape[:2], heads, -1) for one in jnp.split(w, 3, axis=1)
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32)
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    share = jax.nn.softmax(jnp.where(causal, scores, -1e30)).astype(x.dtype)
    return x + jnp.einsum("bhqk,bkhd->bqhd", share, v).reshape(x.shape)


def _language(batch: int, length: int, width: int, words: int) -> Any:
    """Return a step of training a language model on a chip."""

    def train(w: Any, moments: Any, tokens: Any) -> Any:
        def loss(w: Any) -> Any:
            @jax.checkpoint
            def layer(x: Any, one: Any) -> Any:
                x = _attend(one["qkv"], x, width // 128)
                return x + jax.nn.gelu(x @ one["up"]) @ one["down"], None

            x = jax.lax.scan(layer, w["table"][tokens], w["layers"])[0]
            logits = jax.nn.log_softmax((x @ w["table"].T).astype(F32))
            return -jnp.take_along_axis(logits, tokens[..., None], -1).mean()

        grads = jax.grad(loss)(w)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda a, m: a - 0.01 * m, w, moments), moments

    layers = {
        "qkv": Shape((6, width, 3 * width), BF16),
        "up": Shape((6, width, 4 * width), BF16),
        "down": Shape((6, 4 * width, width), BF16),
    }
    w = {"table": Shape((words, width), BF16), "layers": layers}
    return "v5e:2x2", train, (w, w, Shape((batch, length), I32))


def language_batches(batch: int) -> Any:
    """Return training on a chip: lines of the batch."""
    return _language(batch, 512, 512, 8192)


def language_lengths(length: int) -> Any:
    """Return training on a chip: lines and squares of the length."""
    return _language(4, length, 512, 8192)


def language_widths(width: int) -> Any:
    """Return training on a chip: lines and squares of the width, a multiple of 128."""
    return _language(4, 512, 128 * width, 8192)


def patches(side: int) -> Any:
    """Return a vision transformer: fourth powers of the side, by whole patches."""

    def train(w: Any, x: Any, labels: Any) -> Any:
        count = side // 16

        def loss(w: Any) -> Any:
            h = x[:, : 16 * count, : 16 * count].reshape(8, count, 16, count, 16, 3)
            h = h.transpose(0, 1, 3, 2, 4, 5).reshape(8, count**2, -1) @ w["patch"]
            for one in w["layers"]:
                h = _attend(one, h, 4)
            logits = jax.nn.log_softmax(h.mean(1) @ w["head"])
            return -jnp.take_along_axis(logits, labels[:, None], 1).mean()

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    w = {
        "patch": Shape((768, 256), F32),
        "layers": [Shape((256, 768), F32)] * 3,
        "head": Shape((256, 100), F32),
    }
    return "cpu", train, (w, Shape((8, side, side, 3), F32), Shape((8,), I32))


def bodies(count: int) -> Any:
    """Return forces between all bodies, and a step: squares of their number."""

    def step(x: Any, v: Any, mass: Any) -> Any:
        apart = x[:, None] - x[None]
        distance = jnp.sqrt((apart**2).sum(-1) + 1e-3)
        force = (mass[None, :, None] * apart / distance[..., None] ** 3).sum(1)
        return x + 0.01 * v, v - 0.01 * force

    arguments = Shape((count, 3), F32), Shape((count, 3), F32), Shape((count,), F32)
    return "cpu", step, arguments


def volumes(side: int) -> Any:
    """Return a gradient of convolutions of volumes: cubes of the side."""

    def train(w: Any, x: Any, y: Any) -> Any:
        def loss(w: Any) -> Any:
            h = x
            for one in w:
                h = jax.lax.conv_general_dilated(
                    jax.nn.relu(h),
                    one,
                    (1, 1, 1),
                    "SAME",
                    dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
                )
            return jnp.mean((h - y) ** 2)

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    w = [Shape((3, 3, 3, a, b), F32) for a, b in ((1, 16), (16, 16), (16, 1))]
    volume = Shape((2, side, side, side, 1), F32)
    return "cpu", train, (w, volume, volume)


def recurrences(length: int) -> Any:
    """Return training of a recurrent network: lines of the length."""

    def train(w: Any, x: Any, y: Any) -> Any:
        def loss(w: Any) -> Any:
            def step(h: Any, one: Any) -> Any:
                gate, new = jnp.split(jnp.concatenate([h, one], 1) @ w["in"], 2, 1)
                gate = jax.nn.sigmoid(gate)
                h = gate * h + (1 - gate) * jnp.tanh(new)
                return h, h @ w["out"]

            found = jax.lax.scan(step, jnp.zeros((64, 256)), x)[1]
            return jnp.mean((found - y) ** 2)

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    w = {"in": Shape((256 + 32, 512), F32), "out": Shape((256, 32), F32)}
    x = Shape((length, 64, 32), F32)
    return "cpu", train, (w, x, x)


def edges(nodes: int) -> Any:
    """Return messages in a graph of ten edges for each node: lines of the nodes."""

    def train(w: Any, x: Any, sources: Any, targets: Any, y: Any) -> Any:
        def loss(w: Any) -> Any:
            h = x
            for one in w:
                told = jax.nn.relu(jnp.concatenate([h[sources], h[targets]], 1) @ one)
                h = h + jax.ops.segment_sum(told, targets, x.shape[0])
            return jnp.mean((h.sum(1) - y) ** 2)

        return jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w))

    ends = Shape((10 * nodes,), I32)
    w = [Shape((128, 64), F32)] * 3
    x = Shape((nodes, 64), F32)
    return "cpu", train, (w, x, ends, ends, Shape((nodes,), F32))


def sounds(samples: int) -> Any:
    """Return a loss of spectra of overlapping windows: lines of the samples."""

    def gap(w: Any, x: Any, y: Any) -> Any:
        def spectrum(a: Any, window: int) -> Any:
            starts = jnp.arange(0, samples - window, window // 4)
            parts = a[:, starts[:, None] + jnp.arange(window)[None]]
            return jnp.abs(jnp.fft.rfft(parts * jnp.hanning(window)))

        def loss(w: Any) -> Any:
            made = jnp.tanh(x * w)
            return sum(
                jnp.mean(jnp.abs(spectrum(made, n) - spectrum(y, n)))
                for n in (256, 512)
            )

        return jax.value_and_grad(loss)(w)

    sound = Shape((8, samples), F32)
    return "cpu", gap, (Shape((8, 1), F32), sound, sound)


def beams(length: int) -> Any:
    """Return a search by beams on a chip: lines of the cache's length, in tiles."""

    def decode(w: Any, cache: Any, scores: Any, x: Any, step: Any) -> Any:
        keys, values = cache
        q = (x @ w["q"]).reshape(4, 6, 8, 64)
        share = jnp.einsum("bnhd,bnkhd->bnhk", q, keys).astype(F32)
        share = jax.nn.softmax(jnp.where(jnp.arange(length) <= step, share, -1e30))
        mixed = jnp.einsum("bnhk,bnkhd->bnhd", share.astype(BF16), values)
        logits = (mixed.reshape(4, 6, 512) @ w["out"]).astype(F32)
        total = scores[..., None] + jax.nn.log_softmax(logits)
        scores, picked = jax.lax.top_k(total.reshape(4, -1), 6)
        beam = picked // logits.shape[-1]
        keys, values = (
            jnp.take_along_axis(one, beam[:, :, None, None, None], 1)
            for one in (keys, values)
        )
        return (keys, values), scores, picked % logits.shape[-1]

    w = {"q": Shape((512, 512), BF16), "out": Shape((512, 20_000), BF16)}
    cache = Shape((4, 6, length, 8, 64), BF16)
    arguments = w, (cache, cache), Shape((4, 6), F32), Shape((4, 6, 512), BF16)
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
    # Fitted nearer to the compiled sizes.
    "language_batches": (language_batches, (8, 16, 32), 57),
    "language_lengths": (language_lengths, (256, 512, 1024), 1700),
    "language_widths": (language_widths, (2, 4, 8), 13),
    "patches": (patches, (64, 96, 160), 240),
    "bodies": (bodies, (300, 600), 1000),
    "volumes": (volumes, (16, 24, 32), 50),
    "recurrences": (recurrences, (64, 128, 256), 450),
    "edges": (edges, (500, 1000, 2000), 3700),
    "sounds": (sounds, (8000, 16_000, 32_000), 56_000),
    "beams": (beams, (300, 700, 1500), 2700),
}
"""Each program, the sizes that are dumped, and one near which the limit lies."""

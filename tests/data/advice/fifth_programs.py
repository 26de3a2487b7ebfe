"""A fifth set of programs, before and after the first edit of an expert.

As in programs.py; they need JAX alone. All are compiled for a CPU by jax 0.10.2, whose
XLA leaves nothing of jax.checkpoint outside of loops.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from programs import F32, Program, Shape

RESIDUES, WIDTH, HEADS, HEAD, LAYERS = 384, 128, 4, 32, 4


def wide(*sizes: int) -> Any:
    """Return the shape of an array of 32 bits."""
    return Shape(sizes, F32)


def attend(w: Any, x: Any, parts: int) -> Any:
    """Return attention within each row of pairs; `parts` of the rows at a time."""

    def rows(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("rhqd,rhkd->rhqk", q, k) * HEAD**-0.5
        return jnp.einsum("rhqk,rhkd->rqhd", jax.nn.softmax(scores, -1), v)

    q, k, v = (jnp.einsum("rnc,chd->rhnd", x, w[name]) for name in "qkv")
    if parts == 1:
        found = rows(q, k, v)
    else:
        split = [a.reshape(parts, -1, *a.shape[1:]) for a in (q, k, v)]
        found = jax.lax.map(jax.checkpoint(lambda a: rows(*a)), tuple(split))
        found = found.reshape(RESIDUES, RESIDUES, HEADS, HEAD)
    return jnp.einsum("rqhd,hdc->rqc", found, w["o"])


def normal(x: Any) -> Any:
    """Return rows with mean zero and spread one."""
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(
        x.var(-1, keepdims=True) + 1e-5
    )


def block(w: Any, x: Any, parts: int) -> Any:
    """Return pairs after attention along rows and columns, and a transition."""
    x = x + attend(w["row"], normal(x), parts)
    turned = jnp.swapaxes(normal(x), 0, 1)
    x = x + jnp.swapaxes(attend(w["column"], turned, parts), 0, 1)
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"]


def training(trunk: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a step of plain gradient descent."""

    def pair_step(weights: Any, pairs: Any, targets: Any) -> Any:
        def loss(weights: Any) -> Any:
            return ((trunk(weights, pairs)[..., :64] - targets) ** 2).mean()

        value, grads = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads), value

    return pair_step


def layer(*stacked: int) -> Any:
    """Return the weights of a layer, or of a stack of layers."""
    heads = {name: wide(*stacked, WIDTH, HEADS, HEAD) for name in "qkv"}
    attention = {**heads, "o": wide(*stacked, HEADS, HEAD, WIDTH)}
    return {
        "row": attention,
        "column": dict(attention),
        "up": wide(*stacked, WIDTH, 4 * WIDTH),
        "down": wide(*stacked, 4 * WIDTH, WIDTH),
    }


INPUTS = (wide(RESIDUES, RESIDUES, WIDTH), wide(RESIDUES, RESIDUES, 64))
DONATED = {"donate_argnums": 0}


def in_a_loop(parts: int) -> Callable[[Any, Any], Any]:
    """Return layers in a loop that keeps the pairs before each."""

    def trunk(weights: Any, pairs: Any) -> Any:
        one = jax.checkpoint(partial(block, parts=parts))
        return jax.lax.scan(lambda x, w: (one(w, x), None), pairs, weights)[0]

    return trunk


def unrolled_pairs(variant: str) -> Program:
    """Return layers written out, each under a checkpoint that has no effect."""
    if variant == "scanned":
        return Program("cpu", training(in_a_loop(1)), (layer(LAYERS), *INPUTS), DONATED)

    def trunk(weights: Any, pairs: Any) -> Any:
        for w in weights:
            pairs = jax.checkpoint(partial(block, parts=1))(w, pairs)
        return pairs

    return Program("cpu", training(trunk), ([layer()] * LAYERS, *INPUTS), DONATED)


def scanned_pairs(variant: str) -> Program:
    """Return layers in a loop, with scores of every pair in each row."""
    trunk = in_a_loop(8 if variant == "chunked" else 1)
    return Program("cpu", training(trunk), (layer(LAYERS), *INPUTS), DONATED)


FIFTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "unrolled_pairs": (unrolled_pairs, "scanned"),
    "scanned_pairs": (scanned_pairs, "chunked"),
}
"""Each program, and its variant after the edit; None where nothing pays."""

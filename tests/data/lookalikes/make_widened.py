"""Compiles a network in bf16 of which a CPU compiler widens what it multiplies.

    JAX_PLATFORMS=cpu python make_widened.py FOLDER

Reserved by jax 0.10.2: train 206.63 MiB, 72.38 MiB with `jax.checkpoint` around
`block`; infer 36.38 MiB, and 49.88 MiB (more) with weights that are given in bf16.
"""

import os
import sys
from typing import Any

os.environ["XLA_FLAGS"] = f"--xla_dump_to={sys.argv[1]}"

import jax
import jax.numpy as jnp

LAYERS, BATCH, WIDTH = 6, 512, 384


def block(h: Any, layer: Any) -> Any:
    up, down = layer
    a = jax.nn.gelu(h @ up.astype(jnp.bfloat16))
    return h + a @ down.astype(jnp.bfloat16), None


def loss(weights: Any, x: Any) -> Any:
    h, _ = jax.lax.scan(block, x.astype(jnp.bfloat16), weights)
    return jnp.mean(h.astype(jnp.float32) ** 2)


def train(weights: Any, x: Any) -> Any:
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))


def infer(weights: Any, x: Any) -> Any:
    return jax.lax.scan(block, x.astype(jnp.bfloat16), weights)[0]


S = jax.ShapeDtypeStruct
W = (
    S((LAYERS, WIDTH, 4 * WIDTH), jnp.float32),
    S((LAYERS, 4 * WIDTH, WIDTH), jnp.float32),
)
X = S((BATCH, WIDTH), jnp.float32)
jax.jit(train, donate_argnums=0).lower(W, X).compile()
jax.jit(infer).lower(W, X).compile()

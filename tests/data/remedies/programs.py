"""Training and generating programs with one remedy each left out or applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding, PartitionSpec

LAYERS, HEADS, VOCABULARY = 4, 16, 32_000
BASE: dict[str, Any] = {
    "batch": 8,
    "length": 1024,
    "width": 2048,
    "donate": True,
    "remat": "none",
    "scan": False,
    "moment": jnp.float32,
    "weights": jnp.float32,
    "logits": jnp.bfloat16,
    "clip": "none",
}


def rms(x: Any) -> Any:
    """Return x with a mean square of 1."""
    mean = jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True)
    return x * jax.lax.rsqrt(mean + 1e-6).astype(x.dtype)


def attention(x: Any, layer: Any) -> Any:
    """Return causal attention of several heads."""
    batch, length, _ = x.shape
    qkv = x @ layer["qkv"].astype(x.dtype)
    q, k, v = jnp.split(qkv.reshape(batch, length, HEADS, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    row = jax.lax.broadcasted_iota(jnp.int32, (length, length), 0)
    column = jax.lax.broadcasted_iota(jnp.int32, (length, length), 1)
    scores = jnp.where(row >= column, scores, jnp.bfloat16(-1e9))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(x.shape) @ layer["out"].astype(x.dtype)


def block(x: Any, layer: Any) -> Any:
    """Return x after attention and a hidden layer."""
    x = x + attention(rms(x), layer)
    h = jax.nn.gelu(rms(x) @ layer["up"].astype(x.dtype))
    h = checkpoint_name(h, "hidden")
    return x + h @ layer["down"].astype(x.dtype)


def loss_fn(params: Any, tokens: Any, targets: Any, given: Mapping[str, Any]) -> Any:
    """Return the mean cross entropy of a language model."""
    x = params["embed"].astype(jnp.bfloat16)[tokens]
    length, width = x.shape[1:]
    angles = jnp.arange(length)[:, None] * jnp.arange(width)[None] * 1e-3
    x = x + jnp.sin(angles).astype(x.dtype)
    one = block
    if given["remat"] == "full":
        one = jax.checkpoint(one)
    elif given["remat"] == "offload":
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[],
            names_which_can_be_offloaded=["hidden"],
            offload_src="device",
            offload_dst="pinned_host",
        )
        one = jax.checkpoint(one, policy=policy)
    elif given["remat"] == "named":
        policy = jax.checkpoint_policies.save_only_these_names("hidden")
        one = jax.checkpoint(one, policy=policy)
    if given["scan"]:
        x, _ = jax.lax.scan(lambda x, layer: (one(x, layer), None), x, params["layers"])
    else:
        for layer in params["layers"]:
            x = one(x, layer)
    logits = jax.lax.dot_general(
        rms(x),
        params["head"].astype(x.dtype),
        (((2,), (0,)), ((), ())),
        preferred_element_type=given["logits"],
    )
    chosen = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    losses = jax.nn.logsumexp(logits, -1) - chosen
    return losses.astype(jnp.float32).mean()


def clipped_to_one(grads: Any, clip: str) -> Any:
    """Return gradients whose norm is at most 1: that of all of them, or of each."""
    if clip == "none":
        return grads
    if clip == "each":
        return jax.tree.map(
            lambda g: g * jnp.minimum(1, jax.lax.rsqrt(jnp.sum(g * g))), grads
        )
    squares = [jnp.sum(g * g) for g in jax.tree.leaves(grads)]
    scale = jnp.minimum(1, jax.lax.rsqrt(sum(squares)))
    return jax.tree.map(lambda g: g * scale, grads)


def train(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a training step by Adam, and shapes of its arguments."""
    width = given["width"]

    def step(params: Any, mu: Any, nu: Any, tokens: Any, targets: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens, targets, given)
        grads = clipped_to_one(grads, given["clip"])
        mu = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(m.dtype), mu, grads)
        nu = jax.tree.map(
            lambda n, g: (0.99 * n + 0.01 * g * g).astype(n.dtype), nu, grads
        )
        params = jax.tree.map(
            lambda p, m, n: (p - 1e-3 * m / (jnp.sqrt(n) + 1e-8)).astype(p.dtype),
            params,
            mu,
            nu,
        )
        return params, mu, nu, loss

    shapes = {
        "qkv": (width, 3 * width),
        "out": (width, width),
        "up": (width, 4 * width),
        "down": (4 * width, width),
    }

    def tree(kind: Any) -> Any:
        def leaf(*shape: int) -> Any:
            return jax.ShapeDtypeStruct(shape, kind)

        if given["scan"]:
            layers: Any = {k: leaf(LAYERS, *s) for k, s in shapes.items()}
        else:
            layers = [{k: leaf(*s) for k, s in shapes.items()} for _ in range(LAYERS)]
        return {
            "embed": leaf(VOCABULARY, width),
            "layers": layers,
            "head": leaf(width, VOCABULARY),
        }

    tokens = jax.ShapeDtypeStruct((given["batch"], given["length"]), jnp.int32)
    arguments = (
        tree(given["weights"]),
        tree(given["moment"]),
        tree(given["weights"]),
        tokens,
        tokens,
    )
    return jax.jit(step, donate_argnums=(0, 1, 2) if given["donate"] else ()), arguments


clipped = train


DECODER: dict[str, Any] = {
    "batch": 16,
    "capacity": 4096,
    "cache": jnp.bfloat16,
    "donate": True,
}


def decode(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a step of generation with a cache, and shapes of its arguments."""
    width = 1024

    def layer(x: Any, inputs: Any) -> Any:
        weights, (keys, values), position = inputs
        q, k, v = jnp.split(x @ weights["qkv"], 3, -1)
        keys = jax.lax.dynamic_update_slice(
            keys, k[:, None].astype(keys.dtype), (0, position, 0)
        )
        values = jax.lax.dynamic_update_slice(
            values, v[:, None].astype(values.dtype), (0, position, 0)
        )
        scores = jnp.einsum("bd,bsd->bs", q.astype(keys.dtype), keys)
        weight = jax.nn.softmax(scores)
        mixed = jnp.einsum("bs,bsd->bd", weight, values)
        return x + mixed.astype(x.dtype) @ weights["out"], (keys, values)

    def generate(params: Any, cache: Any, x: Any, position: Any) -> Any:
        kept = []
        for weights, one in zip(params, cache, strict=True):
            x, changed = layer(x, (weights, one, position))
            kept.append(changed)
        return x, kept

    def leaf(kind: Any, *shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, kind)

    params = [
        {
            "qkv": leaf(jnp.bfloat16, width, 3 * width),
            "out": leaf(jnp.bfloat16, width, width),
        }
        for _ in range(LAYERS)
    ]
    page = leaf(given["cache"], given["batch"], given["capacity"], width)
    x = leaf(jnp.bfloat16, given["batch"], width)
    arguments = (params, [(page, page)] * LAYERS, x, leaf(jnp.int32))
    return jax.jit(generate, donate_argnums=1 if given["donate"] else ()), arguments


MESH: dict[str, Any] = {"weights": ("data", None), "donate": True, "width": 4096}


def mesh(given: Mapping[str, Any], devices: Sequence[Any]) -> tuple[Any, Any]:
    """Return a training step on four devices, and shapes of its arguments."""
    grid = jax.sharding.Mesh(np.array(devices), ("data",))
    width = given["width"]

    def sharded(shape: tuple[int, ...], *axes: Any) -> Any:
        place = NamedSharding(grid, PartitionSpec(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=place)

    def update(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            h = x
            for w in params:
                h = jnp.tanh(h @ w)
            return jnp.mean(h**2)

        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss)(params))

    params = [sharded((width, width), *given["weights"]) for _ in range(LAYERS)]
    x = sharded((1024, width), "data", None)
    out = [p.sharding for p in params]
    return jax.jit(update, donate_argnums=0, out_shardings=out), (params, x)


def narrow(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a function of an array of odd dimensions, and shapes of its arguments."""

    def scaled(x: Any) -> Any:
        return jnp.tanh(x) * 2

    return jax.jit(scaled), (jax.ShapeDtypeStruct(given["shape"], jnp.float32),)


def masked(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return causal attention in a scan over layers, and shapes of its arguments."""
    batch, heads, length, width = 4, 16, 1024, 64

    def causal() -> Any:
        row = jax.lax.broadcasted_iota(jnp.int32, (length, length), 0)
        column = jax.lax.broadcasted_iota(jnp.int32, (length, length), 1)
        whole = (batch, heads, length, length) if given["whole"] else (length, length)
        return jnp.broadcast_to(jnp.where(row >= column, 0.0, -1e9), whole)

    def run(weights: Any, x: Any) -> Any:
        # What is rematerialised takes its constants through such a barrier.
        mask = jax.lax.optimization_barrier(causal()) if given["whole"] else None

        def layer(x: Any, weight: Any) -> tuple[Any, None]:
            q = jnp.einsum("bhld,de->bhle", x, weight)
            scores = jnp.einsum("bhqd,bhkd->bhqk", q, x)
            scores = scores + (causal() if mask is None else mask)
            return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), x), None

        return jax.lax.scan(layer, x, weights)[0]

    shapes = ((LAYERS, width, width), (batch, heads, length, width))
    return jax.jit(run), [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]


def gathered(given: Mapping[str, Any], devices: Sequence[Any]) -> tuple[Any, Any]:
    """Return a forward pass on four devices that gathers its weights, and shapes."""
    grid = jax.sharding.Mesh(np.array(devices), ("data",))
    whole = NamedSharding(grid, PartitionSpec())

    def forward(params: Any, x: Any) -> Any:
        if given["first"]:
            params = [jax.lax.with_sharding_constraint(w, whole) for w in params]
            params, x = jax.lax.optimization_barrier((params, x))
        for w in params:
            if not given["first"]:
                w, x = jax.lax.optimization_barrier((w, x))
                w = jax.lax.with_sharding_constraint(w, whole)
            x = jnp.tanh(x @ w)
        return x

    place = NamedSharding(grid, PartitionSpec("data", None))
    weight = jax.ShapeDtypeStruct((8192, 8192), jnp.float32, sharding=place)
    x = jax.ShapeDtypeStruct((1024, 8192), jnp.float32, sharding=place)
    return jax.jit(forward), ([weight] * LAYERS, x)


def recurrent(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a training step of an LSTM, its loop with or without jax.checkpoint."""
    steps, batch, width = 64, 16, 256

    def cell(params: Any, state: Any, x: Any) -> Any:
        h, c = state
        gates = x @ params["input"] + h @ params["hidden"] + params["bias"]
        i, f, g, o = jnp.split(gates, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def loss(params: Any, xs: Any) -> Any:
        zero = jnp.zeros((batch, width))
        body = partial(cell, params)
        body = jax.checkpoint(body) if given["remat"] else body
        return jnp.mean(jax.lax.scan(body, (zero, zero), xs)[1] ** 2)

    def step(params: Any, xs: Any) -> Any:
        gradients = jax.grad(loss)(params, xs)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients)

    params = {
        "input": jax.ShapeDtypeStruct((width, 4 * width), jnp.float32),
        "hidden": jax.ShapeDtypeStruct((width, 4 * width), jnp.float32),
        "bias": jax.ShapeDtypeStruct((4 * width,), jnp.float32),
    }
    xs = jax.ShapeDtypeStruct((steps, batch, width), jnp.float32)
    return jax.jit(step, donate_argnums=0), (params, xs)


def layered(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a training step of hidden layers, each with or without jax.checkpoint."""

    def layer(x: Any, w: Any) -> Any:
        return x + jnp.tanh(jnp.sin(x @ w["up"])) @ w["down"]

    def loss(params: Any, x: Any) -> Any:
        for w in params:
            x = (jax.checkpoint(layer) if given["remat"] else layer)(x, w)
        return jnp.mean(x**2)

    def step(params: Any, x: Any) -> Any:
        gradients = jax.grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients)

    weights = {
        "up": jax.ShapeDtypeStruct((128, 1024), jnp.float32),
        "down": jax.ShapeDtypeStruct((1024, 128), jnp.float32),
    }
    x = jax.ShapeDtypeStruct((4096, 128), jnp.float32)
    return jax.jit(step, donate_argnums=0), ([weights] * 8, x)


CPU_PROGRAMS = ("recurrent", "layered")

PROGRAMS = {
    "train": BASE,
    "clipped": {**BASE, "batch": 1, "length": 256},
    "decode": DECODER,
    "mesh": MESH,
    "narrow": {"shape": (32_768, 33, 33)},
    "masked": {"whole": True},
    "gathered": {"first": True},
    "recurrent": {"remat": False},
    "layered": {"remat": False},
}

EDITS: dict[str, dict[str, dict[str, Any]]] = {
    "train": {
        "base": {},
        "not_donated": {"donate": False},
        "remat": {"remat": "full"},
        "named": {"remat": "named"},
        "offloaded": {"remat": "offload"},
        "half_batch": {"batch": 4},
        "half_moment": {"moment": jnp.bfloat16},
        "logits_f32": {"logits": jnp.float32},
        "scan": {"scan": True},
        "scan_remat": {"scan": True, "remat": "full"},
        "bf16": {"weights": jnp.bfloat16, "moment": jnp.bfloat16},
    },
    "clipped": {"base": {"clip": "all"}, "apart": {"clip": "each"}},
    "decode": {
        "base": {},
        "not_donated": {"donate": False},
        "cache_f32": {"cache": jnp.float32},
        "half_capacity": {"capacity": 2048},
    },
    "mesh": {"base": {}, "replicated": {"weights": (None, None)}},
    "narrow": {"base": {}, "filled": {"shape": (32_768, 1089)}},
    "masked": {"base": {}, "inside": {"whole": False}},
    "gathered": {"base": {}, "later": {"first": False}},
    "recurrent": {"base": {}, "remat": {"remat": True}},
    "layered": {"base": {}, "remat": {"remat": True}},
}

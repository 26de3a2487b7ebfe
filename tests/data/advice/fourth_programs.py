"""A fourth set of programs, before and after the first edit of an expert.

As in programs.py; they need JAX alone, with rules of optimisers written out.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from programs import BF16, F32, I32, Program, Shape, sharded


def wide(*sizes: int) -> Any:
    """Return the shape of an array of 32 bits."""
    return Shape(sizes, F32)


def narrow(*sizes: int) -> Any:
    """Return the shape of an array of 16 bits."""
    return Shape(sizes, BF16)


def layer_norm(x: Any, gain: Any) -> Any:
    """Return rows with mean zero and spread one, times a gain; computed in 32 bits."""
    x = x.astype(F32)
    centred = x - x.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
    return (centred * scale * gain).astype(BF16)


def root_mean_square(x: Any) -> Any:
    """Return rows, in 32 bits, with a mean square of one."""
    x = x.astype(F32)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def adam(weights: Any, m: Any, v: Any, grads: Any) -> Any:
    """Return weights after a step of Adam, and both of its moments."""
    m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)

    def moved(w: Any, a: Any, b: Any) -> Any:
        return w - 1e-3 * a / (jnp.sqrt(b) + 1e-8)

    return jax.tree.map(moved, weights, m, v), m, v


# Speech


def transducer(variant: str) -> Program:
    """Return training of speech to text, with logits of each frame and each label."""
    batch, frames, labels, width, words, bands = 16, 320, 64, 512, 1024, 240

    def encode(w: Any, x: Any) -> Any:
        x = x @ w["in"].astype(BF16)
        for up, down in w["layers"]:
            x = x + jax.nn.gelu(x @ up.astype(BF16)) @ down.astype(BF16)
        return x

    def joint(weights: Any, heard: Any, written: Any, targets: Any) -> Any:
        h = jnp.tanh(heard[:, :, None, :] + written[:, None, :, :])
        logits = (h @ weights["out"].astype(BF16)).astype(F32)
        found = jax.nn.log_softmax(logits, axis=-1)
        index = jnp.broadcast_to(targets[:, None, :, None], (*found.shape[:3], 1))
        return found[..., 0], jnp.take_along_axis(found, index, -1)[..., 0]

    def unlikelihood(blank: Any, label: Any) -> Any:
        def frame(alpha: Any, row: Any) -> Any:
            blank, label = row
            start = jnp.zeros((batch, 1))
            passed = jnp.concatenate([start, jnp.cumsum(label[:, :-1], 1)], 1)
            return passed + jax.lax.cumlogsumexp(alpha - passed, axis=1) + blank, None

        alpha = jnp.full((batch, labels), -1e9).at[:, 0].set(0.0)
        rows = (blank.swapaxes(0, 1), label.swapaxes(0, 1))
        alpha, _ = jax.lax.scan(frame, alpha, rows)
        return -alpha[:, -1].mean()

    def transducer_step(
        weights: Any, momentum: Any, x: Any, before: Any, targets: Any
    ) -> Any:
        def loss(weights: Any) -> Any:
            heard = encode(weights["encoder"], x)
            written = jnp.take(weights["embed"], before, axis=0).astype(BF16)
            written = written @ weights["predict"].astype(BF16)
            if variant != "chunked":
                return unlikelihood(*joint(weights, heard, written, targets))
            parts = heard.reshape(batch, -1, 8, width).swapaxes(0, 1)
            one = jax.checkpoint(lambda part: joint(weights, part, written, targets))
            found = jax.lax.map(one, parts)
            whole = (a.swapaxes(0, 1).reshape(batch, frames, labels) for a in found)
            return unlikelihood(*whole)

        value, grads = jax.value_and_grad(loss)(weights)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        weights = jax.tree.map(lambda w, m: w - 1e-3 * m, weights, momentum)
        return weights, momentum, value

    layer = (wide(width, 4 * width), wide(4 * width, width))
    weights = {
        "encoder": {"in": wide(bands, width), "layers": [layer] * 6},
        "embed": wide(words, width),
        "predict": wide(width, width),
        "out": wide(width, words),
    }
    written = Shape((batch, labels), I32)
    arguments = (weights, weights, narrow(batch, frames, bands), written, written)
    return Program("v5e:2x2", transducer_step, arguments, {"donate_argnums": (0, 1)})


def speech_cache(variant: str) -> Program:
    """Return a step of a decoder on four chips that appends a position to its cache."""
    layers, batch, length, heads, size, words = 24, 64, 2047, 16, 64, 51_200
    width = heads * size

    def attend(q: Any, k: Any, v: Any, seen: Any) -> Any:
        scores = jnp.einsum("bhd,bshd->bhs", q, k).astype(F32) * size**-0.5
        if seen is not None:
            scores = jnp.where(seen, scores, -1e9)
        share = jax.nn.softmax(scores, -1).astype(BF16)
        return jnp.einsum("bhs,bshd->bhd", share, v)

    def speak(weights: Any, cache: Any, token: Any, place: Any) -> Any:
        x = weights["embed"][token]
        new = []
        for w, (keys, values) in zip(weights["layers"], cache, strict=True):
            h = layer_norm(x, w["gain"])
            q, k, v = (jnp.einsum("bm,mhd->bhd", h, w[name]) for name in "qkv")
            if variant == "placed":
                start = (0, place, 0, 0)
                keys = jax.lax.dynamic_update_slice(keys, k[:, None], start)
                values = jax.lax.dynamic_update_slice(values, v[:, None], start)
                seen = jnp.arange(length + 1) <= place
            else:
                keys = jnp.concatenate([keys, k[:, None]], 1)
                values = jnp.concatenate([values, v[:, None]], 1)
                seen = None
            new.append((keys, values))
            mixed = attend(q, keys, values, seen)
            x = x + jnp.einsum("bhd,hdm->bm", mixed, w["out"])
            x = x + jax.nn.gelu(layer_norm(x, w["gain_2"]) @ w["up"]) @ w["down"]
        logits = (x @ weights["embed"].T).astype(F32)
        return new, jnp.argmax(logits, -1)

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        first = NamedSharding(mesh, PartitionSpec("data"))
        second = NamedSharding(mesh, PartitionSpec(None, "data"))
        third = NamedSharding(mesh, PartitionSpec(None, None, "data"))
        cut = sharded(narrow(width, heads, size), second)
        layer = {
            "gain": sharded(narrow(width), whole),
            "gain_2": sharded(narrow(width), whole),
            "q": cut,
            "k": cut,
            "v": cut,
            "out": sharded(narrow(heads, size, width), first),
            "up": sharded(narrow(width, 4 * width), second),
            "down": sharded(narrow(4 * width, width), first),
        }
        weights = {
            "embed": sharded(narrow(words, width), first),
            "layers": [layer] * layers,
        }
        room = length + 1 if variant == "placed" else length
        pair = (sharded(narrow(batch, room, heads, size), third),) * 2
        token = Shape((batch,), I32, sharding=whole)
        place = Shape((), I32, sharding=whole)
        options = {
            "donate_argnums": 1,
            "out_shardings": ([(third, third)] * layers, whole),
        }
        return (speak, (weights, [pair] * layers, token, place)), options

    return Program("v5e:2x2", build, (), {}, (4,))


# Science


def pair_stack(variant: str) -> Program:
    """Return training of blocks on pairs of residues, as a model of proteins has."""
    count, width, heads, size, depth, bins = 256, 128, 4, 32, 8, 64

    def product(w: Any, z: Any, path: str) -> Any:
        x = layer_norm(z, w["gain"])
        a, b = (
            jax.nn.sigmoid(x @ w[f"{name}_gate"].astype(BF16))
            * (x @ w[name].astype(BF16))
            for name in "ab"
        )
        made = jnp.einsum(path, a, b)
        return layer_norm(made, w["gain_2"]) @ w["out"].astype(BF16)

    def attention(w: Any, z: Any) -> Any:
        x = layer_norm(z, w["gain"])
        qkv = (x @ w["qkv"].astype(BF16)).reshape(count, count, 3 * heads, size)
        q, k, v = jnp.split(qkv, 3, axis=2)
        bias = (x @ w["bias"].astype(BF16)).astype(F32)
        logits = jnp.einsum("iqhd,ikhd->ihqk", q, k, preferred_element_type=F32)
        logits = logits / size**0.5 + bias.transpose(2, 0, 1)[None]
        share = jax.nn.softmax(logits, axis=-1).astype(BF16)
        mixed = jnp.einsum("ihqk,ikhd->iqhd", share, v).reshape(z.shape)
        gate = jax.nn.sigmoid(x @ w["gate"].astype(BF16))
        return (gate * mixed) @ w["out"].astype(BF16)

    def block(z: Any, w: Any) -> Any:
        z = z + product(w["outgoing"], z, "ikc,jkc->ijc")
        z = z + product(w["incoming"], z, "kic,kjc->ijc")
        z = z + attention(w["rows"], z)
        z = z + attention(w["columns"], z.swapaxes(0, 1)).swapaxes(0, 1)
        w = w["transition"]
        h = jax.nn.relu(layer_norm(z, w["gain"]) @ w["up"].astype(BF16))
        return z + h @ w["down"].astype(BF16), None

    body = jax.checkpoint(block) if variant == "remat" else block

    def pair_step(weights: Any, m: Any, v: Any, z: Any, target: Any) -> Any:
        def loss(weights: Any) -> Any:
            x, _ = jax.lax.scan(body, z, weights["blocks"])
            found = jax.nn.log_softmax((x @ weights["head"].astype(BF16)).astype(F32))
            return -jnp.take_along_axis(found, target[..., None], -1).mean()

        value, grads = jax.value_and_grad(loss)(weights)
        return *adam(weights, m, v, grads), value

    rows = partial(wide, depth)
    gain, square = rows(width), rows(width, width)
    product_weights = {
        "gain": gain,
        "a": square,
        "a_gate": square,
        "b": square,
        "b_gate": square,
        "gain_2": gain,
        "out": square,
    }
    attention_weights = {
        "gain": gain,
        "qkv": rows(width, 3 * heads * size),
        "bias": rows(width, heads),
        "gate": rows(width, heads * size),
        "out": rows(heads * size, width),
    }
    blocks = {
        "outgoing": product_weights,
        "incoming": product_weights,
        "rows": attention_weights,
        "columns": attention_weights,
        "transition": {
            "gain": gain,
            "up": rows(width, 4 * width),
            "down": rows(4 * width, width),
        },
    }
    weights = {"blocks": blocks, "head": wide(width, bins)}
    pairs = narrow(count, count, width)
    arguments = (weights, weights, weights, pairs, Shape((count, count), I32))
    return Program("v5e:2x2", pair_step, arguments, {"donate_argnums": (0, 1, 2)})


def pinn_hessian(variant: str) -> Program:
    """Return training of a network to solve Poisson's equation in 64 dimensions."""
    dimensions, width, count = 64, 256, 4096

    def value_at(weights: Any, x: Any) -> Any:
        for matrix, bias in weights[:-1]:
            x = jnp.tanh(x @ matrix + bias)
        matrix, bias = weights[-1]
        return (x @ matrix + bias)[0]

    def laplacian(weights: Any, x: Any) -> Any:
        if variant != "scanned":
            return jnp.trace(jax.hessian(value_at, 1)(weights, x))

        def slope(x: Any) -> Any:
            return jax.grad(value_at, 1)(weights, x)

        def one(total: Any, axis: Any) -> Any:
            return total + jnp.vdot(jax.jvp(slope, (x,), (axis,))[1], axis), None

        axes = jnp.eye(dimensions)
        return jax.lax.scan(jax.checkpoint(one), jnp.zeros(()), axes)[0]

    def poisson_step(weights: Any, m: Any, v: Any, x: Any, edge: Any) -> Any:
        def loss(weights: Any) -> Any:
            inside = jax.vmap(lambda x: laplacian(weights, x) + jnp.sin(x).sum())(x)
            outside = jax.vmap(lambda x: value_at(weights, x))(edge)
            return jnp.mean(inside**2) + 100 * jnp.mean(outside**2)

        value, grads = jax.value_and_grad(loss)(weights)
        return *adam(weights, m, v, grads), value

    weights = [
        (wide(dimensions, width), wide(width)),
        *[(wide(width, width), wide(width))] * 3,
        (wide(width, 1), wide(1)),
    ]
    points, edge = wide(count, dimensions), wide(1024, dimensions)
    arguments = (weights, weights, weights, points, edge)
    return Program("cpu", poisson_step, arguments, {"donate_argnums": (0, 1, 2)})


def particle_filter(variant: str) -> Program:
    """Return the mean and the variance of a target's track, by many particles."""
    count, steps = 200_000, 1000

    def track(key: Any, start: Any, seen: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            key, x = carry
            key, first, second = jax.random.split(key, 3)
            place, speed = x[:, :3], x[:, 3:]
            speed = 0.99 * speed + 0.1 * jax.random.normal(first, speed.shape)
            place = place + 0.05 * speed
            far = jnp.linalg.norm(place, axis=1)
            angle = jnp.arctan2(place[:, 1], place[:, 0])
            likely = -0.5 * jnp.square((far - row[0]) / 0.2)
            likely = likely - 0.5 * jnp.square((angle - row[1]) / 0.05)
            share = jax.nn.softmax(likely)
            x = jnp.concatenate([place, speed], 1)
            points = (jnp.arange(count) + jax.random.uniform(second)) / count
            drawn = jnp.searchsorted(jnp.cumsum(share), points)
            after = x[jnp.clip(drawn, 0, count - 1)]
            if variant == "means":
                mean = share @ x
                return (key, after), (mean, share @ jnp.square(x) - jnp.square(mean))
            return (key, after), (x, share)

        (_, x), (first, second) = jax.lax.scan(step, (key, start), seen)
        if variant == "means":
            return x, first, second
        mean = jnp.einsum("tn,tnd->td", second, first)
        square = jnp.einsum("tn,tnd->td", second, jnp.square(first))
        return x, mean, square - jnp.square(mean)

    arguments = (Shape((2,), jnp.uint32), wide(count, 6), wide(steps, 2))
    return Program("cpu", track, arguments, {"donate_argnums": 1})


def field_steps(_: str) -> Program:
    """Return a hundred steps of Maxwell's equations, with six fields kept in place."""
    side, steps = 512, 100

    def shifted(field: Any, axis: int, ends: tuple[int, int, int]) -> Any:
        none = (0, 0, 0)
        return jax.lax.pad(field, 0.0, [ends if a == axis else none for a in range(3)])

    def ahead(field: Any, axis: int) -> Any:
        return shifted(field, axis, (-1, 1, 0)) - field

    def behind(field: Any, axis: int) -> Any:
        return field - shifted(field, axis, (1, -1, 0))

    def simulate(electric: Any, magnetic: Any, source: Any) -> Any:
        def step(number: Any, fields: Any) -> Any:
            (ex, ey, ez), (hx, hy, hz) = fields
            hx = hx - 0.5 * (ahead(ez, 1) - ahead(ey, 2))
            hy = hy - 0.5 * (ahead(ex, 2) - ahead(ez, 0))
            hz = hz - 0.5 * (ahead(ey, 0) - ahead(ex, 1))
            # Without it the compiler fuses both halves of a step, with more memory.
            (ex, ey, ez), (hx, hy, hz) = jax.lax.optimization_barrier(
                ((ex, ey, ez), (hx, hy, hz))
            )
            ex = ex + 0.5 * (behind(hz, 1) - behind(hy, 2))
            ey = ey + 0.5 * (behind(hx, 2) - behind(hz, 0))
            ez = ez + 0.5 * (behind(hy, 0) - behind(hx, 1))
            ez = ez.at[side // 2, side // 2, side // 2].add(source[number])
            return (ex, ey, ez), (hx, hy, hz)

        return jax.lax.fori_loop(0, steps, step, (electric, magnetic))

    three = (wide(side, side, side),) * 3
    arguments = (three, three, wide(steps))
    return Program("cpu", simulate, arguments, {"donate_argnums": (0, 1)})


# Recommendation and vision


def sparse_table(variant: str) -> Program:
    """Return a recommender whose table of rows gets a gradient as large as itself."""
    rows, size, batch, found = 12_000_000, 64, 16_384, 16

    def loss(gathered: Any, weights: Any, clicks: Any) -> Any:
        x = gathered.reshape(batch, found * size)
        for w in weights["layers"]:
            x = jax.nn.relu(x @ w)
        logits = (x @ weights["out"])[:, 0]
        distant = jnp.log1p(jnp.exp(-jnp.abs(logits)))
        return jnp.mean(jnp.maximum(logits, 0) - logits * clicks + distant)

    def table_step(
        table: Any, squares: Any, weights: Any, numbers: Any, clicks: Any
    ) -> Any:
        both = (0, 1)
        if variant == "rows":
            one = jax.value_and_grad(loss, both)
            value, (grads, others) = one(table[numbers], weights, clicks)
            squares = squares.at[numbers].add(jnp.mean(grads**2, -1))
            rate = jax.lax.rsqrt(squares[numbers] + 1e-8)[..., None]
            table = table.at[numbers].add(-0.01 * grads * rate)
        else:
            one = jax.value_and_grad(
                lambda table, weights: loss(table[numbers], weights, clicks), both
            )
            value, (grads, others) = one(table, weights)
            squares = squares + jnp.mean(grads**2, -1)
            table = table - 0.01 * grads * jax.lax.rsqrt(squares + 1e-8)[:, None]
        weights = jax.tree.map(lambda w, g: w - 0.01 * g, weights, others)
        return table, squares, weights, value

    weights = {
        "layers": [wide(found * size, 512), wide(512, 256)],
        "out": wide(256, 1),
    }
    numbers = Shape((batch, found), I32)
    arguments = (wide(rows, size), wide(rows), weights, numbers, wide(batch))
    return Program("cpu", table_step, arguments, {"donate_argnums": (0, 1, 2)})


def vision_adam(variant: str) -> Program:
    """Return training of a transformer of images; each of eight chips holds it all."""
    depth, width, heads, batch, length = 32, 2048, 16, 256, 256

    def block(x: Any, w: Any) -> Any:
        h = layer_norm(x, w["gain"]) @ w["qkv"].astype(BF16)
        q, k, v = jnp.split(h.reshape(-1, length, 3 * heads, width // heads), 3, axis=2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32)
        share = jax.nn.softmax(scores * (width // heads) ** -0.5, -1).astype(BF16)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", share, v).reshape(x.shape)
        x = x + mixed @ w["out"].astype(BF16)
        h = jax.nn.gelu(layer_norm(x, w["gain_2"]) @ w["up"].astype(BF16))
        return x + h @ w["down"].astype(BF16), None

    body = jax.checkpoint(block, policy=jax.checkpoint_policies.nothing_saveable)

    def image_step(weights: Any, m: Any, v: Any, images: Any, classes: Any) -> Any:
        def loss(weights: Any) -> Any:
            x = images.reshape(-1, 16, 14, 16, 14, 3).transpose(0, 1, 3, 2, 4, 5)
            x = x.reshape(-1, length, 14 * 14 * 3).astype(BF16)
            x = x @ weights["patch"].astype(BF16) + weights["place"].astype(BF16)
            x, _ = jax.lax.scan(body, x, weights["blocks"])
            logits = (x.mean(1) @ weights["head"].astype(BF16)).astype(F32)
            found = jax.nn.log_softmax(logits)
            return -jnp.take_along_axis(found, classes[:, None], 1).mean()

        value, grads = jax.value_and_grad(loss)(weights)
        return *adam(weights, m, v, grads), value

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        split = NamedSharding(mesh, PartitionSpec("data"))
        rows = NamedSharding(mesh, PartitionSpec(None, "data"))
        weights = {
            "blocks": {
                "gain": wide(depth, width),
                "gain_2": wide(depth, width),
                "qkv": wide(depth, width, 3 * width),
                "out": wide(depth, width, width),
                "up": wide(depth, width, 4 * width),
                "down": wide(depth, 4 * width, width),
            },
            "patch": wide(14 * 14 * 3, width),
            "place": wide(length, width),
            "head": wide(width, 1000),
        }

        def place(leaf: Any) -> Any:
            return rows if variant == "sharded" and leaf.ndim == 3 else whole

        placed = jax.tree.map(place, weights)
        state = sharded(weights, placed)
        images = sharded(wide(batch, 224, 224, 3), split)
        classes = Shape((batch,), I32, sharding=split)
        options = {
            "donate_argnums": (0, 1, 2),
            "out_shardings": (placed, placed, placed, whole),
        }
        return (image_step, (state, state, state, images, classes)), options

    return Program("v6e:2x4", build, (), {}, (8,))


# Well tuned


def batched_decoder(_: str) -> Program:
    """Return a step of decoding on four chips, with caches donated and in place."""
    depth, batch, length, groups, repeats, size, words = 24, 48, 8192, 8, 4, 128, 32_000
    width, hidden = groups * repeats * size, 11_008

    def norm(x: Any, gain: Any) -> Any:
        return root_mean_square(x).astype(BF16) * gain

    def decode(weights: Any, caches: Any, token: Any, place: Any) -> Any:
        x = weights["embed"][token]
        new, seen = [], jnp.arange(length) <= place
        for w, (keys, values) in zip(weights["layers"], caches, strict=True):
            h = norm(x, w["gain"])
            q = jnp.einsum("bm,mgrd->bgrd", h, w["q"])
            k, v = (jnp.einsum("bm,mgd->bgd", h, w[name])[:, :, None] for name in "kv")
            start = (0, 0, place, 0)
            keys = jax.lax.dynamic_update_slice(keys, k, start)
            values = jax.lax.dynamic_update_slice(values, v, start)
            scores = jnp.einsum("bgrd,bgsd->bgrs", q, keys, preferred_element_type=F32)
            scores = jnp.where(seen, scores * size**-0.5, -1e9)
            share = jax.nn.softmax(scores, -1).astype(BF16)
            x = x + jnp.einsum(
                "bgrs,bgsd,grdm->bm",
                share,
                values,
                w["out"],
                optimize=[(0, 1), (0, 1)],
            )
            h = norm(x, w["gain_2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
            new.append((keys, values))
        x = norm(x, weights["gain"])
        logits = jnp.dot(x, weights["head"], preferred_element_type=F32)
        return new, jnp.argmax(logits, -1)

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        first = NamedSharding(mesh, PartitionSpec("data"))
        second = NamedSharding(mesh, PartitionSpec(None, "data"))
        layer = {
            "gain": sharded(narrow(width), whole),
            "gain_2": sharded(narrow(width), whole),
            "q": sharded(narrow(width, groups, repeats, size), second),
            "k": sharded(narrow(width, groups, size), second),
            "v": sharded(narrow(width, groups, size), second),
            "out": sharded(narrow(groups, repeats, size, width), first),
            "gate": sharded(narrow(width, hidden), second),
            "up": sharded(narrow(width, hidden), second),
            "down": sharded(narrow(hidden, width), first),
        }
        weights = {
            "embed": sharded(narrow(words, width), first),
            "gain": sharded(narrow(width), whole),
            "head": sharded(narrow(width, words), second),
            "layers": [layer] * depth,
        }
        pair = (sharded(narrow(batch, groups, length, size), second),) * 2
        token = Shape((batch,), I32, sharding=whole)
        place = Shape((), I32, sharding=whole)
        options = {
            "donate_argnums": 1,
            "out_shardings": ([(second, second)] * depth, whole),
        }
        return (decode, (weights, [pair] * depth, token, place)), options

    return Program("v5e:2x2", build, (), {}, (4,))


def chunked_lm(_: str) -> Program:
    """Return training of a language model on four chips, all of it in chunks."""
    depth, width, heads, batch, length, words = 24, 2048, 16, 32, 2048, 32_768
    some, each = 256, 128

    def norm(x: Any, gain: Any) -> Any:
        return (root_mean_square(x) * gain).astype(BF16)

    def attention(q: Any, k: Any, v: Any) -> Any:
        def one(number: Any) -> Any:
            part = jax.lax.dynamic_slice_in_dim(q, number * some, some, 1)
            scores = jnp.einsum("bqhd,bkhd->bhqk", part, k, preferred_element_type=F32)
            scores = scores * (width // heads) ** -0.5
            places = number * some + jnp.arange(some)
            seen = places[:, None] >= jnp.arange(length)[None]
            share = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1).astype(BF16)
            return jnp.einsum("bhqk,bkhd->bqhd", share, v)

        mixed = jax.lax.map(jax.checkpoint(one), jnp.arange(length // some))
        return mixed.swapaxes(0, 1).reshape(q.shape[0], length, width)

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        first = NamedSharding(mesh, PartitionSpec("data"))
        second = NamedSharding(mesh, PartitionSpec(None, "data"))
        place = jax.lax.with_sharding_constraint

        @jax.checkpoint
        def block(x: Any, w: Any) -> Any:
            w = jax.tree.map(lambda a: place(a.astype(BF16), whole), w)
            h = norm(x, w["gain"]) @ w["qkv"]
            h = h.reshape(-1, length, 3 * heads, width // heads)
            x = x + attention(*jnp.split(h, 3, axis=2)) @ w["out"]
            x = x + jax.nn.gelu(norm(x, w["gain_2"]) @ w["up"]) @ w["down"]
            return place(x, first), None

        def loss(weights: Any, tokens: Any) -> Any:
            x = place(weights["embed"].astype(BF16)[tokens], first)
            x, _ = jax.lax.scan(block, x, weights["blocks"])
            head = place(weights["head"].astype(BF16), whole)
            targets = jnp.roll(tokens, -1, 1)

            def chunk(total: Any, number: Any) -> Any:
                part, wanted = (
                    jax.lax.dynamic_slice_in_dim(a, number * each, each, 1)
                    for a in (x, targets)
                )
                logits = jnp.dot(part, head, preferred_element_type=F32)
                chosen = jnp.take_along_axis(logits, wanted[..., None], -1)[..., 0]
                return total + (jax.nn.logsumexp(logits, -1) - chosen).sum(), None

            numbers = jnp.arange(length // each)
            total, _ = jax.lax.scan(jax.checkpoint(chunk), jnp.zeros(()), numbers)
            return total / (batch * length)

        weights = {
            "embed": wide(words, width),
            "head": wide(width, words),
            "blocks": {
                "gain": wide(depth, width),
                "gain_2": wide(depth, width),
                "qkv": wide(depth, width, 3 * width),
                "out": wide(depth, width, width),
                "up": wide(depth, width, 4 * width),
                "down": wide(depth, 4 * width, width),
            },
        }
        placed = {
            "embed": second,
            "head": first,
            "blocks": jax.tree.map(lambda _: second, weights["blocks"]),
        }

        def language_step(weights: Any, m: Any, v: Any, tokens: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(weights, tokens)
            grads = jax.tree.map(place, grads, placed)

            def mean(a: Any, g: Any) -> Any:
                return (0.9 * a.astype(F32) + 0.1 * g).astype(BF16)

            def moved(w: Any, a: Any, b: Any) -> Any:
                return w - 1e-3 * a.astype(F32) * jax.lax.rsqrt(b + 1e-16)

            m = jax.tree.map(mean, m, grads)
            v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
            return jax.tree.map(moved, weights, m, v), m, v, value

        state = sharded(weights, placed)
        means = jax.tree.map(lambda a: Shape(a.shape, BF16, sharding=a.sharding), state)
        tokens = Shape((batch, length), I32, sharding=first)
        options = {
            "donate_argnums": (0, 1, 2),
            "out_shardings": (placed, placed, placed, whole),
        }
        return (language_step, (state, means, state, tokens)), options

    return Program("v5e:2x2", build, (), {}, (4,))


FOURTH: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "transducer": (transducer, "chunked"),
    "speech_cache": (speech_cache, "placed"),
    "pair_stack": (pair_stack, "remat"),
    "pinn_hessian": (pinn_hessian, "scanned"),
    "sparse_table": (sparse_table, "rows"),
    "vision_adam": (vision_adam, "sharded"),
    "particle_filter": (particle_filter, "means"),
    "field_steps": (field_steps, None),
    "batched_decoder": (batched_decoder, None),
    "chunked_lm": (chunked_lm, None),
}
"""Each program, and its variant after the edit; None where nothing pays."""

"""Programs of several libraries, before and after the first edit an expert makes.

Each function takes the name of a variant, `base` or an edit, and returns a Program.
truth.json names the edits, written before any advice on the programs was read.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding, PartitionSpec

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
Shape = jax.ShapeDtypeStruct


@dataclass(frozen=True, slots=True)
class Program:
    """A function to compile; `platform` is cpu or the name of a TPU's topology."""

    platform: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    mesh: tuple[int, ...] = ()


def is_array(leaf: Any) -> bool:
    """Return whether a leaf of a model stands for an array."""
    return isinstance(leaf, Shape)


def sharded(tree: Any, places: Any) -> Any:
    """Return shapes with shardings; `places` is one for all, or a tree of them."""
    if not isinstance(places, dict | list | tuple):
        places = jax.tree.map(lambda _: places, tree)
    return jax.tree.map(lambda a, s: Shape(a.shape, a.dtype, sharding=s), tree, places)


# flax.linen


def unet(variant: str) -> Program:
    """Return a diffusion model of images, trained with Adam, unrolled."""
    from flax import linen as nn

    class Residual(nn.Module):
        width: int

        @nn.compact
        def __call__(self, x: Any, time: Any) -> Any:
            h = nn.silu(nn.GroupNorm(32, dtype=BF16)(x))
            h = nn.Conv(self.width, (3, 3), dtype=BF16)(h)
            h = h + nn.Dense(self.width, dtype=BF16)(time)[:, None, None]
            h = nn.silu(nn.GroupNorm(32, dtype=BF16)(h))
            h = nn.Conv(self.width, (3, 3), dtype=BF16)(h)
            if x.shape[-1] != self.width:
                x = nn.Conv(self.width, (1, 1), dtype=BF16)(x)
            return x + h

    block = nn.remat(Residual) if variant == "remat" else Residual

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any, time: Any) -> Any:
            x = nn.Conv(128, (3, 3), dtype=BF16)(x)
            kept = []
            for width in (128, 256, 256):
                x = block(width)(x, time)
                x = block(width)(x, time)
                kept.append(x)
                x = nn.avg_pool(x, (2, 2), (2, 2))
            for width in (256, 256, 128):
                x = jax.image.resize(
                    x,
                    (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], x.shape[3]),
                    "nearest",
                )
                x = jnp.concatenate([x, kept.pop()], -1)
                x = block(width)(x, time)
                x = block(width)(x, time)
            return nn.Conv(3, (3, 3), dtype=F32)(x)

    network, adam = Network(), optax.adam(1e-4)
    images, time = Shape((16, 128, 128, 3), F32), Shape((16, 256), F32)
    weights = jax.eval_shape(network.init, jax.random.key(0), images, time)
    moments = jax.eval_shape(adam.init, weights)

    def denoise_step(
        weights: Any, moments: Any, images: Any, noise: Any, time: Any
    ) -> Any:
        def loss(weights: Any) -> Any:
            guess = network.apply(weights, images + noise, time)
            return jnp.mean((guess - noise) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        updates, new = adam.update(grads, moments)
        return optax.apply_updates(weights, updates), new, value

    return Program(
        "v5e:2x2",
        denoise_step,
        (weights, moments, images, images, time),
        {"donate_argnums": (0, 1)},
    )


def ranker(variant: str) -> Program:
    """Return a recommender with large tables of embeddings, trained with Adagrad."""
    from flax import linen as nn

    class Ranker(nn.Module):
        @nn.compact
        def __call__(self, dense: Any, sparse: Any) -> Any:
            found = [nn.Embed(1_000_000, 64)(sparse[:, i]) for i in range(4)]
            x = jnp.concatenate([nn.Dense(64)(dense), *found], -1)
            for width in (1024, 512, 1):
                x = nn.Dense(width)(nn.relu(x))
            return x[:, 0]

    network, rule = Ranker(), optax.adagrad(0.01)
    dense, sparse = Shape((8192, 13), F32), Shape((8192, 4), I32)
    weights = jax.eval_shape(network.init, jax.random.key(0), dense, sparse)
    state = jax.eval_shape(rule.init, weights)

    def click_step(
        weights: Any, state: Any, dense: Any, sparse: Any, clicks: Any
    ) -> Any:
        def loss(weights: Any) -> Any:
            logits = network.apply(weights, dense, sparse)
            return optax.sigmoid_binary_cross_entropy(logits, clicks).mean()

        value, grads = jax.value_and_grad(loss)(weights)
        updates, state = rule.update(grads, state)
        return optax.apply_updates(weights, updates), state, value

    options = {"donate_argnums": (0, 1)} if variant == "donated" else {}
    arguments = (weights, state, dense, sparse, Shape((8192,), F32))
    return Program("v5e:2x2", click_step, arguments, options)


def mesh_clip(variant: str) -> Program:
    """Return two towers, data parallel on four chips, weights and Adam replicated."""
    from flax import linen as nn

    class Tower(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for _ in range(6):
                h = nn.LayerNorm(dtype=BF16)(x)
                h = nn.Dense(4096, dtype=BF16)(h)
                x = x + nn.Dense(1536, dtype=BF16)(nn.gelu(h))
            return nn.Dense(512, dtype=BF16)(x.mean(1))

    tower, adam = Tower(), optax.adamw(1e-3)

    def build(mesh: Any) -> tuple[Any, dict[str, Any]]:
        all_of, split = (
            NamedSharding(mesh, PartitionSpec()),
            NamedSharding(mesh, PartitionSpec("data")),
        )
        left = Shape((128, 64, 1536), BF16)
        one = jax.eval_shape(tower.init, jax.random.key(0), left)
        weights = {"image": one, "text": one}
        moments = jax.eval_shape(adam.init, weights)

        def place(leaf: Any) -> Any:
            if variant == "sharded" and leaf.ndim == 2 and leaf.shape[0] % 4 == 0:
                return split
            return all_of

        placed = jax.tree.map(place, moments)

        def contrast_step(weights: Any, moments: Any, left: Any, right: Any) -> Any:
            def loss(weights: Any) -> Any:
                a = tower.apply(weights["image"], left)
                b = tower.apply(weights["text"], right)
                logits = (a @ b.T).astype(F32)
                return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(logits)))

            value, grads = jax.value_and_grad(loss)(weights)
            updates, new = adam.update(grads, moments, weights)
            return optax.apply_updates(weights, updates), new, value

        arguments = (
            sharded(weights, all_of),
            jax.tree.map(
                lambda a, s: Shape(a.shape, a.dtype, sharding=s), moments, placed
            ),
            sharded(left, split),
            sharded(left, split),
        )
        options = {
            "donate_argnums": (0, 1),
            "out_shardings": (jax.tree.map(lambda _: all_of, weights), placed, all_of),
        }
        return (contrast_step, arguments), options

    return Program("v5e:2x2", build, (), {}, (4,))


# flax.nnx


def wide_vocabulary(variant: str) -> Program:
    """Return a language model whose logits are larger than all else."""
    from flax import nnx

    words, width, batch, length = 128_256, 1024, 4, 2048

    class Layer(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            make = partial(
                nnx.Linear, use_bias=False, dtype=BF16, param_dtype=BF16, rngs=rngs
            )
            self.norm = nnx.RMSNorm(width, dtype=BF16, rngs=rngs)
            self.mix, self.up, self.down = (
                make(width, width),
                make(width, 4096),
                make(4096, width),
            )

        def __call__(self, x: Any) -> Any:
            h = self.norm(x)
            h = jax.lax.associative_scan(jnp.add, self.mix(h), axis=1) / length
            return x + self.down(nnx.silu(self.up(x + h)))

    class Model(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.embed = nnx.Embed(
                words, width, dtype=BF16, param_dtype=BF16, rngs=rngs
            )
            self.layers = nnx.List([Layer(rngs) for _ in range(4)])

        def __call__(self, tokens: Any) -> Any:
            x = self.embed(tokens)
            for layer in self.layers:
                x = nnx.remat(lambda m, x: m(x))(layer, x)
            return x

    shape = nnx.eval_shape(lambda: Model(nnx.Rngs(0)))
    graph, weights = nnx.split(shape)
    rule = optax.sgd(1e-3)

    def entropy(x: Any, table: Any, targets: Any) -> Any:
        logits = (x @ table.T).astype(F32)
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).sum()

    def pretrain_step(weights: Any, tokens: Any) -> Any:
        def loss(weights: Any) -> Any:
            model = nnx.merge(graph, weights)
            x, targets = model(tokens[:, :-1]), tokens[:, 1:]
            table = model.embed.embedding[...]
            if variant != "chunked":
                return entropy(x, table, targets) / targets.size
            parts = jax.tree.map(
                lambda a: a.reshape(batch, 8, -1, *a.shape[2:]).swapaxes(0, 1),
                (x, targets),
            )
            one = jax.checkpoint(lambda part: entropy(part[0], table, part[1]))
            return jax.lax.map(one, parts).sum() / targets.size

        value, grads = jax.value_and_grad(loss)(weights)
        updates, _ = rule.update(grads, rule.init(weights))
        return optax.apply_updates(weights, updates), value

    tokens = Shape((batch, length + 1), I32)
    return Program("v6e:2x2", pretrain_step, (weights, tokens), {"donate_argnums": 0})


def prefill(variant: str) -> Program:
    """Return the first pass over prompts, with the logits of every position."""
    from flax import nnx

    words, width, batch, length, heads = 50_304, 1024, 8, 2048, 16

    class Layer(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            make = partial(
                nnx.Linear, use_bias=False, dtype=BF16, param_dtype=BF16, rngs=rngs
            )
            self.qkv, self.out = make(width, 3 * width), make(width, width)
            self.up, self.down = make(width, 4096), make(4096, width)

        def __call__(self, x: Any) -> Any:
            qkv = self.qkv(x).reshape(batch, length, 3, heads, -1)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
            one = lambda a: jax.nn.dot_product_attention(*a, is_causal=True)  # noqa: E731
            mixed = jax.lax.map(one, (q[:, None], k[:, None], v[:, None]))
            x = x + self.out(mixed.reshape(x.shape))
            return x + self.down(nnx.gelu(self.up(x))), (k, v)

    class Model(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.embed = nnx.Embed(
                words, width, dtype=BF16, param_dtype=BF16, rngs=rngs
            )
            self.layers = nnx.List([Layer(rngs) for _ in range(4)])

    shape = nnx.eval_shape(lambda: Model(nnx.Rngs(0)))
    graph, weights = nnx.split(shape)

    def prompt_pass(weights: Any, tokens: Any) -> Any:
        model = nnx.merge(graph, weights)
        x, cache = model.embed(tokens), []
        for layer in model.layers:
            x, pair = layer(x)
            cache.append(pair)
        if variant == "last":
            x = x[:, -1]
        return model.embed.attend(x).astype(F32), cache

    return Program("v6e:2x2", prompt_pass, (weights, Shape((batch, length), I32)))


# equinox


def recurrent(variant: str) -> Program:
    """Return an LSTM over long sequences, trained through time."""
    import equinox as eqx

    width, batch, length = 1024, 128, 1024
    make = lambda: eqx.nn.LSTMCell(width, width, key=jax.random.key(0))  # noqa: E731
    cell = eqx.filter_eval_shape(make)
    weights, rest = eqx.partition(cell, is_array)
    adam = optax.adam(1e-3)

    def forecast_step(weights: Any, moments: Any, series: Any) -> Any:
        def loss(weights: Any) -> Any:
            cell = eqx.combine(weights, rest)

            def body(state: Any, x: Any) -> Any:
                state = jax.vmap(cell)(x, state)
                return state, jnp.mean((state[0] - x) ** 2)

            body = jax.checkpoint(body) if variant == "remat" else body
            zeros = jnp.zeros((batch, width))
            return jax.lax.scan(body, (zeros, zeros), series)[1].mean()

        value, grads = jax.value_and_grad(loss)(weights)
        updates, new = adam.update(grads, moments)
        return eqx.apply_updates(weights, updates), new, value

    moments = jax.eval_shape(adam.init, weights)
    series = Shape((length, batch, width), F32)
    return Program(
        "v6e:2x2", forecast_step, (weights, moments, series), {"donate_argnums": (0, 1)}
    )


def restore(variant: str) -> Program:
    """Return the evaluation of restored images; the caller reads one number."""
    import equinox as eqx

    def make() -> Any:
        keys = jax.random.split(jax.random.key(0), 4)
        sizes = (3, 32, 32, 32, 3)
        return [
            eqx.nn.Conv2d(a, b, 3, padding=1, key=k)
            for a, b, k in zip(sizes, sizes[1:], keys, strict=False)
        ]

    layers = eqx.filter_eval_shape(make)
    weights, rest = eqx.partition(layers, is_array)

    def evaluate(weights: Any, broken: Any, sound: Any) -> Any:
        layers = eqx.combine(weights, rest)

        def one(pair: Any) -> Any:
            x, y = pair
            for layer in layers[:-1]:
                x = jax.nn.relu(layer(x))
            x = layers[-1](x)
            error = jnp.abs(x - y)
            return jnp.mean(error**2), x, error

        squares, images, errors = jax.lax.map(one, (broken, sound))
        ratio = -10 * jnp.log10(squares).mean()
        return ratio if variant == "mean" else (ratio, images, errors)

    images = Shape((512, 3, 256, 256), F32)
    return Program("cpu", evaluate, (weights, images, images))


def reference_model(variant: str) -> Program:
    """Return preference training beside a frozen model in f32."""
    import equinox as eqx

    words, width, depth, batch, length = 32_000, 2048, 12, 2, 512

    def make(kind: Any) -> Any:
        block = {
            "mix": jnp.zeros((depth, width, width), kind),
            "up": jnp.zeros((depth, width, 4 * width), kind),
            "down": jnp.zeros((depth, 4 * width, width), kind),
        }
        return {"embed": jnp.zeros((words, width), kind), "blocks": block}

    policy = eqx.filter_eval_shape(make, BF16)
    frozen = eqx.filter_eval_shape(make, BF16 if variant == "narrow" else F32)

    @jax.checkpoint
    def block(x: Any, w: Any) -> Any:
        mean = jnp.cumsum(x.astype(F32), 1).astype(BF16) / length
        x = x + mean @ w["mix"].astype(BF16)
        return x + jax.nn.gelu(x @ w["up"].astype(BF16)) @ w["down"].astype(BF16), None

    def likelihood(model: Any, tokens: Any) -> Any:
        x = model["embed"].astype(BF16)[tokens[:, :-1]]
        x, _ = jax.lax.scan(block, x, model["blocks"])
        logits = (x @ model["embed"].astype(BF16).T).astype(F32)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
        return -loss.sum(-1)

    def preference_step(policy: Any, frozen: Any, good: Any, bad: Any) -> Any:
        def loss(policy: Any) -> Any:
            won = likelihood(policy, good) - likelihood(frozen, good)
            lost = likelihood(policy, bad) - likelihood(frozen, bad)
            return -jax.nn.log_sigmoid(0.1 * (won - lost)).mean()

        value, grads = eqx.filter_value_and_grad(loss)(policy)
        return jax.tree.map(lambda p, g: p - 1e-6 * g, policy, grads), value

    tokens = Shape((batch, length + 1), I32)
    return Program(
        "v5e:2x2",
        preference_step,
        (policy, frozen, tokens, tokens),
        {"donate_argnums": 0},
    )


# haiku


def one_hot(variant: str) -> Program:
    """Return a classifier of texts that looks words up by one-hot products."""
    import haiku as hk

    style = "ARRAY_INDEX" if variant == "take" else "ONE_HOT"

    def forward(tokens: Any) -> Any:
        x = hk.Embed(30_522, 256, lookup_style=style)(tokens)
        return hk.Linear(8)(jax.nn.relu(hk.Linear(256)(x)).mean(1))

    network, rule = hk.transform(forward), optax.sgd(0.1)
    tokens, labels = Shape((64, 256), I32), Shape((64,), I32)
    weights = jax.eval_shape(network.init, jax.random.key(0), tokens)

    def text_step(weights: Any, tokens: Any, labels: Any) -> Any:
        def loss(weights: Any) -> Any:
            logits = network.apply(weights, None, tokens)
            return optax.softmax_cross_entropy_with_integer_labels(
                logits, labels
            ).mean()

        value, grads = jax.value_and_grad(loss)(weights)
        updates, _ = rule.update(grads, rule.init(weights))
        return optax.apply_updates(weights, updates), value

    return Program("cpu", text_step, (weights, tokens, labels), {"donate_argnums": 0})


def private_gradients(variant: str) -> Program:
    """Return training with a clipped gradient of every example."""
    import haiku as hk

    def forward(images: Any) -> Any:
        x = jax.nn.relu(hk.Conv2D(32, 3, 2)(images))
        x = jax.nn.relu(hk.Conv2D(64, 3, 2)(x))
        return hk.nets.MLP([512, 10])(hk.Flatten()(x))

    network = hk.transform(forward)
    images, labels = Shape((256, 32, 32, 3), F32), Shape((256,), I32)
    weights = jax.eval_shape(network.init, jax.random.key(0), images)

    def private_step(weights: Any, images: Any, labels: Any) -> Any:
        def clipped(image: Any, label: Any) -> Any:
            def loss(weights: Any) -> Any:
                logits = network.apply(weights, None, image[None])[0]
                return optax.softmax_cross_entropy_with_integer_labels(logits, label)

            grads = jax.grad(loss)(weights)
            scale = jnp.minimum(1, 1 / optax.global_norm(grads))
            return jax.tree.map(lambda g: g * scale, grads)

        if variant == "chunked":

            def add(total: Any, part: Any) -> Any:
                grads = jax.vmap(clipped)(*part)
                return jax.tree.map(lambda t, g: t + g.sum(0), total, grads), None

            parts = jax.tree.map(
                lambda a: a.reshape(16, 16, *a.shape[1:]), (images, labels)
            )
            zeros = jax.tree.map(jnp.zeros_like, weights)
            total, _ = jax.lax.scan(add, zeros, parts)
        else:
            grads = jax.vmap(clipped)(images, labels)
            total = jax.tree.map(lambda g: g.sum(0), grads)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, total)

    return Program(
        "cpu", private_step, (weights, images, labels), {"donate_argnums": 0}
    )


# diffrax, numpyro


def orbit(variant: str) -> Program:
    """Return an integration that keeps every step and returns the last."""
    import diffrax

    def field_of(time: Any, state: Any, mass: Any) -> Any:
        place, speed = state
        pull = (
            -place * mass[:, None] / (1 + jnp.sum(place**2, -1, keepdims=True)) ** 1.5
        )
        return speed, pull

    def integrate(place: Any, speed: Any, mass: Any) -> Any:
        saved = (
            diffrax.SaveAt(t1=True)
            if variant == "last"
            else diffrax.SaveAt(ts=jnp.linspace(0, 10, 1000))
        )
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(field_of),
            diffrax.Tsit5(),
            0.0,
            10.0,
            0.01,
            (place, speed),
            mass,
            saveat=saved,
            max_steps=4096,
        )
        assert found.ys is not None
        return found.ys[0][-1], found.ys[1][-1]

    place = Shape((32_768, 3), F32)
    return Program("cpu", integrate, (place, place, Shape((32_768,), F32)))


def posterior(variant: str) -> Program:
    """Return draws of a regression, each with all of its latent variables."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import HMC
    from numpyro.infer.util import initialize_model

    groups = 100_000

    def model(x: Any, y: Any) -> None:
        scale = numpyro.sample("scale", dist.HalfNormal(1.0))
        with numpyro.plate("groups", groups):
            slope = numpyro.sample("slope", dist.Normal(0, scale))
            numpyro.sample("y", dist.Normal(slope * x, 1.0), obs=y)

    def draw(key: Any, x: Any, y: Any) -> Any:
        info = initialize_model(key, model, model_args=(x, y), validate_grad=False)
        kernel = HMC(potential_fn=info.potential_fn, num_steps=8)
        state = kernel.init(key, 0, info.param_info, model_args=(), model_kwargs={})

        def body(state: Any, _: Any) -> Any:
            state = kernel.sample(state, (), {})
            if variant == "thin":
                return state, state.z["scale"]
            return state, state.z

        return jax.lax.scan(body, state, None, length=4000)[1]

    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    return Program("cpu", draw, (key, Shape((groups,), F32), Shape((groups,), F32)))


# JAX alone


def process(variant: str) -> Program:
    """Return hyperparameters of a Gaussian process, a step of gradient descent."""

    def kernel(scales: Any, x: Any) -> Any:
        x = x / jnp.exp(scales)
        if variant == "products":
            norms = jnp.sum(x * x, -1)
            squares = norms[:, None] + norms[None] - 2 * x @ x.T
        else:
            squares = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        return jnp.exp(-0.5 * squares)

    def evidence(scales: Any, x: Any, y: Any) -> Any:
        matrix = kernel(scales, x) + 0.01 * jnp.eye(x.shape[0])
        factor = jnp.linalg.cholesky(matrix)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return 0.5 * z @ z + jnp.log(jnp.diagonal(factor)).sum()

    def hyper_step(scales: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(evidence)(scales, x, y)
        return scales - 0.01 * grads, value

    size, width = 4096, 24
    return Program(
        "cpu",
        hyper_step,
        (Shape((width,), F32), Shape((size, width), F32), Shape((size,), F32)),
    )


def transport(variant: str) -> Program:
    """Return the gradient of a distance by Sinkhorn's iterations."""

    def iterate(cost: Any, state: Any, _: Any) -> Any:
        f, g = state
        f = -jax.nn.logsumexp(g[None] - cost, 1)
        g = -jax.nn.logsumexp(f[:, None] - cost, 0)
        return (f, g), None

    def distance(x: Any, y: Any) -> Any:
        cost = jnp.sum(x * x, -1)[:, None] + jnp.sum(y * y, -1)[None] - 2 * x @ y.T
        body = partial(iterate, cost)
        body = jax.checkpoint(body) if variant == "remat" else body
        zeros = jnp.zeros(x.shape[0])
        (f, g), _ = jax.lax.scan(body, (zeros, zeros), None, length=100)
        return f.mean() + g.mean()

    def move(x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(distance)(x, y)
        return x - 0.1 * grads, value

    cloud = Shape((2048, 8), F32)
    return Program("cpu", move, (cloud, cloud), {"donate_argnums": 0})


def smoother(variant: str) -> Program:
    """Return a Kalman filter that returns every covariance; means are plotted."""
    size, steps = 256, 2000

    def filtered(move: Any, look: Any, noise: Any, seen: Any) -> Any:
        def body(state: Any, y: Any) -> Any:
            mean, cov = state
            mean, cov = move @ mean, move @ cov @ move.T + noise
            spread = look @ cov @ look.T + jnp.eye(look.shape[0])
            gain = jax.scipy.linalg.solve(spread, look @ cov, assume_a="pos").T
            mean, cov = mean + gain @ (y - look @ mean), cov - gain @ look @ cov
            kept = mean if variant == "means" else (mean, cov)
            return (mean, cov), kept

        start = jnp.zeros(size), jnp.eye(size)
        return jax.lax.scan(body, start, seen)[1]

    square = Shape((size, size), F32)
    arguments = (square, Shape((64, size), F32), square, Shape((steps, 64), F32))
    return Program("cpu", filtered, arguments)


def long_attention(variant: str) -> Program:
    """Return an encoder of long texts whose scores are made whole."""
    batch, length, heads, width = 2, 8192, 16, 1024

    def attend(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) / 8
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(BF16), v)

    def encode(weights: Any, x: Any) -> Any:
        for layer in weights:
            qkv = (x @ layer["qkv"]).reshape(batch, length, 3, heads, -1)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
            if variant == "chunked":
                parts = q.reshape(batch, 16, -1, heads, width // heads).swapaxes(0, 1)
                mixed = jax.lax.map(
                    lambda part, k=k, v=v: attend(part, k, v), parts
                ).swapaxes(0, 1)
            else:
                mixed = attend(q, k, v)
            x = x + mixed.reshape(x.shape) @ layer["out"]
            x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
        return x.mean(1)

    layer = {
        "qkv": Shape((width, 3 * width), BF16),
        "out": Shape((width, width), BF16),
        "up": Shape((width, 4 * width), BF16),
        "down": Shape((4 * width, width), BF16),
    }
    return Program(
        "v6e:2x2", encode, ([layer] * 4, Shape((batch, length, width), BF16))
    )


def galaxy(variant: str) -> Program:
    """Return a simulation that returns the places of all bodies at each step."""

    def step(mass: Any, state: Any, _: Any) -> Any:
        place, speed = state
        grid = jnp.floor(place * 16).astype(I32) % 64
        cells = jnp.zeros((64, 64, 64)).at[grid[:, 0], grid[:, 1], grid[:, 2]].add(mass)
        pull = jnp.stack(jnp.gradient(cells), -1)[grid[:, 0], grid[:, 1], grid[:, 2]]
        speed = speed + 0.01 * pull
        place = place + 0.01 * speed
        return (place, speed), None if variant == "last" else place

    def simulate(place: Any, speed: Any, mass: Any) -> Any:
        return jax.lax.scan(partial(step, mass), (place, speed), None, length=1500)

    place = Shape((131_072, 3), F32)
    return Program(
        "cpu",
        simulate,
        (place, place, Shape((131_072,), F32)),
        {"donate_argnums": (0, 1)},
    )


# Well tuned


def tuned_language_model(_: str) -> Program:
    """Return a sharded model, recomputed in a scan, with its loss in chunks."""
    words, width, depth, batch, length = 32_000, 2048, 16, 16, 1024
    adam = optax.adamw(1e-4)

    def build(mesh: Any) -> Any:
        place = lambda *names: NamedSharding(mesh, PartitionSpec(*names))  # noqa: E731
        shapes = {
            "embed": Shape((words, width), F32, sharding=place("data")),
            "up": Shape((depth, width, 4 * width), F32, sharding=place(None, "data")),
            "down": Shape((depth, 4 * width, width), F32, sharding=place(None, "data")),
        }
        where = {name: leaf.sharding for name, leaf in shapes.items()}
        state = jax.eval_shape(adam.init, shapes)
        state = (
            state[0]._replace(
                count=Shape((), I32, sharding=place()), mu=shapes, nu=shapes
            ),
            *state[1:],
        )

        @jax.checkpoint
        def layer(x: Any, w: Any) -> Any:
            h = x * jax.lax.rsqrt(
                jnp.mean(x.astype(F32) ** 2, -1, keepdims=True)
            ).astype(BF16)
            return x + jax.nn.gelu(h @ w["up"].astype(BF16)) @ w["down"].astype(
                BF16
            ), None

        @jax.checkpoint
        def entropy(table: Any, part: Any) -> Any:
            logits = (part[0] @ table.T).astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(
                logits, part[1]
            ).sum()

        def train_step(weights: Any, state: Any, tokens: Any) -> Any:
            def loss(weights: Any) -> Any:
                table = weights["embed"].astype(BF16)
                x = table[tokens[:, :-1]]
                blocks = {name: weights[name] for name in ("up", "down")}
                x, _ = jax.lax.scan(layer, x, blocks)
                parts = jax.tree.map(
                    lambda a: a.reshape(batch, 16, -1, *a.shape[2:]).swapaxes(0, 1),
                    (x, tokens[:, 1:]),
                )
                losses = jax.lax.map(partial(entropy, table), parts)
                return losses.sum() / tokens.size

            value, grads = jax.value_and_grad(loss)(weights)
            updates, new = adam.update(grads, state, weights)
            return optax.apply_updates(weights, updates), new, value

        tokens = Shape((batch, length + 1), I32, sharding=place("data"))
        placed = jax.tree.map(lambda leaf: leaf.sharding, state)
        options = {"donate_argnums": (0, 1), "out_shardings": (where, placed, place())}
        return (train_step, (shapes, state, tokens)), options

    return Program("v5e:2x2", build, (), {}, (4,))


def tuned_decoder(_: str) -> Program:
    """Return a step of generation whose cache is donated."""
    words, width, heads, depth, batch, length = 32_000, 2048, 16, 16, 16, 2048

    def generate(weights: Any, cache: Any, token: Any, place: Any) -> Any:
        x = weights["embed"][token]
        new = []
        for layer, (keys, values) in zip(weights["layers"], cache, strict=True):
            qkv = (x @ layer["qkv"]).reshape(batch, 3, heads, -1)
            keys = jax.lax.dynamic_update_slice(
                keys, qkv[:, 1, :, None], (0, 0, place, 0)
            )
            values = jax.lax.dynamic_update_slice(
                values, qkv[:, 2, :, None], (0, 0, place, 0)
            )
            scores = jnp.einsum("bhd,bhtd->bht", qkv[:, 0], keys).astype(F32)
            scores = jnp.where(jnp.arange(length) <= place, scores, -1e9)
            mixed = jnp.einsum(
                "bht,bhtd->bhd", jax.nn.softmax(scores).astype(BF16), values
            )
            x = x + mixed.reshape(batch, width) @ layer["out"]
            x = x + jax.nn.silu(x @ layer["up"]) @ layer["down"]
            new.append((keys, values))
        return jnp.argmax(x @ weights["embed"].T, -1).astype(I32), new

    layer = {
        "qkv": Shape((width, 3 * width), BF16),
        "out": Shape((width, width), BF16),
        "up": Shape((width, 4 * width), BF16),
        "down": Shape((4 * width, width), BF16),
    }
    one = Shape((batch, heads, length, width // heads), BF16)
    weights = {"embed": Shape((words, width), BF16), "layers": [layer] * depth}
    arguments = (weights, [(one, one)] * depth, Shape((batch,), I32), Shape((), I32))
    return Program("v5e:2x2", generate, arguments, {"donate_argnums": 1})


def tuned_heat(_: str) -> Program:
    """Return heat in a cube: the state is replaced in place."""

    def simulate(heat: Any, speed: Any) -> Any:
        def body(_: Any, heat: Any) -> Any:
            near = reduce(
                operator.add, (jnp.roll(heat, s, a) for a in range(3) for s in (1, -1))
            )
            return heat + speed * (near - 6 * heat)

        return jax.lax.fori_loop(0, 1000, body, heat)

    cube = Shape((512, 512, 512), F32)
    return Program("cpu", simulate, (cube, cube), {"donate_argnums": 0})


def tuned_solver(_: str) -> Program:
    """Return conjugate gradients: the matrix is all that there is."""

    def solve(matrix: Any, right: Any) -> Any:
        return jax.scipy.sparse.linalg.cg(lambda x: matrix @ x, right, maxiter=200)[0]

    return Program("cpu", solve, (Shape((16_384, 16_384), F32), Shape((16_384,), F32)))


def tuned_network(_: str) -> Program:
    """Return a network of flax that classifies one image at a time."""
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for width in (64, 128, 256, 512):
                x = nn.relu(
                    nn.Conv(width, (3, 3), (2, 2), dtype=BF16, param_dtype=BF16)(x)
                )
                y = nn.relu(nn.Conv(width, (3, 3), dtype=BF16, param_dtype=BF16)(x))
                x = x + nn.Conv(width, (3, 3), dtype=BF16, param_dtype=BF16)(y)
            return nn.Dense(1000, dtype=BF16, param_dtype=BF16)(x.mean((1, 2)))

    network, image = Network(), Shape((1, 224, 224, 3), BF16)
    weights = jax.eval_shape(network.init, jax.random.key(0), image)

    def classify(weights: Any, image: Any) -> Any:
        return jax.nn.softmax(network.apply(weights, image).astype(F32))

    return Program("v6e:2x2", classify, (weights, image))


def tuned_adapters(_: str) -> Program:
    """Return adapters of a frozen model in bf16, recomputed in a scan."""
    import haiku as hk

    width, depth, batch, length, rank = 4096, 24, 4, 1024, 16

    def forward(frozen: Any, x: Any) -> Any:
        @jax.checkpoint
        def layer(x: Any, w: Any) -> Any:
            base, low, high = w
            h = x * jax.lax.rsqrt(
                jnp.mean(x.astype(F32) ** 2, -1, keepdims=True)
            ).astype(BF16)
            return x + jax.nn.gelu(h @ base + (h @ low) @ high), None

        low = hk.get_parameter("low", (depth, width, rank), BF16, jnp.zeros)
        high = hk.get_parameter("high", (depth, rank, width), BF16, jnp.zeros)
        return jax.lax.scan(layer, x, (frozen, low, high))[0]

    network, adam = hk.transform(forward), optax.adam(1e-4)
    frozen, x = Shape((depth, width, width), BF16), Shape((batch, length, width), BF16)
    adapters = jax.eval_shape(network.init, jax.random.key(0), frozen, x)
    moments = jax.eval_shape(adam.init, adapters)

    def adapt_step(adapters: Any, moments: Any, frozen: Any, x: Any, y: Any) -> Any:
        def loss(adapters: Any) -> Any:
            error = network.apply(adapters, None, frozen, x) - y
            return jnp.mean(error.astype(F32) ** 2)

        value, grads = jax.value_and_grad(loss)(adapters)
        updates, new = adam.update(grads, moments)
        return optax.apply_updates(adapters, updates), new, value

    return Program(
        "v5e:2x2",
        adapt_step,
        (adapters, moments, frozen, x, x),
        {"donate_argnums": (0, 1)},
    )


def tuned_simulation(_: str) -> Program:
    """Return a shallow-water simulation by diffrax that keeps the last state alone."""
    import diffrax

    def field_of(time: Any, state: Any, _: Any) -> Any:
        height, u, v = state
        slope = lambda a, axis: 0.5 * (jnp.roll(a, -1, axis) - jnp.roll(a, 1, axis))  # noqa: E731
        return (
            -slope(height * u, 0) - slope(height * v, 1),
            -slope(height, 0) - u * slope(u, 0) - v * slope(u, 1),
            -slope(height, 1) - u * slope(v, 0) - v * slope(v, 1),
        )

    def simulate(state: Any) -> Any:
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(field_of),
            diffrax.Euler(),
            0.0,
            1.0,
            1e-3,
            state,
            saveat=diffrax.SaveAt(t1=True),
            max_steps=2048,
        )
        assert found.ys is not None
        return jax.tree.map(lambda a: a[0], found.ys)

    square = Shape((2048, 2048), F32)
    return Program("cpu", simulate, ((square, square, square),), {"donate_argnums": 0})


PROGRAMS: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "unet": (unet, "remat"),
    "ranker": (ranker, "donated"),
    "mesh_clip": (mesh_clip, "sharded"),
    "wide_vocabulary": (wide_vocabulary, "chunked"),
    "prefill": (prefill, "last"),
    "recurrent": (recurrent, "remat"),
    "restore": (restore, "mean"),
    "reference_model": (reference_model, "narrow"),
    "one_hot": (one_hot, "take"),
    "private_gradients": (private_gradients, "chunked"),
    "orbit": (orbit, "last"),
    "posterior": (posterior, "thin"),
    "process": (process, "products"),
    "transport": (transport, "remat"),
    "smoother": (smoother, "means"),
    "long_attention": (long_attention, "chunked"),
    "galaxy": (galaxy, "last"),
    "tuned_language_model": (tuned_language_model, None),
    "tuned_decoder": (tuned_decoder, None),
    "tuned_heat": (tuned_heat, None),
    "tuned_solver": (tuned_solver, None),
    "tuned_network": (tuned_network, None),
    "tuned_adapters": (tuned_adapters, None),
    "tuned_simulation": (tuned_simulation, None),
}
"""Each program, and its variant after the edit; None where nothing pays."""

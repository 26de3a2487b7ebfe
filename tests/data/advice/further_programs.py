"""More programs of libraries, before and after the first edit an expert makes.

As in programs.py, which knows none of these libraries.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding, PartitionSpec
from programs import BF16, F32, I32, Program, Shape, sharded

os.environ.setdefault("KERAS_BACKEND", "jax")


def shapes_of(tree: Any) -> Any:
    """Return shapes in place of arrays."""
    return jax.tree.map(lambda a: Shape(a.shape, a.dtype), tree)


def copied(tree: Any, kind: Any) -> Any:
    """Return shapes with another type."""
    return jax.tree.map(lambda a: Shape(a.shape, kind), tree)


# keras


def keras_step(model: Any, rule: Any, loss_of: Callable[..., Any]) -> Any:
    """Return a step of training, and the shapes of what it trains."""
    rule.build(model.trainable_variables)
    trained = [v.value for v in model.trainable_variables]
    fixed = [v.value for v in model.non_trainable_variables]
    state = [v.value for v in rule.variables]

    def step(trained: Any, fixed: Any, state: Any, x: Any, y: Any) -> Any:
        def loss(trained: Any) -> Any:
            found, fresh = model.stateless_call(trained, fixed, x, training=True)
            return loss_of(y, found), fresh

        (value, fresh), grads = jax.value_and_grad(loss, has_aux=True)(trained)
        trained, state = rule.stateless_apply(state, grads, trained)
        return trained, fresh, state, value

    return step, shapes_of((trained, fixed, state))


def keras_tagger(variant: str) -> Program:
    """Return a tagger of words with large embeddings, trained with Adam."""
    import keras

    words = keras.Input((256,), dtype="int32")
    x = keras.layers.Embedding(200_000, 512)(words)
    for _ in range(4):
        h = keras.layers.LayerNormalization()(x)
        h = keras.layers.Dense(2048, activation="gelu")(h)
        x = x + keras.layers.Dense(512)(h)
    model = keras.Model(words, keras.layers.Dense(64)(x))
    entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    step, state = keras_step(model, keras.optimizers.Adam(1e-3), entropy)

    def tagging_step(*arguments: Any) -> Any:
        return step(*arguments)

    tokens = Shape((64, 256), I32)
    options = {"donate_argnums": (0, 1, 2)} if variant == "donated" else {}
    return Program("v5e:2x2", tagging_step, (*state, tokens, tokens), options)


def keras_residual(variant: str) -> Program:
    """Return a network of residual blocks on large images, unrolled."""
    import keras

    def block(x: Any) -> Any:
        h = keras.layers.GroupNormalization(16)(x)
        h = keras.layers.Conv2D(64, 3, padding="same", activation="silu")(h)
        h = keras.layers.GroupNormalization(16)(h)
        h = keras.layers.Conv2D(64, 3, padding="same")(h)
        return keras.layers.Add()([x, keras.layers.Activation("silu")(h)])

    class Remat(keras.layers.Layer):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def call(self, x: Any) -> Any:
            return keras.remat(self.inner)(x) if variant == "remat" else self.inner(x)

    images = keras.Input((256, 256, 3))
    x = keras.layers.Conv2D(64, 3, padding="same")(images)
    for _ in range(8):
        one = keras.Input((256, 256, 64))
        x = Remat(keras.Model(one, block(one)))(x)
    model = keras.Model(images, keras.layers.Conv2D(3, 3, padding="same")(x))
    loss = keras.losses.MeanSquaredError()
    step, state = keras_step(model, keras.optimizers.AdamW(1e-3), loss)

    def denoising_step(*arguments: Any) -> Any:
        return step(*arguments)

    pictures = Shape((8, 256, 256, 3), F32)
    return Program(
        "v6e:2x2",
        denoising_step,
        (*state, pictures, pictures),
        {"donate_argnums": (0, 1, 2)},
    )


def keras_recommender(variant: str) -> Program:
    """Return two towers on eight hosts' devices, moments of Adam on each."""
    import keras

    ids = keras.Input((32,), dtype="int32")
    x = keras.layers.Embedding(65_536, 256)(ids)
    x = keras.layers.GlobalAveragePooling1D()(x)
    for width in (1024, 1024, 256):
        x = keras.layers.Dense(width, activation="relu")(x)
    model = keras.Model(ids, keras.layers.Dense(1)(x))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    step, state = keras_step(model, keras.optimizers.Adam(1e-3), loss)

    def build(mesh: Any) -> Any:
        whole, split = (
            NamedSharding(mesh, PartitionSpec()),
            NamedSharding(mesh, PartitionSpec("data")),
        )
        trained, fixed, moments = state

        def place(a: Any) -> Any:
            is_split = variant == "sharded" and a.ndim == 2 and a.shape[0] % 8 == 0
            return split if is_split else whole

        places = [place(a) for a in moments]
        arguments = (
            sharded(trained, whole),
            sharded(fixed, whole),
            [
                Shape(a.shape, a.dtype, sharding=p)
                for a, p in zip(moments, places, strict=False)
            ],
            sharded(Shape((4096, 32), I32), split),
            sharded(Shape((4096, 1), F32), split),
        )
        results = ([whole] * len(trained), [whole] * len(fixed), places, whole)

        def matching_step(*arguments: Any) -> Any:
            return step(*arguments)

        options = {"donate_argnums": (0, 1, 2), "out_shardings": results}
        return (matching_step, arguments), options

    return Program("cpu", build, (), {}, (8,))


# haliax


def haliax_axes() -> Any:
    import haliax as hax

    make = lambda **sizes: [hax.Axis(n, s) for n, s in sizes.items()]  # noqa: E731
    return make(batch=32, position=1024, embed=2048, mlp=8192, vocab=32_768, layers=16)


def haliax_decoder(variant: str, is_tuned: bool = False) -> Program:
    """Return a language model with stacked layers over sixteen chips."""
    import haliax as hax

    batch, position, embed, mlp, vocab, layers = haliax_axes()

    def named(array: Any, *axes: Any) -> Any:
        return hax.NamedArray(array, axes)

    def block(x: Any, weights: Any) -> Any:
        up, gate, down, mix = weights
        h = hax.nn.layer_norm if False else (lambda a: a)
        x = h(x)
        past = hax.named(jnp.cumsum(x.array.astype(F32), 1).astype(BF16), x.axes)
        other = embed.alias("other")
        mixed = hax.dot(past, named(mix, embed, other), axis=embed)
        x = x + mixed.rename({"other": "embed"})
        a = hax.dot(x, named(up, embed, mlp), axis=embed)
        b = hax.nn.silu(hax.dot(x, named(gate, embed, mlp), axis=embed))
        return x + hax.dot(a * b, named(down, mlp, embed), axis=mlp), None

    body = jax.checkpoint(block) if variant == "remat" else block
    sizes = {
        "table": (vocab.size, embed.size),
        "up": (layers.size, embed.size, mlp.size),
        "gate": (layers.size, embed.size, mlp.size),
        "down": (layers.size, mlp.size, embed.size),
        "mix": (layers.size, embed.size, embed.size),
    }

    def build(mesh: Any) -> Any:
        split = NamedSharding(mesh, PartitionSpec("data"))
        rows = {
            name: NamedSharding(
                mesh, PartitionSpec(*[None] * (len(size) - 2), "data", None)
            )
            for name, size in sizes.items()
        }
        weights = {
            name: Shape(size, F32, sharding=rows[name]) for name, size in sizes.items()
        }

        def train_step(weights: Any, mu: Any, nu: Any, tokens: Any) -> Any:
            def loss(weights: Any) -> Any:
                w = jax.tree.map(lambda a: a.astype(BF16), weights)
                table = named(w["table"], vocab, embed)
                x = table.take(vocab, named(tokens, batch, position))
                x, _ = jax.lax.scan(body, x, (w["up"], w["gate"], w["down"], w["mix"]))
                x = jax.lax.with_sharding_constraint(x.array, split)
                targets = jnp.roll(tokens, -1, 1)

                def part(pair: Any) -> Any:
                    logits = (pair[0] @ w["table"].T).astype(F32)
                    return optax.softmax_cross_entropy_with_integer_labels(
                        logits, pair[1]
                    ).sum()

                parts = jax.tree.map(
                    lambda a: a.reshape(batch.size, 8, -1, *a.shape[2:]).swapaxes(0, 1),
                    (x, targets),
                )
                return jax.lax.map(jax.checkpoint(part), parts).sum() / tokens.size

            value, grads = jax.value_and_grad(loss)(weights)
            mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
            nu = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, nu, grads)
            weights = jax.tree.map(
                lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, mu, nu
            )
            return weights, mu, nu, value

        tokens = Shape((batch.size, position.size), I32, sharding=split)
        whole = NamedSharding(mesh, PartitionSpec())
        options = {
            "donate_argnums": (0, 1, 2),
            "out_shardings": (rows, rows, rows, whole),
        }
        return (train_step, (weights, weights, weights, tokens)), options

    return Program("v5e:4x4", build, (), {}, (16,))


def haliax_table(variant: str) -> Program:
    """Return a model over 64 chips whose table of words is on each."""
    import haliax as hax

    batch, position = hax.Axis("batch", 512), hax.Axis("position", 512)
    embed, vocab = hax.Axis("embed", 1024), hax.Axis("vocab", 262_144)

    def build(mesh: Any) -> Any:
        split = NamedSharding(mesh, PartitionSpec("data"))
        whole = NamedSharding(mesh, PartitionSpec())
        place = split if variant == "sharded" else whole
        table = Shape((vocab.size, embed.size), F32, sharding=place)
        head = Shape((embed.size, embed.size), F32, sharding=whole)
        weights = {"table": table, "head": head}
        rule = optax.adagrad(0.1)
        state = shapes_of(jax.eval_shape(rule.init, weights))
        places = {"table": place, "head": whole}
        state = jax.tree.map(
            lambda a: Shape(
                a.shape, a.dtype, sharding=place if a.shape == table.shape else whole
            ),
            state,
        )

        def retrieval_step(weights: Any, state: Any, left: Any, right: Any) -> Any:
            def loss(weights: Any) -> Any:
                table = hax.named(weights["table"], (vocab, embed))

                def side(ids: Any) -> Any:
                    found = table.take(vocab, hax.named(ids, (batch, position)))
                    mean = hax.mean(found, position).array
                    return mean @ weights["head"]

                logits = side(left) @ side(right).T
                return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(logits)))

            value, grads = jax.value_and_grad(loss)(weights)
            updates, new = rule.update(grads, state, weights)
            return optax.apply_updates(weights, updates), new, value

        ids = Shape((batch.size, position.size), I32, sharding=split)
        options = {
            "donate_argnums": (0, 1),
            "out_shardings": (
                places,
                jax.tree.map(lambda a: a.sharding, state),
                whole,
            ),
        }
        return (retrieval_step, (weights, state, ids, ids)), options

    return Program("v5e:8x8", build, (), {}, (64,))


# jraph


def jraph_mesh(variant: str) -> Program:
    """Return message passing over a large mesh, six steps unrolled."""
    import jraph

    nodes, edges, width = 60_000, 360_000, 128

    def mlp(w: Any, x: Any) -> Any:
        return jax.nn.silu(x @ w[0]) @ w[1]

    def propagate(w: Any, graph: Any) -> Any:
        def added(name: str) -> Any:
            return lambda *a: a[0] + mlp(w[name], jnp.concatenate(a, -1))

        network = jraph.InteractionNetwork(added("edge"), added("node"))
        return network(graph)

    def flow_step(weights: Any, x: Any, e: Any, ends: Any, goal: Any) -> Any:
        def loss(weights: Any) -> Any:
            count = jnp.array([nodes]), jnp.array([edges])
            graph = jraph.GraphsTuple(x, e, ends[1], ends[0], None, *count)
            one = jax.checkpoint(propagate) if variant == "remat" else propagate
            for w in weights:
                graph = one(w, graph)
            return jnp.mean((graph.nodes - goal) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads), value

    layer = {
        "edge": [Shape((3 * width, width), F32), Shape((width, width), F32)],
        "node": [Shape((2 * width, width), F32), Shape((width, width), F32)],
    }
    arguments = (
        [layer] * 6,
        Shape((nodes, width), F32),
        Shape((edges, width), F32),
        Shape((2, edges), I32),
        Shape((nodes, width), F32),
    )
    return Program("v5e:2x2", flow_step, arguments, {"donate_argnums": 0})


def jraph_attention(variant: str) -> Program:
    """Return the attention of a graph, of which the caller reads the classes alone."""
    import jraph

    nodes, edges, heads, width = 100_000, 2_000_000, 8, 32

    def classify(weights: Any, x: Any, ends: Any) -> Any:
        kept = []
        for w in weights:
            h = (x @ w["in"]).reshape(nodes, heads, width)
            sent, received = h[ends[0]], h[ends[1]]
            logits = jnp.sum(jnp.tanh(sent + received) * w["key"], -1)
            share = jraph.segment_softmax(logits, ends[1], nodes)
            kept.append((share, logits))
            mixed = jraph.segment_sum(sent * share[..., None], ends[1], nodes)
            x = jax.nn.elu(mixed.reshape(nodes, heads * width))
        classes = jnp.argmax(x[:, :40], -1)
        return classes if variant == "classes" else (classes, kept)

    layer = {
        "in": Shape((heads * width, heads * width), F32),
        "key": Shape((heads, width), F32),
    }
    return Program(
        "cpu",
        classify,
        ([layer] * 3, Shape((nodes, heads * width), F32), Shape((2, edges), I32)),
    )


# e3nn_jax


def e3nn_forces(variant: str) -> Program:
    """Return forces of a batch of molecules, edge by edge."""
    import e3nn_jax as e3nn

    structures, atoms, edges = 64, 96, 3000
    kind = e3nn.Irreps("32x0e + 32x1o + 32x2e")
    count = kind.dim

    def energy(places: Any, weights: Any, features: Any, ends: Any) -> Any:
        far = places[ends[0]] - places[ends[1]]
        harmonics = e3nn.spherical_harmonics(
            [0, 1, 2], e3nn.IrrepsArray("1o", far), True
        )
        sent = e3nn.IrrepsArray(kind, features[ends[0]])
        message = e3nn.tensor_product(sent, harmonics).filter(kind)
        radial = jnp.exp(-jnp.sum(far**2, -1, keepdims=True))
        message = message.array @ weights[: message.irreps.dim] * radial
        total = jax.ops.segment_sum(message, ends[1], atoms)
        return jnp.sum(jnp.tanh(total @ weights[:count, :1]))

    def forces(weights: Any, places: Any, features: Any, ends: Any) -> Any:
        def one(rows: Any) -> Any:
            value, pull = jax.value_and_grad(energy)(rows[0], weights, rows[1], rows[2])
            return value, -pull

        if variant == "mapped":
            return jax.lax.map(one, (places, features, ends), batch_size=8)
        return jax.vmap(one)((places, features, ends))

    arguments = (
        Shape((4000, count), F32),
        Shape((structures, atoms, 3), F32),
        Shape((structures, atoms, count), F32),
        Shape((structures, 2, edges), I32),
    )
    return Program("cpu", forces, arguments)


# blackjax


def blackjax_hierarchy(variant: str) -> Program:
    """Return draws of a hierarchical model with every state of the sampler."""
    import blackjax
    from blackjax.util import run_inference_algorithm

    groups, draws = 50_000, 2000

    def sample(key: Any, start: Any, seen: Any) -> Any:
        def density(place: Any) -> Any:
            spread = jnp.exp(place["log_spread"])
            prior = -0.5 * jnp.sum(place["effect"] ** 2)
            error = seen - spread * place["effect"] - place["mean"]
            return prior - 0.5 * jnp.sum(error**2) - 0.5 * place["mean"] ** 2

        count = groups + 2
        sampler = blackjax.hmc(density, 1e-2, jnp.ones(count), 16)
        keep = (
            (lambda state, _: (state.position["mean"], state.position["log_spread"]))
            if variant == "thin"
            else (lambda state, info: state)
        )
        return run_inference_algorithm(
            key, sampler, draws, initial_position=start, transform=keep
        )[1]

    key = jax.eval_shape(lambda: jax.random.key(0))
    start = {
        "mean": Shape((), F32),
        "log_spread": Shape((), F32),
        "effect": Shape((groups,), F32),
    }
    return Program("cpu", sample, (key, start, Shape((groups,), F32)))


def tuned_langevin(_: str) -> Program:
    """Return a step of Langevin dynamics with stochastic gradients, donated."""
    import blackjax

    def gradient(place: Any, rows: Any) -> Any:
        def density(place: Any) -> Any:
            h = jax.nn.relu(rows[0] @ place["a"])
            return -jnp.sum((h @ place["b"] - rows[1]) ** 2)

        return jax.grad(density)(place)

    sampler = blackjax.sgld(gradient)

    def langevin_step(key: Any, place: Any, x: Any, y: Any) -> Any:
        return sampler.step(key, place, (x, y), 1e-4)

    key = jax.eval_shape(lambda: jax.random.key(0))
    place = {"a": Shape((4096, 16_384), F32), "b": Shape((16_384, 16), F32)}
    arguments = (key, place, Shape((256, 4096), F32), Shape((256, 16), F32))
    return Program("cpu", langevin_step, arguments, {"donate_argnums": 1})


# ott


def ott_matching(variant: str) -> Program:
    """Return the transport between two clouds of points."""
    from jax._src.interpreters import batching as its_batching
    from jax.interpreters import batching

    # ott 0.6.0 looks for it where JAX 0.10 no longer has it.
    batching.is_vmappable = its_batching.is_vmappable
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    size = 256 if variant == "online" else None

    def match(x: Any, y: Any) -> Any:
        cloud = pointcloud.PointCloud(x, y, epsilon=0.05, batch_size=size)
        solver = sinkhorn.Sinkhorn(max_iterations=200)
        found = solver(linear_problem.LinearProblem(cloud))
        return found.f, found.g, found.reg_ot_cost

    cloud = Shape((16_384, 64), F32)
    return Program("cpu", match, (cloud, cloud))


def tuned_transport(_: str) -> Program:
    """Return the transport between two clouds of points in chunks of one."""
    made = ott_matching("online")

    def match_online(x: Any, y: Any) -> Any:
        return made.function(x, y)

    return Program("cpu", match_online, made.arguments)


# evosax


def evosax_search(variant: str) -> Program:
    """Return a generation of CMA-ES with a full covariance."""
    from evosax.algorithms import CMA_ES

    size, members = 6000, 64
    search = CMA_ES(population_size=members, solution=jnp.zeros(size))
    parameters = search.default_params
    key = jax.eval_shape(lambda: jax.random.key(0))
    state = shapes_of(
        jax.eval_shape(
            lambda key: search.init(key, jnp.zeros(size), parameters),
            key,
        )
    )

    def generation(key: Any, state: Any) -> Any:
        population, state = search.ask(key, state, parameters)
        fitness = jnp.sum(population**2 - 10 * jnp.cos(6.28 * population), -1)
        state, metrics = search.tell(key, population, fitness, state, parameters)
        return state, metrics.get("best_fitness", fitness)

    options = {"donate_argnums": 1} if variant == "donated" else {}
    return Program("cpu", generation, (key, state), options)


# tinygp


def tinygp_fields(variant: str) -> Program:
    """Return a step on the parameters of a process over points in the plane."""
    from tinygp import GaussianProcess, kernels, transforms

    class Products(kernels.Kernel):
        def evaluate(self, a: Any, b: Any) -> Any:
            return jnp.exp(-0.5 * jnp.sum((a - b) ** 2))

        def __call__(self, a: Any, b: Any = None) -> Any:
            b = a if b is None else b
            if a.ndim == 1:
                return super().__call__(a, b)
            squares = jnp.sum(a * a, -1)[:, None] + jnp.sum(b * b, -1)[None]
            return jnp.exp(-0.5 * (squares - 2 * a @ b.T))

    def evidence(scales: Any, x: Any, y: Any) -> Any:
        if variant == "products":
            process = GaussianProcess(Products(), x * jnp.exp(scales), diag=0.1)
        else:
            kernel = transforms.Linear(jnp.exp(scales), kernels.ExpSquared())
            process = GaussianProcess(kernel, x, diag=0.1)
        return -process.log_probability(y)

    def evidence_step(scales: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(evidence)(scales, x, y)
        return scales - 0.01 * grads, value

    size, width = 6000, 16
    return Program(
        "cpu",
        evidence_step,
        (Shape((width,), F32), Shape((size, width), F32), Shape((size,), F32)),
    )


# jaxopt


def jaxopt_penalty(variant: str) -> Program:
    """Return the gradient of a penalty through all steps of the inner solver."""
    import jaxopt

    def inner(w: Any, penalty: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2) + jnp.sum(jnp.exp(penalty) * w**2)

    def penalty_step(penalty: Any, w: Any, x: Any, y: Any) -> Any:
        solver = jaxopt.GradientDescent(
            inner,
            stepsize=0.1,
            maxiter=300,
            acceleration=False,
            implicit_diff=variant == "implicit",
            unroll=variant != "implicit",
            jit=True,
        )

        def outer(penalty: Any) -> Any:
            found = solver.run(w, penalty, x[:2048], y[:2048]).params
            return jnp.mean((jnp.tanh(x[2048:] @ found) - y[2048:]) ** 2)

        value, grads = jax.value_and_grad(outer)(penalty)
        return penalty - 0.1 * grads, value

    weights = Shape((4096, 256), F32)
    arguments = (weights, weights, Shape((4096, 4096), F32), Shape((4096, 256), F32))
    return Program("cpu", penalty_step, arguments)


def tuned_newton(_: str) -> Program:
    """Return a step of L-BFGS with a short history, donated."""
    import jaxopt

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0, -(x @ w) * y)) + 1e-4 * jnp.sum(w * w)

    solver = jaxopt.LBFGS(loss, history_size=6, linesearch="zoom", maxls=8)
    w, x = Shape((2_000_000,), F32), Shape((64, 2_000_000), F32)
    y = Shape((64,), F32)
    state = jax.eval_shape(lambda w, x, y: solver.init_state(w, x, y), w, x, y)

    def newton_step(w: Any, state: Any, x: Any, y: Any) -> Any:
        return tuple(solver.update(w, state, x, y))

    return Program("cpu", newton_step, (w, state, x, y), {"donate_argnums": (0, 1)})


# mctx


def mctx_search(variant: str) -> Program:
    """Return a search over a learned model; its tree keeps a state in each node."""
    import mctx

    batch, plane, count, actions = 128, 8 * 8 * 128, 200, 64
    kind = BF16 if variant == "narrow" else F32

    def recurrent(weights: Any, key: Any, action: Any, state: Any) -> Any:
        x = jnp.concatenate([state.astype(F32), jax.nn.one_hot(action, actions)], -1)
        x = jnp.tanh(x @ weights["move"])
        output = mctx.RecurrentFnOutput(
            reward=x[:, 0],
            discount=jnp.full(batch, 0.99),
            prior_logits=x @ weights["policy"],
            value=x[:, 1],
        )
        return output, x.astype(kind)

    def plan(weights: Any, key: Any, state: Any) -> Any:
        root = mctx.RootFnOutput(
            prior_logits=state @ weights["policy"],
            value=state[:, 1],
            embedding=state.astype(kind),
        )
        found = mctx.gumbel_muzero_policy(weights, key, root, recurrent, count)
        return found.action, found.action_weights

    key = jax.eval_shape(lambda: jax.random.key(0))
    weights = {
        "move": Shape((plane + actions, plane), F32),
        "policy": Shape((plane, actions), F32),
    }
    return Program("v5e:2x2", plan, (weights, key, Shape((batch, plane), F32)))


# tensorflow_probability


def tfp_chains(variant: str) -> Program:
    """Return chains of a model of ratings, and what the kernel knew at each draw."""
    from tensorflow_probability.substrates import jax as tfp

    users, width, chains, draws = 2000, 16, 16, 400

    def sample(key: Any, start: Any, rated: Any) -> Any:
        def density(place: Any) -> Any:
            guess = place @ jnp.swapaxes(place, -1, -2)
            error = jnp.sum((guess - rated) ** 2, (-1, -2))
            return -0.5 * error - 0.5 * jnp.sum(place**2, (-1, -2))

        kernel = tfp.mcmc.HamiltonianMonteCarlo(
            density, step_size=1e-3, num_leapfrog_steps=8
        )
        if variant == "traced":
            return tfp.mcmc.sample_chain(
                draws,
                start,
                kernel=kernel,
                trace_fn=lambda _, known: known.is_accepted,
                seed=key,
            )
        return tfp.mcmc.sample_chain(
            draws, start, kernel=kernel, trace_fn=lambda _, known: known, seed=key
        )

    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    start = Shape((chains, users, width), F32)
    return Program("cpu", sample, (key, start, Shape((users, users), F32)))


def tfp_variational(variant: str) -> Program:
    """Return a step on a bound that many draws estimate at once."""
    from tensorflow_probability.substrates import jax as tfp

    size, rows, draws = 20_000, 512, 1024

    def bound_step(mean: Any, spread: Any, key: Any, x: Any, y: Any) -> Any:
        def part(mean: Any, spread: Any, key: Any, count: int) -> Any:
            normal = tfp.distributions.Normal(mean, jax.nn.softplus(spread))
            w = normal.sample(count, seed=key)
            likely = tfp.distributions.Bernoulli(logits=w @ x.T).log_prob(y)
            prior = tfp.distributions.Normal(0.0, 1.0).log_prob(w)
            bound = likely.sum(-1) + prior.sum(-1) - normal.log_prob(w).sum(-1)
            return -bound.mean()

        def loss(mean: Any, spread: Any) -> Any:
            if variant != "chunked":
                return part(mean, spread, key, draws)
            keys = jax.random.split(key, 16)
            one = jax.checkpoint(lambda k: part(mean, spread, k, draws // 16))
            return jax.lax.map(one, keys).mean()

        value, grads = jax.value_and_grad(loss, (0, 1))(mean, spread)
        return mean - 0.01 * grads[0], spread - 0.01 * grads[1], value

    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    vector = Shape((size,), F32)
    arguments = (vector, vector, key, Shape((rows, size), F32), Shape((rows,), F32))
    return Program("cpu", bound_step, arguments, {"donate_argnums": (0, 1)})


def tuned_filter(_: str) -> Program:
    """Return the likelihood of a series by a Kalman filter, nothing else."""
    from tensorflow_probability.substrates import jax as tfp

    size = 512

    def likelihood(noise: Any, series: Any) -> Any:
        model = tfp.distributions.LinearGaussianStateSpaceModel(
            num_timesteps=400,
            transition_matrix=0.9 * jnp.eye(size),
            transition_noise=tfp.distributions.MultivariateNormalDiag(scale_diag=noise),
            observation_matrix=jnp.ones((1, size)) / size,
            observation_noise=tfp.distributions.MultivariateNormalDiag(
                scale_diag=jnp.ones(1)
            ),
            initial_state_prior=tfp.distributions.MultivariateNormalDiag(
                scale_diag=jnp.ones(size)
            ),
        )
        return model.log_prob(series)

    return Program("cpu", likelihood, (Shape((size,), F32), Shape((400, 1), F32)))


# penzai


def penzai_attention(variant: str) -> Program:
    """Return a model's next words with the attention of each layer, for a picture."""
    from penzai import pz

    layers, batch, length, heads, width = 12, 2, 2048, 16, 2048

    def look(weights: Any, x: Any) -> Any:
        kept = []
        for w in weights:
            named = pz.nx.wrap(x).tag("batch", "position", "embed")

            def project(array: Any, to: str, named: Any = named) -> Any:
                matrix = pz.nx.wrap(array).tag("embed", "heads", "key")
                found = pz.nx.nmap(jnp.dot)(named.untag("embed"), matrix.untag("embed"))
                return found.untag("batch", to, "heads", "key").unwrap()

            rows = [project(w[name], "position") for name in ("q", "k", "v")]
            q, k, v = rows
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32)
            share = jax.nn.softmax(scores)
            kept.append(share)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", share.astype(BF16), v)
            x = x + mixed.reshape(x.shape) @ w["out"]
            x = x + jax.nn.gelu(x @ w["up"]) @ w["down"]
        found = x[:, -1] @ weights[0]["up"]
        return found if variant == "words" else (found, kept)

    cut = Shape((width, heads, width // heads), BF16)
    layer = {
        "q": cut,
        "k": cut,
        "v": cut,
        "out": Shape((width, width), BF16),
        "up": Shape((width, 4 * width), BF16),
        "down": Shape((4 * width, width), BF16),
    }
    arguments = ([layer] * layers, Shape((batch, length, width), BF16))
    return Program("v6e:2x2", look, arguments)


# JAX alone, over many chips


def routed_experts(variant: str) -> Program:
    """Return a layer of experts over 256 chips, whose tokens a mask sends."""
    width, hidden, experts = 2048, 4096, 256
    tokens, room = 256 * 1024, 1280

    def build(mesh: Any) -> Any:
        split = NamedSharding(mesh, PartitionSpec("data"))
        whole = NamedSharding(mesh, PartitionSpec())

        def route(weights: Any, x: Any) -> Any:
            share = jax.nn.softmax((x @ weights["gate"]).astype(F32))
            chosen, best = jnp.max(share, -1), jnp.argmax(share, -1)
            ranks = jnp.cumsum(jax.nn.one_hot(best, experts, dtype=I32), 0)
            rank = jnp.take_along_axis(ranks, best[:, None], 1)[:, 0] - 1
            if variant == "scattered":
                place = jnp.where(rank < room, best * room + rank, experts * room)
                sent = (
                    jnp.zeros((experts * room, width), BF16)
                    .at[place]
                    .add(x, mode="drop")
                )
                sent = sent.reshape(experts, room, width)
            else:
                mask = jax.nn.one_hot(best, experts, dtype=BF16)[..., None]
                mask = mask * jax.nn.one_hot(rank, room, dtype=BF16)[:, None]
                mask = jax.lax.with_sharding_constraint(mask, split)
                sent = jnp.einsum("tec,td->ecd", mask, x)
            sent = jax.lax.with_sharding_constraint(sent, split)
            h = jax.nn.gelu(jnp.einsum("ecd,edh->ech", sent, weights["up"]))
            made = jnp.einsum("ech,ehd->ecd", h, weights["down"])
            if variant == "scattered":
                found = made.reshape(-1, width).at[place].get(mode="fill", fill_value=0)
            else:
                found = jnp.einsum("tec,ecd->td", mask, made)
            return x + found * chosen[:, None].astype(BF16)

        weights = {
            "gate": Shape((width, experts), BF16, sharding=whole),
            "up": Shape((experts, width, hidden), BF16, sharding=split),
            "down": Shape((experts, hidden, width), BF16, sharding=split),
        }
        x = Shape((tokens, width), BF16, sharding=split)
        return (route, (weights, x)), {"out_shardings": split}

    return Program("v5e:16x16", build, (), {}, (256,))


def wide_cache(variant: str) -> Program:
    """Return a step of decoding on eight chips, whose cache is whole on each."""
    batch, length, heads, size, layers, width = 16, 8192, 8, 128, 16, 4096

    def build(mesh: Any) -> Any:
        rows = NamedSharding(mesh, PartitionSpec(None, "data"))
        columns = NamedSharding(mesh, PartitionSpec("data", None))
        whole = NamedSharding(mesh, PartitionSpec())
        by_head = NamedSharding(mesh, PartitionSpec(None, None, None, "data"))
        place = by_head if variant == "sharded" else whole

        def decode(weights: Any, keys: Any, values: Any, x: Any, step: Any) -> Any:
            def layer(x: Any, w: Any) -> Any:
                qkv, out, up, down, k, v = w
                new = (x @ qkv).reshape(batch, 6, heads, size)
                q, nk, nv = new[:, :4], new[:, 4:5], new[:, 5:6]
                k = jax.lax.dynamic_update_slice(k, nk, (0, step, 0, 0))
                v = jax.lax.dynamic_update_slice(v, nv, (0, step, 0, 0))
                scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32)
                seen = jnp.arange(length) <= step
                share = jax.nn.softmax(jnp.where(seen, scores, -1e9)).astype(BF16)
                mixed = jnp.einsum("bhqk,bkhd->bqhd", share, v)
                x = x + mixed.reshape(batch, -1) @ out
                return x + jax.nn.silu(x @ up) @ down, (k, v)

            x, (keys, values) = jax.lax.scan(layer, x, (*weights, keys, values))
            return keys, values, x

        weights = (
            Shape((layers, width, 6 * heads * size), BF16, sharding=whole),
            Shape((layers, 4 * heads * size, width), BF16, sharding=whole),
            Shape(
                (layers, width, 3 * width),
                BF16,
                sharding=NamedSharding(mesh, PartitionSpec(None, *rows.spec)),
            ),
            Shape(
                (layers, 3 * width, width),
                BF16,
                sharding=NamedSharding(mesh, PartitionSpec(None, *columns.spec)),
            ),
        )
        cache = Shape((layers, batch, length // 4, heads, size), BF16, sharding=whole)
        place = (
            NamedSharding(mesh, PartitionSpec(None, None, None, "data"))
            if variant == "sharded"
            else whole
        )
        cache = Shape((layers, batch, length, heads, size), BF16, sharding=place)
        x = Shape((batch, width), BF16, sharding=whole)
        step = Shape((), I32, sharding=whole)
        options = {"donate_argnums": (1, 2), "out_shardings": (place, place, whole)}
        return (decode, (weights, cache, cache, x, step)), options

    return Program("v6e:2x4", build, (), {}, (8,))


# Well tuned


def tuned_tagger(_: str) -> Program:
    """Return a tagger with donated state, its embeddings the largest part."""
    made = keras_tagger("donated")

    def tuned_tagging_step(*arguments: Any) -> Any:
        return made.function(*arguments)

    return Program("v6e:2x2", tuned_tagging_step, made.arguments, made.options)


def tuned_decoder_over_chips(_: str) -> Program:
    """Return the language model with recomputed layers, sharded, donated."""
    return haliax_decoder("remat")


FURTHER: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "keras_tagger": (keras_tagger, "donated"),
    "keras_residual": (keras_residual, "remat"),
    "keras_recommender": (keras_recommender, "sharded"),
    "haliax_decoder": (haliax_decoder, "remat"),
    "haliax_table": (haliax_table, "sharded"),
    "jraph_mesh": (jraph_mesh, "remat"),
    "jraph_attention": (jraph_attention, "classes"),
    "e3nn_forces": (e3nn_forces, "mapped"),
    "blackjax_hierarchy": (blackjax_hierarchy, "thin"),
    "ott_matching": (ott_matching, "online"),
    "evosax_search": (evosax_search, "donated"),
    "tinygp_fields": (tinygp_fields, "products"),
    "jaxopt_penalty": (jaxopt_penalty, "implicit"),
    "mctx_search": (mctx_search, "narrow"),
    "tfp_chains": (tfp_chains, "traced"),
    "tfp_variational": (tfp_variational, "chunked"),
    "penzai_attention": (penzai_attention, "words"),
    "routed_experts": (routed_experts, "scattered"),
    "wide_cache": (wide_cache, "sharded"),
    "tuned_langevin": (tuned_langevin, None),
    "tuned_transport": (tuned_transport, None),
    "tuned_newton": (tuned_newton, None),
    "tuned_filter": (tuned_filter, None),
    "tuned_tagger": (tuned_tagger, None),
    "tuned_decoder_over_chips": (tuned_decoder_over_chips, None),
}
"""Each program, and its variant after the edit; None where nothing pays."""

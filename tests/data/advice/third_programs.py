"""A third set of programs of libraries, before and after the first edit of an expert.

As in programs.py; neither it nor further_programs.py knows these libraries or kinds.
"""

# Its libraries are not installed where types are checked.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from further_programs import shapes_of
from jax.sharding import NamedSharding, PartitionSpec
from programs import BF16, F32, I32, Program, Shape


def key_shape() -> Any:
    """Return the shape of a random key."""
    return jax.eval_shape(lambda: jax.random.PRNGKey(0))


# flashbax


def replay_buffer() -> Any:
    """Return a buffer of pictures, and the shapes of its state and of a batch."""
    import flashbax

    buffer = flashbax.make_item_buffer(
        max_length=40_000, min_length=1, sample_batch_size=256, add_batches=True
    )
    item = {
        "seen": jnp.zeros((84, 84, 4), jnp.uint8),
        "action": jnp.zeros((), jnp.int32),
        "reward": jnp.zeros((), jnp.float32),
    }
    state = shapes_of(jax.eval_shape(buffer.init, item))
    batch = jax.tree.map(lambda a: Shape((64, *a.shape), a.dtype), item)
    return buffer, state, batch


def flashbax_replay(variant: str) -> Program:
    """Return a step that stores pictures in a buffer and learns from a sample."""
    buffer, state, batch = replay_buffer()

    def replay_step(state: Any, weights: Any, batch: Any, key: Any) -> Any:
        state = buffer.add(state, batch)
        found = buffer.sample(state, key).experience
        x = found["seen"].reshape(256, -1).astype(F32) / 255

        def loss(w: Any) -> Any:
            value = jax.nn.relu(x @ w[0]) @ w[1]
            chosen = jnp.take_along_axis(value, found["action"][:, None], 1)[:, 0]
            return jnp.mean((chosen - found["reward"]) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        return state, jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads), value

    weights = (Shape((84 * 84 * 4, 512), F32), Shape((512, 18), F32))
    options = {"donate_argnums": (0, 1)} if variant == "donated" else {}
    return Program("cpu", replay_step, (state, weights, batch, key_shape()), options)


# jax_md


def jaxmd_fluid(variant: str) -> Program:
    """Return a step of a fluid in a periodic box, with the force of each pair."""
    from jax_md import energy, space

    count, side = 12_000, 24.0
    displacement, shift = space.periodic(side)

    def forces(places: Any) -> Any:
        if variant != "chunked":
            total = energy.lennard_jones_pair(displacement)
            return -jax.grad(total)(places)

        def one(place: Any) -> Any:
            def pair(place: Any) -> Any:
                far = jax.vmap(lambda other: displacement(place, other))(places)
                square = jnp.sum(far**2, -1)
                safe = jnp.where(square > 1e-6, square, 1.0)
                near = jnp.where(square > 1e-6, safe**-6 - safe**-3, 0.0)
                return 4 * near.sum()

            return -jax.grad(pair)(place)

        return jax.lax.map(one, places, batch_size=240)

    def fluid_step(places: Any, speeds: Any) -> Any:
        speeds = speeds + 1e-3 * forces(places)
        return shift(places, 1e-3 * speeds), speeds

    vector = Shape((count, 3), F32)
    return Program("cpu", fluid_step, (vector, vector), {"donate_argnums": (0, 1)})


def tuned_particles(_: str) -> Program:
    """Return a thousand steps of particles with the neighbours of each given."""
    from jax_md import space

    count, near = 1_000_000, 16
    displacement, shift = space.periodic(100.0)

    def simulate(places: Any, speeds: Any, neighbours: Any) -> Any:
        def forces(places: Any) -> Any:
            def one(column: Any, total: Any) -> Any:
                other = jnp.take(places, neighbours[column], axis=0)
                far = jax.vmap(displacement)(places, other)
                return total - far * jnp.exp(-jnp.sum(far**2, -1, keepdims=True))

            return jax.lax.fori_loop(0, near, one, jnp.zeros_like(places))

        def step(_: Any, pair: Any) -> Any:
            places, speeds = pair
            speeds = speeds + 1e-3 * forces(places)
            return shift(places, 1e-3 * speeds), speeds

        return jax.lax.fori_loop(0, 1000, step, (places, speeds))

    vector = Shape((count, 3), F32)
    arguments = (vector, vector, Shape((near, count), I32))
    return Program("cpu", simulate, arguments, {"donate_argnums": (0, 1)})


# dm_pix


def pix_augment(variant: str) -> Program:
    """Return blurred, rotated pictures, all of a set at once."""
    import dm_pix

    def one(key: Any, picture: Any) -> Any:
        x = picture.astype(F32) / 255
        x = dm_pix.random_brightness(key, x, 0.2)
        x = dm_pix.rgb_to_hsv(x)
        x = dm_pix.gaussian_blur(x, 1.5, 9)
        x = dm_pix.rotate(x, 0.3)
        x = dm_pix.hsv_to_rgb(x)
        return (255 * jnp.clip(x, 0, 1)).astype(jnp.uint8)

    def augment(keys: Any, pictures: Any) -> Any:
        if variant == "mapped":
            return jax.lax.map(lambda pair: one(*pair), (keys, pictures), batch_size=8)
        return jax.vmap(one)(keys, pictures)

    keys = Shape((96, 2), jnp.uint32)
    return Program("cpu", augment, (keys, Shape((96, 512, 512, 3), jnp.uint8)))


# distrax


def distrax_density(variant: str) -> Program:
    """Return training of a flow on eight devices; each holds the whole batch."""
    import distrax

    width, hidden, layers, count = 512, 1024, 4, 16_384

    def conditioner(w: Any) -> Any:
        def found(x: Any) -> Any:
            both = jnp.tanh(x @ w["in"]) @ w["out"]
            return both.reshape(*x.shape[:-1], width, 2)

        return found

    def bijector(both: Any) -> Any:
        return distrax.ScalarAffine(both[..., 0], log_scale=jnp.tanh(both[..., 1]))

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        split = NamedSharding(mesh, PartitionSpec("data"))

        def density_step(weights: Any, x: Any) -> Any:
            def loss(weights: Any) -> Any:
                parts = []
                for number, w in enumerate(weights):
                    mask = jnp.arange(width) % 2 == number % 2
                    parts.append(distrax.MaskedCoupling(mask, conditioner(w), bijector))
                chain = distrax.Inverse(distrax.Chain(parts))
                base = distrax.MultivariateNormalDiag(jnp.zeros(width))
                return -distrax.Transformed(base, chain).log_prob(x).mean()

            value, grads = jax.value_and_grad(loss)(weights)
            return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads), value

        layer = {
            "in": Shape((width, hidden), F32, sharding=whole),
            "out": Shape((hidden, 2 * width), F32, sharding=whole),
        }
        place = split if variant == "sharded" else whole
        x = Shape((count, width), F32, sharding=place)
        options = {"donate_argnums": 0, "out_shardings": whole}
        return (density_step, ([layer] * layers, x)), options

    return Program("cpu", build, (), {}, (8,))


# gymnax


def gymnax_pixels(variant: str) -> Program:
    """Return a step of policy gradients; pictures of zeros and ones are kept in f32."""
    import gymnax

    env, settings = gymnax.make("Breakout-MinAtar")
    count, steps = 1024, 1000

    def policy_step(weights: Any, key: Any) -> Any:
        def act(w: Any, seen: Any) -> Any:
            x = seen.astype(F32).reshape(-1, 400)
            return jax.nn.log_softmax(jax.nn.relu(x @ w[0]) @ w[1])

        seen, state = jax.vmap(env.reset, (0, None))(
            jax.random.split(key, count), settings
        )
        kind = jnp.bool_ if variant == "narrow" else F32

        def one(carry: Any, key: Any) -> Any:
            seen, state = carry
            keys = jax.random.split(key, count)
            action = jax.random.categorical(key, act(weights, seen))
            after, state, reward, *_ = jax.vmap(env.step, (0, 0, 0, None))(
                keys, state, action, settings
            )
            return (after, state), (seen.astype(kind), action, reward)

        _, (pictures, actions, rewards) = jax.lax.scan(
            one, (seen, state), jax.random.split(key, steps)
        )
        returned = jnp.cumsum(rewards[::-1], 0)[::-1]

        def loss(w: Any) -> Any:
            def part(total: Any, row: Any) -> Any:
                seen, action, weight = row
                chosen = jnp.take_along_axis(act(w, seen), action[:, None], 1)[:, 0]
                return total - jnp.mean(chosen * weight), None

            rows = (pictures, actions, returned)
            return jax.lax.scan(jax.checkpoint(part), 0.0, rows)[0]

        grads = jax.grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads)

    weights = (Shape((400, 256), F32), Shape((256, 6), F32))
    return Program("cpu", policy_step, (weights, key_shape()), {"donate_argnums": 0})


# jaxlie


def jaxlie_bundle(variant: str) -> Program:
    """Return a step of Gauss-Newton on poses, with the whole matrix of derivatives."""
    import jaxlie

    poses, edges = 800, 6000

    def refine(twists: Any, ends: Any, seen: Any) -> Any:
        def errors(flat: Any) -> Any:
            placed = jaxlie.SE3.exp(flat.reshape(poses, 6))
            rows = placed.wxyz_xyz[ends]
            first, second = (jaxlie.SE3(rows[i]) for i in (0, 1))
            between = jaxlie.SE3(seen).inverse() @ (first.inverse() @ second)
            return between.log().reshape(-1)

        flat = twists.reshape(-1)
        if variant == "products":
            found, push = jax.linearize(errors, flat)
            pull = jax.linear_transpose(push, flat)

            def normal(v: Any) -> Any:
                return pull(push(v))[0] + 1e-3 * v

            step, _ = jax.scipy.sparse.linalg.cg(normal, pull(found)[0], maxiter=50)
        else:
            found, matrix = errors(flat), jax.jacfwd(errors)(flat)
            normal = matrix.T @ matrix + 1e-3 * jnp.eye(flat.size)
            step, _ = jax.scipy.sparse.linalg.cg(
                lambda v: normal @ v, matrix.T @ found, maxiter=50
            )
        return (flat - step).reshape(poses, 6)

    arguments = (
        Shape((poses, 6), F32),
        Shape((2, edges), I32),
        Shape((edges, 7), F32),
    )
    return Program("cpu", refine, arguments)


# dynamax


def dynamax_smoother(variant: str) -> Program:
    """Return what a hidden Markov model knows of each step; one part is plotted."""
    from dynamax.hidden_markov_model import hmm_two_filter_smoother

    states, steps = 256, 3000

    def smooth(initial: Any, moves: Any, likely: Any) -> Any:
        found = hmm_two_filter_smoother(initial, moves, likely)
        if variant == "states":
            return found.marginal_loglik, found.smoothed_probs
        each = found.filtered_probs[:-1, :, None] * moves[None]
        joint = each * found.smoothed_probs[1:, None]
        return found.marginal_loglik, found.smoothed_probs, joint

    arguments = (
        Shape((states,), F32),
        Shape((states, states), F32),
        Shape((steps, states), F32),
    )
    return Program("cpu", smooth, arguments)


def tuned_assimilation(_: str) -> Program:
    """Return the likelihood of many series under a hidden Markov model."""
    from dynamax.hidden_markov_model import hmm_filter

    def likelihood(initial: Any, moves: Any, likely: Any) -> Any:
        return jax.lax.map(
            lambda one: hmm_filter(initial, moves, one).marginal_loglik, likely
        )

    arguments = (
        Shape((64,), F32),
        Shape((64, 64), F32),
        Shape((2000, 1000, 64), F32),
    )
    return Program("cpu", likelihood, arguments)


# lineax


def lineax_band(variant: str) -> Program:
    """Return a step of diffusion, implicit, with a band held as a whole matrix."""
    import lineax

    size = 12_288

    def diffuse(heat: Any, rate: Any) -> Any:
        beside, middle = -rate[1:], 1 + 2 * rate
        if variant == "band":
            matrix = lineax.TridiagonalLinearOperator(middle, beside, beside)
        else:
            whole = jnp.diag(middle) + jnp.diag(beside, 1) + jnp.diag(beside, -1)
            matrix = lineax.MatrixLinearOperator(whole)
        return lineax.linear_solve(matrix, heat, throw=False).value

    vector = Shape((size,), F32)
    return Program("cpu", diffuse, (vector, vector), {"donate_argnums": 0})


# interpax


def interpax_volume(variant: str) -> Program:
    """Return a field at many points, between those of a grid."""
    import interpax

    count = 6_000_000

    def sample(field: Any, points: Any) -> Any:
        axis = jnp.linspace(0.0, 1.0, 64)

        def at(points: Any) -> Any:
            return interpax.interp3d(
                *points.T, axis, axis, axis, field, method="cubic2", extrap=True
            )

        if variant != "mapped":
            return at(points)
        return jax.lax.map(at, points.reshape(60, -1, 3)).reshape(-1)

    return Program("cpu", sample, (Shape((64, 64, 64), F32), Shape((count, 3), F32)))


# optimistix, flowjax


def tuned_descent(_: str) -> Program:
    """Return the minimum of a large quadratic form by conjugate gradients, donated."""
    import optimistix

    def minimise(start: Any, goal: Any) -> Any:
        def cost(x: Any, goal: Any) -> Any:
            return 0.5 * jnp.sum((x - goal) ** 2) + 0.1 * jnp.sum((x[1:] - x[:-1]) ** 2)

        rule = optimistix.GradientDescent(0.1, rtol=1e-5, atol=1e-5)
        found = optimistix.minimise(
            cost, rule, start, args=goal, max_steps=100, throw=False
        )
        return found.value

    vector = Shape((20_000_000,), F32)
    return Program("cpu", minimise, (vector, vector), {"donate_argnums": 0})


def flow_of(key: Any) -> Any:
    """Return an autoregressive flow of eight layers."""
    from flowjax import distributions, flows

    base = distributions.Normal(jnp.zeros(128))
    return flows.masked_autoregressive_flow(
        key, base_dist=base, flow_layers=8, nn_width=1024, nn_depth=2
    )


def flowjax_training(variant: str) -> Program:
    """Return training of a flow whose layers a scan runs, with Adam."""
    import equinox as eqx

    made = eqx.filter_eval_shape(flow_of, jax.random.PRNGKey(0))
    arrays, rest = eqx.partition(made, lambda a: isinstance(a, Shape))
    parts, masks = eqx.partition(
        arrays, lambda a: a is not None and jnp.issubdtype(a.dtype, jnp.floating)
    )
    rule = optax.adam(1e-3)
    state = jax.eval_shape(rule.init, parts)

    def flow_step(weights: Any, state: Any, masks: Any, x: Any) -> Any:
        def loss(weights: Any, x: Any) -> Any:
            return -eqx.combine(weights, masks, rest).log_prob(x).mean()

        if variant == "summed":

            def add(total: Any, x: Any) -> Any:
                value, grads = jax.value_and_grad(loss)(weights, x)
                return jax.tree.map(jnp.add, total, (value, grads)), None

            zeros = 0.0, jax.tree.map(jnp.zeros_like, weights)
            found, _ = jax.lax.scan(add, zeros, x.reshape(16, -1, 128))
            value, grads = jax.tree.map(lambda a: a / 16, found)
        else:
            value, grads = jax.value_and_grad(loss)(weights, x)
        updates, state = rule.update(grads, state)
        return optax.apply_updates(weights, updates), state, value

    arguments = (parts, state, masks, Shape((32_768, 128), F32))
    return Program("cpu", flow_step, arguments, {"donate_argnums": (0, 1)})


# rlax


def rlax_targets(variant: str) -> Program:
    """Return losses of quantiles, for each pair of them, in distributional learning."""
    import rlax

    count, actions, quantiles, width = 1024, 18, 512, 256

    def quantile_step(
        weights: Any, x: Any, after: Any, action: Any, reward: Any
    ) -> Any:
        levels = (jnp.arange(quantiles) + 0.5) / quantiles

        def found(w: Any, x: Any) -> Any:
            made = jax.nn.relu(x @ w[0]) @ w[1]
            return made.reshape(-1, quantiles, actions)

        def losses(w: Any, rows: Any) -> Any:
            x, after, action, reward = rows
            one = jax.vmap(rlax.quantile_q_learning, (0, None, 0, 0, None, 0, 0, None))
            later = found(w, after)
            return one(
                found(w, x), levels, action, reward, 0.99, later, later, 1.0
            ).sum()

        rows = (x, after, action, reward)
        if variant == "chunked":
            rows = jax.tree.map(lambda a: a.reshape(32, -1, *a.shape[1:]), rows)

            def loss(w: Any) -> Any:
                part = jax.checkpoint(lambda rows: losses(w, rows))
                return jax.lax.map(part, rows).sum()

        else:

            def loss(w: Any) -> Any:
                return losses(w, rows)

        grads = jax.grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads)

    weights = (Shape((width, 512), F32), Shape((512, quantiles * actions), F32))
    seen = Shape((count, width), F32)
    arguments = (weights, seen, seen, Shape((count,), I32), Shape((count,), F32))
    return Program("v5e:2x2", quantile_step, arguments, {"donate_argnums": 0})


# JAX alone, of kinds that no earlier program has


def quantised_decoder(variant: str) -> Program:
    """Return a pass through layers whose weights of 8 bits are widened first."""
    layers, width, hidden = 32, 2048, 8192

    def decode(weights: Any, scales: Any, x: Any) -> Any:
        def widen(w: Any, s: Any) -> Any:
            return w.astype(BF16) * s[..., None, :]

        late = variant == "late"

        def layer(x: Any, row: Any) -> Any:
            up, down = jax.tree.map(widen, *row) if late else row
            return x + jax.nn.gelu(x @ up) @ down, None

        rows = (weights, scales) if late else jax.tree.map(widen, weights, scales)
        return jax.lax.scan(layer, x, rows)[0]

    weights = (
        Shape((layers, width, hidden), jnp.int8),
        Shape((layers, hidden, width), jnp.int8),
    )
    scales = (Shape((layers, hidden), BF16), Shape((layers, width), BF16))
    x = Shape((64, width), BF16)
    return Program("v5e:2x2", decode, (weights, scales, x))


def tuned_quantised(_: str) -> Program:
    """Return the layers whose weights of 8 bits are widened one by one."""
    made = quantised_decoder("late")

    def decode_late(*arguments: Any) -> Any:
        return made.function(*arguments)

    return Program("v6e:2x2", decode_late, made.arguments)


def asian_option(variant: str) -> Program:
    """Return the price of an option on the mean of each path, all paths kept."""
    paths, steps = 1_000_000, 365

    def price(start: Any, rate: Any, key: Any) -> Any:
        keys = jax.random.split(key, steps)

        def grow(value: Any, key: Any) -> Any:
            return value * jnp.exp(rate + 0.01 * jax.random.normal(key, (paths,)))

        first = jnp.full((paths,), start)
        if variant == "summed":

            def both(pair: Any, key: Any) -> Any:
                value = grow(pair[0], key)
                return (value, pair[1] + value), None

            (_, total), _ = jax.lax.scan(both, (first, jnp.zeros(paths)), keys)
            mean = total / steps
        else:

            def one(value: Any, key: Any) -> Any:
                value = grow(value, key)
                return value, value

            _, history = jax.lax.scan(one, first, keys)
            mean = history.mean(0)
        return jnp.maximum(mean - start, 0).mean()

    return Program("cpu", price, (Shape((), F32), Shape((), F32), key_shape()))


def early_gather(variant: str) -> Program:
    """Return a model over eight chips that gathers all layers before the first."""
    layers, width, hidden, batch = 24, 2048, 8192, 64

    def build(mesh: Any) -> Any:
        rows = NamedSharding(mesh, PartitionSpec(None, "data"))
        one = NamedSharding(mesh, PartitionSpec())
        split = NamedSharding(mesh, PartitionSpec("data"))

        def forward(weights: Any, x: Any) -> Any:
            def whole(a: Any) -> Any:
                return jax.lax.with_sharding_constraint(a, one)

            late = variant == "late"

            def layer(x: Any, row: Any) -> Any:
                up, down = jax.tree.map(whole, row) if late else row
                x = x + jax.nn.gelu(x @ up) @ down
                return jax.lax.with_sharding_constraint(x, split), None

            stacked = weights if late else jax.tree.map(whole, weights)
            return jax.lax.scan(layer, x, stacked)[0]

        weights = (
            Shape((layers, width, hidden), BF16, sharding=rows),
            Shape((layers, hidden, width), BF16, sharding=rows),
        )
        x = Shape((batch, width), BF16, sharding=split)
        return (forward, (weights, x)), {"out_shardings": split}

    return Program("v5e:2x4", build, (), {}, (8,))


def spectral_operator(variant: str) -> Program:
    """Return a filter of real fields, through complex transforms of the whole."""
    count, side = 32, 1024

    def smooth(fields: Any, filters: Any) -> Any:
        for factor in filters:
            if variant == "real":
                found = jnp.fft.rfft2(fields) * factor[:, : side // 2 + 1]
                fields = fields + jnp.tanh(jnp.fft.irfft2(found, (side, side)))
            else:
                found = jnp.fft.fft2(fields) * factor
                fields = fields + jnp.tanh(jnp.fft.ifft2(found).real)
        return fields

    fields = Shape((count, side, side), F32)
    filters = Shape((4, side, side), F32)
    return Program("cpu", smooth, (fields, filters), {"donate_argnums": 0})


def linear_attention(variant: str) -> Program:
    """Return attention without softmax, keys with queries multiplied first."""
    batch, heads, length, size = 4, 16, 8192, 64

    def mix(q: Any, k: Any, v: Any) -> Any:
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
        if variant == "values":
            made = jnp.einsum("bhkd,bhke->bhde", k, v)
            return jnp.einsum("bhqd,bhde->bhqe", q, made)
        pairs = jnp.einsum("bhqd,bhkd->bhqk", q, k)
        return jnp.einsum("bhqk,bhke->bhqe", pairs, v)

    one = Shape((batch, heads, length, size), BF16)
    return Program("v6e:2x2", mix, (one, one, one))


def sigmoid_pairs(variant: str) -> Program:
    """Return training of two towers whose loss needs each pair of a large batch."""
    batch, width, size = 16_384, 768, 512

    def pair_step(weights: Any, left: Any, right: Any) -> Any:
        def loss(weights: Any) -> Any:
            a, b = left @ weights[0], right @ weights[1]
            a, b = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))

            def part(row: Any) -> Any:
                a, numbers = row
                sign = 2.0 * (numbers[:, None] == jnp.arange(batch)) - 1
                logits = 10 * (a @ b.T).astype(F32) - 10
                return optax.sigmoid_binary_cross_entropy(logits, sign > 0).sum()

            rows = (a, jnp.arange(batch))
            if variant == "chunked":
                rows = jax.tree.map(lambda x: x.reshape(32, -1, *x.shape[1:]), rows)
                return jax.lax.map(jax.checkpoint(part), rows).sum() / batch
            return part(rows) / batch

        grads = jax.grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads)

    matrix, seen = Shape((width, size), F32), Shape((batch, width), F32)
    arguments = ((matrix, matrix), seen, seen)
    return Program("v5e:2x2", pair_step, arguments, {"donate_argnums": 0})


def embed_corpus(variant: str) -> Program:
    """Return embeddings of a corpus by eight devices, the whole of them on each."""
    count, width, size = 262_144, 512, 1024

    def build(mesh: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())
        split = NamedSharding(mesh, PartitionSpec("data"))

        def embed(weights: Any, x: Any) -> Any:
            made = jnp.tanh(x @ weights)
            return made / jnp.linalg.norm(made, axis=-1, keepdims=True)

        weights = Shape((width, size), F32, sharding=whole)
        x = Shape((count, width), F32, sharding=split)
        place = split if variant == "split" else whole
        return (embed, (weights, x)), {"out_shardings": place}

    return Program("cpu", build, (), {}, (8,))


THIRD: dict[str, tuple[Callable[[str], Program], str | None]] = {
    "flashbax_replay": (flashbax_replay, "donated"),
    "jaxmd_fluid": (jaxmd_fluid, "chunked"),
    "pix_augment": (pix_augment, "mapped"),
    "distrax_density": (distrax_density, "sharded"),
    "gymnax_pixels": (gymnax_pixels, "narrow"),
    "jaxlie_bundle": (jaxlie_bundle, "products"),
    "dynamax_smoother": (dynamax_smoother, "states"),
    "lineax_band": (lineax_band, "band"),
    "interpax_volume": (interpax_volume, "mapped"),
    "flowjax_training": (flowjax_training, "summed"),
    "rlax_targets": (rlax_targets, "chunked"),
    "quantised_decoder": (quantised_decoder, "late"),
    "asian_option": (asian_option, "summed"),
    "early_gather": (early_gather, "late"),
    "spectral_operator": (spectral_operator, "real"),
    "linear_attention": (linear_attention, None),
    "sigmoid_pairs": (sigmoid_pairs, "chunked"),
    "embed_corpus": (embed_corpus, "split"),
    "tuned_particles": (tuned_particles, None),
    "tuned_assimilation": (tuned_assimilation, None),
    "tuned_descent": (tuned_descent, None),
    "tuned_quantised": (tuned_quantised, None),
}
"""Each program, and its variant after the edit; None where nothing pays."""

"""A training step, compiled but not run: XLA dumps what a pull request changes."""

import jax
import jax.numpy as jnp

BATCH, WIDTH, LAYERS = 256, 512, 4


def loss(weights, batch):
    """Return the mean square of a small network's output."""
    for weight in weights:
        batch = jnp.tanh(batch @ weight)
    return jnp.mean(batch**2)


def train_step(weights, batch):
    """Return the weights after a step of gradient descent."""
    slopes = jax.grad(loss)(weights, batch)
    return [w - 0.01 * slope for w, slope in zip(weights, slopes, strict=True)]


if __name__ == "__main__":
    weights = [jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32)] * LAYERS
    batch = jax.ShapeDtypeStruct((BATCH, WIDTH), jnp.float32)
    jax.jit(train_step, donate_argnums=0).lower(weights, batch).compile()

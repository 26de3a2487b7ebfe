"""A training step, compiled so that XLA dumps it.

    python sources.py cpu|SLICE [donate]

Needs JAX alone. With `donate` its weights and state are donated, as replay does it with
`--donate auto`.
"""

from __future__ import annotations

import sys
from typing import Any


def main(where: str, is_donated: bool) -> None:
    """Compile the step for one device; a TPU need not be there."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import SingleDeviceSharding

    def step(weights: Any, momentum: Any, x: Any, y: Any) -> Any:
        def loss(weights: Any) -> Any:
            hidden = x
            for one in weights:
                hidden = jnp.tanh(hidden @ one)
            return jnp.mean((hidden - y) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
        weights = jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum)
        return weights, momentum, value

    def shape(*sizes: int) -> Any:
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    device = jax.devices("cpu")[0]
    if where != "cpu":
        from jax.experimental import topologies

        device = topologies.get_topology_desc(
            platform="tpu", topology_name=where
        ).devices[0]
    donated = (0, 1) if is_donated else ()
    placed = SingleDeviceSharding(device)
    weights = [shape(256, 512), shape(512, 256)]
    jax.jit(step, donate_argnums=donated, in_shardings=placed).lower(
        weights, weights, shape(64, 256), shape(64, 256)
    ).compile()


if __name__ == "__main__":
    main(sys.argv[1], "donate" in sys.argv[2:])

"""A training step, compiled so that XLA dumps it.

    python sources.py cpu|SLICE [donate|half|quiet|whole|sharded]

Needs JAX alone. With `donate` its weights and state are donated, as replay does it with
`--donate auto`. With `half` all its arrays are of bf16, as with `--narrow f32=bf16`;
with `quiet` it returns no loss, as with `--drop 4`. With `whole` and `sharded` it runs
on four devices, which hold all of the weights and state, or a part as with `--shard`.
"""

from __future__ import annotations

import sys
from typing import Any


def main(where: str, variant: str) -> None:
    """Compile the step; a TPU need not be there."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

    def step(weights: Any, momentum: Any, x: Any, y: Any) -> Any:
        def loss(weights: Any) -> Any:
            hidden = x
            for one in weights:
                hidden = jnp.tanh(hidden @ one)
            return ((hidden - y) ** 2).sum(dtype=hidden.dtype)

        value, gradient = jax.value_and_grad(loss)(weights)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
        weights = jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum)
        return (weights, momentum) if variant == "quiet" else (weights, momentum, value)

    def shape(*sizes: int) -> Any:
        dtype = jnp.bfloat16 if variant == "half" else jnp.float32
        return jax.ShapeDtypeStruct(sizes, dtype)

    devices = jax.devices("cpu")
    if where != "cpu":
        from jax.experimental import topologies

        devices = topologies.get_topology_desc(
            platform="tpu", topology_name=where
        ).devices
    donated = (0, 1) if variant == "donate" else ()
    placed: Any = SingleDeviceSharding(devices[0])
    if variant in ("whole", "sharded"):
        mesh = Mesh(devices[:4], ("data",))
        whole = NamedSharding(mesh, PartitionSpec())
        # The larger dimension is divided, as replay does it.
        specs = PartitionSpec(None, "data"), PartitionSpec("data")
        parts = [NamedSharding(mesh, spec) for spec in specs]
        placed = (whole, parts if variant == "sharded" else whole, whole, whole)
    weights = [shape(256, 512), shape(512, 256)]
    jax.jit(step, donate_argnums=donated, in_shardings=placed).lower(
        weights, weights, shape(64, 256), shape(64, 256)
    ).compile()


if __name__ == "__main__":
    main(sys.argv[1], *[*sys.argv[2:], ""][:1])

"""Small programs, compiled ahead of time so that XLA dumps them in every form.

    python -m tests.oracle.programs FOLDER [NAME…]

Needs JAX alone. Dumps for CPUs go to FOLDER/cpu, those for a v5e to FOLDER/tpu where
libtpu is installed; FOLDER/failed has those of a program that no v5e can hold.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FORMS = (
    "--xla_dump_hlo_as_text --xla_dump_hlo_as_proto --xla_dump_hlo_as_riegeli"
    " --xla_dump_hlo_pass_re=.*"
)
TPU = {
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_ID": "0",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}
# Text alone: default instructions of a program, with its options as text.
PLANS = {"cpu": FORMS, "tpu": FORMS, "failed": "--xla_dump_hlo_as_text"}
PROGRAMS = {
    "cpu": ("training", "loop", "branches", "scattered", "sharded"),
    "tpu": ("training", "loop", "branches", "scattered", "sharded"),
    "failed": ("kept",),
}


def main(folder: Path, names: list[str]) -> None:
    """Compile the programs of each plan in a process of its own."""
    for plan, flags in PLANS.items():
        if plan != "cpu" and find_spec("libtpu") is None:
            print(f"libtpu is not installed: no dumps for {plan}")
            continue
        host = "" if plan != "cpu" else " --xla_force_host_platform_device_count=4"
        environment = {
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": f"--xla_dump_to={folder / plan} {flags}{host}",
            **(TPU if plan != "cpu" else {}),
        }
        chosen = [name for name in PROGRAMS[plan] if not names or name in names]
        subprocess.run(
            [sys.executable, __file__, f"--{plan}", *chosen],
            env=os.environ | environment, check=True,
        )  # fmt: skip


def compile_all(plan: str, names: list[str]) -> None:
    """Compile programs in this process; a TPU's are compiled without one."""
    import jax
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    devices = jax.devices()
    if plan != "cpu":
        from jax.experimental import topologies

        found = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
        devices = found.devices
    mesh = Mesh(devices[:4], ("data",))
    for name in names:
        function, arguments, specs = _program(name)
        one = NamedSharding(Mesh(devices[:1], ("data",)), P())
        placed = [NamedSharding(mesh, s) if specs else one for s in specs or arguments]
        jax.jit(function, in_shardings=placed).lower(*arguments).compile()
        print(f"{plan}: {name} by jax {jax.__version__}")


Program = tuple[Callable[..., Any], list[Any], list[Any]]
"""A function, the shapes of its arguments, and how they are sharded, if they are."""


def _program(name: str) -> Program:
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import PartitionSpec as P

    def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(sizes, dtype)

    def training(weights: Any, bias: Any, x: Any, y: Any) -> Any:
        def loss(w: Any, b: Any) -> Any:
            with jax.named_scope("layer"):
                hidden = jax.nn.relu(x @ w + b)
            return jnp.mean((hidden - y) ** 2)

        value, (by_w, by_b) = jax.value_and_grad(loss, (0, 1))(weights, bias)
        return weights - 0.1 * by_w, bias - 0.1 * by_b, value

    def loop(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            after = jnp.tanh(carry @ carry)
            return after, after.sum()

        return lax.scan(step, x, None, length=8)

    def branches(which: Any, x: Any) -> Any:
        return lax.switch(which, (jnp.sin, lambda v: v @ v.T, jnp.exp2), x)

    def scattered(x: Any, at: Any) -> Any:
        return x.at[at].add(1.0)[jnp.argsort(at)].astype(jnp.bfloat16)

    def sharded(x: Any, w: Any) -> Any:
        return jnp.sum(x @ w, axis=0)

    def kept(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            return jnp.sin(carry @ carry), carry

        last, every = lax.scan(step, x, None, length=200)
        return every.sum() * last

    square = shape(256, 256)
    numbers = shape(64, dtype=jnp.int32)
    programs: dict[str, Program] = {
        "training": (
            training,
            [shape(256, 512), shape(512), shape(32, 256), shape(32, 512)],
            [],
        ),
        "loop": (loop, [square], []),
        "branches": (branches, [shape(dtype=jnp.int32), square], []),
        "scattered": (scattered, [square, numbers], []),
        "sharded": (
            sharded,
            [shape(64, 256), square],
            [P("data"), P(None, "data")],
        ),
        "kept": (
            lambda x: jax.grad(lambda v: kept(v).sum())(x),
            [shape(16384, 16384)],
            [],
        ),
    }
    return programs[name]


if __name__ == "__main__":
    if sys.argv[1].startswith("--"):
        try:
            compile_all(sys.argv[1].removeprefix("--"), sys.argv[2:])
        except Exception as error:  # of its own kind in every release
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            print(str(error).splitlines()[0])
    else:
        main(Path(sys.argv[1]), sys.argv[2:])

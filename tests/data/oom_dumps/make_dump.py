"""Makes forward.tar.xz: a program that a log names, and a larger one.

JAX_PLATFORMS=cpu python make_dump.py forward.tar.xz          with jax 0.7.2

kernel.tar.xz was dumped by libtpu 0.0.52: a kernel in Pallas that asks for 32 MiB of
scoped VMEM, where it may have 16 MiB. kernel.log is what it printed.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAMS = """
def forward(positions, sources, weights):
    apart = positions[:, None, :] - sources[None, :, :]
    distance = jnp.sqrt((apart**2).sum(-1, keepdims=True))
    return (weights[None, :, None] * apart / distance).sum(1)


def update(weights, inputs):
    hidden = jnp.tanh(inputs @ weights)
    return weights - 0.1 * hidden @ weights.T @ weights


jax.jit(forward).lower(array(1024, 3), array(1536, 3), array(1536)).compile()
jax.jit(update).lower(array(4096, 4096), array(4096, 4096)).compile()
"""
KEPT = (".cpu_after_optimizations.txt", "-buffer-assignment.txt")


def main(target: str) -> None:
    """Compile the programs and keep what the tests read."""
    with TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        import jax
        import jax.numpy as jnp

        def array(*shape: int) -> object:
            return jax.ShapeDtypeStruct(shape, jnp.float32)

        names = {"jax": jax, "jnp": jnp, "array": array}
        exec(compile(PROGRAMS, "/srv/pairs.py", "exec"), names)
        with tarfile.open(target, "w:xz") as packed:
            for path in sorted(Path(folder).iterdir()):
                if path.name.endswith(KEPT):
                    packed.add(path, f"forward/{path.name}")


if __name__ == "__main__":
    main(sys.argv[1])

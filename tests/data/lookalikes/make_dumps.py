"""Compiles programs that look like those of remedies, which would be wrong for them.

    pip install "jax==0.10.2" && python make_dumps.py

Gives dumps.tar.xz here, with a folder for each program.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Made = tuple[Callable[..., Any], list[Any]]
"""A function and the shapes of its arguments."""


def shape(*sizes: int) -> Any:
    """Return the shape of an argument of f32."""
    import jax

    return jax.ShapeDtypeStruct(sizes, "float32")


def gaussian_process() -> Made:
    """Return a likelihood: its matrix comes from a vector, but is no band."""
    import jax
    import jax.numpy as jnp

    def likelihood(x: Any, y: Any) -> Any:
        kernel = jnp.exp(-((x[:, None] - x[None, :]) ** 2)) + jnp.eye(len(x))
        return y @ jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(kernel), y)

    return likelihood, [shape(4096), shape(4096)]


def time_series() -> Made:
    """Return a scan over time: steps are no examples."""
    import jax
    import jax.numpy as jnp

    def filtered(x: Any, weights: Any) -> Any:
        hidden = jnp.tanh(x @ weights)

        def compose(left: Any, right: Any) -> Any:
            return left[0] * right[0], right[0] * left[1] + right[1]

        _, states = jax.lax.associative_scan(compose, (jax.nn.sigmoid(hidden), hidden))
        return states.sum(1)

    return filtered, [shape(8192, 32), shape(32, 2048)]


def batch_statistics() -> Made:
    """Return a normalisation over the batch, which all examples take part in."""
    import jax.numpy as jnp

    def normalised(x: Any, weights: Any) -> Any:
        hidden = jnp.tanh(x @ weights)
        return jnp.sort((hidden - hidden.mean(0)) / hidden.std(0), 0).sum(1)

    return normalised, [shape(16384, 32), shape(32, 2048)]


def shifted_spectrum() -> Made:
    """Return the spectrum of complex numbers, made of real ones."""
    import jax.numpy as jnp

    def shifted(x: Any) -> Any:
        phase = jnp.exp(1j * jnp.arange(x.shape[-1]))
        return jnp.abs(jnp.fft.fft(x.astype("complex64") * phase)).sum(-1)

    return shifted, [shape(4096, 4096)]


def derivatives() -> Made:
    """Return the derivative at each of many points: no Jacobian."""
    import jax
    import jax.numpy as jnp

    def slopes(x: Any, first: Any, second: Any) -> Any:
        def at(point: Any) -> Any:
            hidden = jnp.tanh(jnp.tanh(point * first) @ second)
            return jnp.sum(jnp.sort(hidden) ** 2)

        return jax.vmap(jax.grad(at))(x)

    return slopes, [shape(65536), shape(128), shape(128, 128)]


PROGRAMS = (
    gaussian_process, time_series, batch_statistics, shifted_spectrum, derivatives
)  # fmt: skip


def compile_all(
    programs: Sequence[Callable[[], Made]],
    file: Path,
    archive: str,
    names: Sequence[str],
) -> None:
    """Dump each program of `file` by a process of its own, or compile those named."""
    if names:
        import jax

        for program in programs:
            if program.__name__ in names:
                function, arguments = program()
                jax.jit(function).lower(*arguments).compile()
        return
    with tempfile.TemporaryDirectory() as home:
        for program in programs:
            folder = Path(home, program.__name__)
            environment = {
                "XLA_FLAGS": f"--xla_dump_to={folder}",
                "JAX_PLATFORMS": "cpu",
                "HOME": home,
            }
            command = [sys.executable, str(file), program.__name__]
            subprocess.run(command, env=environment, check=True)
        with tarfile.open(HERE / archive, "w:xz") as packed:
            for path in sorted(Path(home).rglob("*optimizations*.txt")):
                text = path.read_text().replace(str(HERE), "/opt/programs")
                path.write_text(text)
                packed.add(path, path.relative_to(home))


if __name__ == "__main__":
    compile_all(PROGRAMS, Path(__file__), "dumps.tar.xz", sys.argv[1:])

"""Compiles training steps of TensorFlow whose memory is known by their roles.

    pip install tensorflow-cpu==2.21.0 && python make_training.py FOLDER

From the root of the repository as `python -m tests.data.frameworks.make_training`. The
dump is packed as FOLDER/training.tar.xz.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tests.data.frameworks.make_dumps import pack

BATCH, WIDTH, BLOCKS, STEPS = 80, 16, 2, 5


def main(folder: Path) -> None:
    """Compile a step with and without recomputation, a recurrent one, and sums."""
    dump = folder / "training"
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump}"
    import tensorflow as tf

    def variables(*sizes: int) -> list[Any]:
        return [tf.Variable(tf.random.normal(sizes)) for _ in range(BLOCKS)]

    wide, narrow = variables(WIDTH, 4 * WIDTH), variables(4 * WIDTH, WIDTH)
    weights = [*wide, *narrow]
    momenta = [tf.Variable(tf.zeros_like(weight)) for weight in weights]
    sums = [tf.Variable(tf.zeros_like(weight)) for weight in weights]
    images = tf.ones([BATCH, WIDTH])

    def block(number: int) -> Any:
        def apply(x: Any) -> Any:
            hidden = tf.nn.gelu(x @ wide[number], approximate=True)
            return x + (tf.sin(hidden) * tf.tanh(hidden)) @ narrow[number]

        return apply

    blocks = [block(number) for number in range(BLOCKS)]
    recomputed = [tf.recompute_grad(apply) for apply in blocks]

    def gradients(layers: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            for layer in layers:
                x = layer(x)
            loss = tf.reduce_mean(x * x)
        return tape.gradient(loss, weights), loss

    def update(gradient: Any) -> None:
        for weight, momentum, slope in zip(weights, momenta, gradient, strict=True):
            momentum.assign(0.9 * momentum + slope)
            weight.assign_sub(0.1 * momentum)

    def plain(x: Any) -> Any:
        gradient, loss = gradients(blocks, x)
        update(gradient)
        return loss

    def remat(x: Any) -> Any:
        gradient, loss = gradients(recomputed, x)
        update(gradient)
        return loss

    def accumulate(x: Any) -> Any:
        gradient, loss = gradients(blocks, x)
        for total, slope in zip(sums, gradient, strict=True):
            total.assign_add(slope)
        return loss

    square = tf.Variable(tf.random.normal([WIDTH, WIDTH]))
    velocity = tf.Variable(tf.zeros_like(square))

    def recurrent(x: Any) -> Any:
        def advance(count: Any, state: Any) -> Any:
            return count + 1, tf.tanh(state @ square)

        with tf.GradientTape() as tape:
            loop = (lambda count, _: count < STEPS), advance, (0, x)
            state = tf.while_loop(*loop, maximum_iterations=STEPS)[1]
            loss = tf.reduce_mean(state * state)
        velocity.assign(0.9 * velocity + tape.gradient(loss, square))
        square.assign_sub(0.1 * velocity)
        return loss

    for program in (plain, remat, accumulate, recurrent):
        tf.function(program, jit_compile=True)(images)
    for path in dump.iterdir():
        if not path.name.endswith(("after_optimizations.txt", "-assignment.txt")):
            path.unlink()
    pack(dump, folder / "training.tar.xz")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Compiles three graphs with TensorFlow 1.14 to 2.11, whose XLA is of 2019 to 2022.

    pip install tensorflow-cpu==1.15.5 'protobuf<3.21' 'numpy<1.19'
    python -m tests.data.frameworks.make_graphs FOLDER

From the root of the repository, on Python 3.7 to 3.10. The dump is in
FOLDER/tensorflow-VERSION, those of all releases so far are in FOLDER/graphs.tar.xz.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tests.data.frameworks.make_dumps import FORMS, pack


def compile_graph(program: Any, *sizes: list[int]) -> None:
    """Compile and run a function of arrays of ones, without eager execution."""
    import tensorflow as tf

    v1 = tf.compat.v1
    if hasattr(tf, "contrib"):
        from tensorflow.contrib.compiler import xla
    else:
        xla = tf.xla.experimental
    with tf.Graph().as_default(), v1.Session() as session:
        given = [v1.placeholder(tf.float32, size) for size in sizes]
        ones = [session.run(tf.ones(size)) for size in sizes]
        session.run(xla.compile(program, given), dict(zip(given, ones)))  # noqa: B905


def main(folder: Path) -> None:
    """Compile a gradient step, a loop and a branch."""
    import tensorflow as tf

    dump = folder / f"tensorflow-{tf.__version__}"
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump} {FORMS}"

    def step(x: Any, first: Any, second: Any) -> Any:
        hidden = tf.nn.relu(tf.matmul(x, first))
        loss = tf.reduce_mean(tf.nn.softmax(tf.matmul(hidden, second)))
        gradients = tf.gradients(loss, [first, second])
        return first - 0.1 * gradients[0], second - 0.1 * gradients[1], loss

    def loop(x: Any) -> Any:
        def advance(count: Any, state: Any) -> Any:
            return count + 1, tf.tanh(tf.matmul(state, state))

        return tf.while_loop(lambda count, _: count < 10, advance, (0, x))[1]

    def branch(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: tf.sin(x))

    compile_graph(step, [32, 64], [64, 128], [128, 10])
    compile_graph(loop, [16, 16])
    compile_graph(branch, [9])
    pack(folder, folder / "graphs.tar.xz")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

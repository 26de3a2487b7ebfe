"""Compiles small programs of TensorFlow or PyTorch/XLA twice, as on two nights.

    pip install tensorflow-cpu==2.21.0 && python make_dumps.py tensorflow FOLDER
    pip install torch==2.9.0 torch_xla==2.9.0 && python make_dumps.py pytorch FOLDER
    python make_dumps.py pytorch_training FOLDER

Each night is compiled in a process of its own, and packed as FOLDER/NIGHT.tar.xz. In
the second one another function comes first, which counts all others up by one, and
`step` holds a matrix more; of PyTorch also one program is as wide again. The training
has a layer more, autograd runs in threads of its own, and gradients of two batches are
added up at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

KEPT = (
    ".before_optimizations.txt",
    "after_optimizations.txt",
    "-buffer-assignment.txt",
    "-memory-usage-report.txt",
    ".before_optimizations.hlo.pb",
    "after_optimizations.hlo.pb",
)

FORMS = {
    "tensorflow": "--xla_dump_hlo_as_text --xla_dump_hlo_as_proto",
    "pytorch": "--xla_dump_hlo_as_text --xla_dump_hlo_as_proto",
    "pytorch_training": "--xla_dump_hlo_as_text",
}


def tensorflow(is_second: bool) -> None:
    """Compile functions, a gradient, and what TensorFlow compiles by itself."""
    import tensorflow as tf

    first, second = tf.Variable(tf.ones([16, 64])), tf.Variable(tf.ones([64, 4]))
    count = tf.Variable(tf.zeros([48]))
    images, labels = tf.ones([32, 16]), tf.zeros([32], tf.int32)
    compiled = tf.function(jit_compile=True)

    def double(x: Any) -> Any:
        return x * 2.0

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ first)
            if is_second:
                hidden = tf.nn.softmax(hidden @ tf.transpose(hidden)) @ hidden
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, hidden @ second)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip(
            (first, second), tape.gradient(loss, (first, second)), strict=True
        ):
            variable.assign_sub(0.1 * gradient)
        return loss

    def reset(x: Any) -> Any:
        count.assign(x * 2.0)  # What it held is never read.
        return x + 1.0

    def nothing(x: Any) -> Any:
        return x, tf.zeros([0, 3])

    def layer_2(x: Any) -> Any:
        return tf.tanh(x @ first)

    if is_second:
        compiled(double)(tf.ones([3]))
    compiled(step)(images, labels)
    compiled(reset)(tf.ones([48]))
    compiled(nothing)(tf.ones([3]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(compiled(layer_2)(images))
    tape.gradient(loss, first)

    def found_by_itself(x: Any, y: Any) -> Any:
        for _ in range(5):
            x = tf.sin(x) * y + tf.cos(x) @ y
        return x

    tf.function(found_by_itself)(tf.ones([8, 8]), tf.ones([8, 8]))


def pytorch(is_second: bool) -> None:
    """Compile graphs: a gradient step, random numbers, a layer."""
    import torch
    import torch_xla
    from torch.nn import functional

    # Else what is still held when a graph is cut depends on the threads' speed.
    torch.autograd.set_multithreading_enabled(False)
    device = torch_xla.device()
    wide = 64 if is_second else 32

    def ones(*sizes: int) -> Any:
        return torch.ones(*sizes).to(device)

    first = ones(64, 16).requires_grad_()
    wider = ones(wide, 16).requires_grad_()
    images, labels = ones(32, 16), torch.zeros(32, dtype=torch.long).to(device)
    held = []
    torch_xla.sync()
    if is_second:
        held.append(ones(3) * 2)
        torch_xla.sync()
    hidden = torch.relu(functional.linear(images, first))
    if is_second:
        hidden = torch.softmax(hidden @ hidden.T, 1) @ hidden
    loss = functional.cross_entropy(hidden, labels)
    (gradient,) = torch.autograd.grad(loss, first)
    updated = first - 0.1 * gradient
    del hidden, loss, gradient
    torch_xla.sync()
    noise = torch.randn(4, 4, device=device) @ torch.randn(4, 4, device=device)
    torch_xla.sync()
    reached = torch.tanh(functional.linear(images, wider)).sum(0)
    torch_xla.sync()
    print(updated.sum(), noise.sum(), reached.sum())


def pytorch_training(is_second: bool) -> None:
    """Compile the first step of a training, which makes Adam's state, and another."""
    import torch
    import torch_xla
    from torch import nn

    torch.autograd.set_multithreading_enabled(is_second)
    layers = [nn.Linear(64, 64) for _ in range(3 if is_second else 2)]
    pairs = [part for layer in layers for part in (layer, nn.GELU())]
    model = nn.Sequential(*pairs, nn.Linear(64, 8)).to(torch_xla.device())
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    torch_xla.sync()
    for _ in range(2):
        images = torch.ones(32, 64).to(torch_xla.device())
        loss = model(images).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        del images
        torch_xla.sync()
    for _ in range(2 if is_second else 0):
        model(torch.ones(32, 64).to(torch_xla.device())).sum().backward()
        torch_xla.sync()
    print(loss)


PROGRAMS = {
    "tensorflow": tensorflow,
    "pytorch": pytorch,
    "pytorch_training": pytorch_training,
}


def pack(dump: Path, archive: Path) -> None:
    """Pack what is kept of a dump, without times and owners."""

    def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(dump.rglob("*")):
            if path.name.endswith(KEPT):
                name = str(path.relative_to(dump))
                packed.add(path, name, filter=anonymous)


def main(framework: str, folder: Path) -> None:
    """Compile both nights."""
    for night in ("first", "second"):
        dump = folder / night
        environment = {
            "XLA_FLAGS": f"--xla_dump_to={dump} {FORMS[framework]}",
            "TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit",
            "PJRT_DEVICE": "CPU",
            "XLA_IR_DEBUG": "1",
            "XLA_HLO_DEBUG": "1",
        }
        subprocess.run(
            [sys.executable, __file__, framework, night],
            env=os.environ | environment,
            check=True,
        )
        pack(dump, folder / f"{night}.tar.xz")


if __name__ == "__main__":
    if sys.argv[2] in ("first", "second"):
        PROGRAMS[sys.argv[1]](sys.argv[2] == "second")
    else:
        main(sys.argv[1], Path(sys.argv[2]))

"""Compiles programs of matrix products in branches and loops, on a CPU and for a v5e.

    pip install "jax[tpu]==0.10.2"
    for target in cpu v5e; do python make_dumps.py $target; done

Gives TARGET.tar.xz here, and in TARGET.json the operations of each program by XLA's
own cost analysis.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def compile_all(target: str) -> dict[str, float]:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    if target == "cpu":
        chips = jax.devices("cpu")
    else:
        chips = topologies.get_topology_desc("v5e:2x2", "tpu").devices
    alone = NamedSharding(Mesh(np.array(chips[:1]), ("x",)), PartitionSpec())

    def like(shape: tuple[int, ...], dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype, sharding=alone)

    def two_branches(p: Any, x: Any, y: Any) -> Any:
        return jax.lax.cond(p, lambda x, y: x @ y @ y @ y, lambda x, y: x @ y, x, y)

    def four_branches(i: Any, x: Any, y: Any) -> Any:
        branches = [
            lambda x, y: x @ y,
            lambda x, y: x @ y @ y,
            lambda x, y: x @ y @ y @ y,
            lambda x, y: x,
        ]
        return jax.lax.switch(i, branches, x, y)

    def branches_in_branches(p: Any, q: Any, x: Any, y: Any) -> Any:
        def inner(x: Any, y: Any) -> Any:
            many = jax.lax.cond(
                q, lambda x, y: x @ y @ y @ y @ y, lambda x, y: x @ y, x, y
            )
            return many @ y

        return jax.lax.cond(p, inner, lambda x, y: x @ y @ y, x, y)

    def loop(x: Any, y: Any) -> Any:
        return jax.lax.fori_loop(0, 10, lambda i, c: jnp.tanh(c @ y), x)

    def branches_in_a_loop(p: Any, x: Any, y: Any) -> Any:
        def body(i: Any, c: Any) -> Any:
            return jax.lax.cond(c[0, 0] > p, lambda c: c @ y @ y, lambda c: c @ y, c)

        return jax.lax.fori_loop(0, 10, body, x)

    def gradient(x: Any, y: Any) -> Any:
        def loss(y: Any) -> Any:
            return (jnp.tanh(jnp.tanh(x @ y) @ y) ** 2).sum()

        return jax.grad(loss)(y)

    array, flag = like((512, 512)), like((), jnp.bool_)
    programs = [
        (two_branches, (flag, array, array)),
        (four_branches, (like((), jnp.int32), array, array)),
        (branches_in_branches, (flag, flag, array, array)),
        (loop, (array, array)),
        (branches_in_a_loop, (like(()), array, array)),
        (gradient, (array, array)),
    ]
    return {
        f"jit_{program.__name__}": jax.jit(program)
        .lower(*arguments)
        .compile()
        .cost_analysis()["flops"]
        for program, arguments in programs
    }


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dump(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if (child := os.fork()) == 0:
            os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
            os.environ["TPU_SKIP_MDS_QUERY"] = "1"
            flops = json.dumps(compile_all(target), indent=2)
            (HERE / f"{target}.json").write_text(flops + "\n")
            os._exit(0)
        os.waitpid(child, 0)
        with tarfile.open(HERE / f"{target}.tar.xz", "w:xz") as packed:
            for file in sorted(Path(folder).glob("*after_optimizations.txt")):
                packed.add(file, file.name, filter=anonymous)


if __name__ == "__main__":
    dump(sys.argv[1])

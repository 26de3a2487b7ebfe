"""Compiles the programs of programs.py ahead of time, one edit a folder.

For a v5e, but for CPU_PROGRAMS.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py [NAME…]

Gives an archive for each program here; each edit is compiled by a process of its own,
as XLA takes the folder of its dump when it starts. pairs.json says which edit is the
remedy of which: `python -m bench.remedies` compares them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
KEPT = ("after_optimizations", "-buffer-assignment", "-live-range", "-values")


def compile_one(name: str, edit: str, folder: str) -> None:
    """Dump one program after one edit."""
    programs = import_module("programs")
    given = {**programs.PROGRAMS[name], **programs.EDITS[name][edit]}
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    if name in programs.CPU_PROGRAMS:
        function, arguments = getattr(programs, name)(given)
        function.lower(*arguments).compile()
        return
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    devices = topologies.get_topology_desc("v5e:2x2", platform="tpu").devices
    if name in ("mesh", "gathered"):
        function, arguments = getattr(programs, name)(given, devices)
    else:
        function, arguments = getattr(programs, name)(given)
        place = SingleDeviceSharding(devices[0])
        arguments = jax.tree.map(
            lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place), arguments
        )
    function.lower(*arguments).compile()


def main() -> None:
    """Compile every edit, and pack the texts of each program."""
    if sys.argv[1:2] == ["--one"]:
        compile_one(*sys.argv[2:])
        return
    programs = import_module("programs")
    chosen = sys.argv[1:] or list(programs.EDITS)
    for name, edits in ((name, programs.EDITS[name]) for name in chosen):
        with tempfile.TemporaryDirectory() as folder:
            for edit in edits:
                dump = Path(folder) / name / edit
                command = [sys.executable, __file__, "--one", name, edit, str(dump)]
                subprocess.run(command, check=True)
                for file in list(dump.iterdir()):
                    if file.is_dir():
                        shutil.rmtree(file)
                    elif "jit_" not in file.name or not file.stem.endswith(KEPT):
                        file.unlink()
            with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as packed:
                packed.add(Path(folder) / name, name)


if __name__ == "__main__":
    main()

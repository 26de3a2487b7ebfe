"""Compiles the programs of programs.py ahead of time, before and after their edit.

    pip install "jax[tpu]==0.10.2" flax optax equinox dm-haiku diffrax numpyro
    pip install --pre keras haliax aqtp jraph e3nn-jax blackjax ott-jax evosax tinygp
    pip install jaxopt mctx tfp-nightly penzai
    pip install flashbax jax-md dm-pix distrax gymnax jaxlie dynamax lineax
    pip install interpax flowjax rlax optimistix
    python make_dumps.py FOLDER [NAME…]

Each variant is compiled by a process of its own, as XLA takes the folder of its dump
when it starts. `python -m bench.advice FOLDER` compares advice with the outcome.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CPUS = 8
KEPT = (
    "after_optimizations",
    "-buffer-assignment",
    "-live-range",
    "-values",
    "target_arguments",
)
MACHINE_PATH = ".*/(?=tests/data/advice/|site-packages/)"
"""What of the path of a source file is left out of a dump."""


def all_programs() -> dict[str, Any]:
    """Return the programs of all files, with the variant after the edit."""
    further = import_module("further_programs").FURTHER
    third = import_module("third_programs").THIRD
    fourth = import_module("fourth_programs").FOURTH
    fifth = import_module("fifth_programs").FIFTH
    sixth = import_module("sixth_programs").SIXTH
    seventh = import_module("seventh_programs").SEVENTH
    eighth = import_module("eighth_programs").EIGHTH
    first = import_module("programs").PROGRAMS
    later = {**fifth, **sixth, **seventh, **eighth}
    return {**first, **further, **third, **fourth, **later}


def compile_one(name: str, variant: str, folder: str) -> None:
    """Dump one variant of a program."""
    os.environ["XLA_FLAGS"] = (
        f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        f" --xla_force_host_platform_device_count={CPUS}"
    )
    os.environ["JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX"] = MACHINE_PATH
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    make, _ = all_programs()[name]
    import jax
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, SingleDeviceSharding

    made = make(variant)
    function, arguments, options = made.function, made.arguments, dict(made.options)
    if made.platform == "cpu":
        devices = np.array(jax.devices())
    else:
        found = topologies.get_topology_desc(made.platform, platform="tpu").devices
        devices = np.array(found)
    if made.mesh:
        count = int(np.prod(made.mesh))
        mesh = Mesh(devices[:count].reshape(made.mesh), ("data",))
        (function, arguments), options = function(mesh)
    elif made.platform != "cpu":
        arguments = import_module("programs").sharded(
            arguments, SingleDeviceSharding(devices[0])
        )
    jax.jit(function, **options).lower(*arguments).compile()


def pack(dump: Path, archive: Path) -> None:
    """Keep the texts of the main program of a dump, in an archive."""
    sizes = {f: f.stat().st_size for f in dump.iterdir() if f.is_file()}
    ends = [f for f in sizes if "after_optimizations-buffer-assignment" in f.name]
    largest = max(ends, key=lambda f: sizes[f]).name
    main = largest.partition("after_optimizations")[0].removesuffix("cpu_")
    for file in list(dump.iterdir()):
        if file.is_dir():
            shutil.rmtree(file)
        elif not file.name.startswith(main) or not file.stem.endswith(KEPT):
            file.unlink()
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(dump, dump.name)


def main() -> None:
    """Compile every variant that is not there yet."""
    if sys.argv[1:2] == ["--one"]:
        compile_one(*sys.argv[2:])
        return
    programs = all_programs()
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or list(programs):
        for variant in ("base", programs[name][1]):
            archive = folder / f"{name}.{variant}.tar.xz"
            if variant is None or archive.exists():
                continue
            dump = folder / f"{name}.{variant}"
            shutil.rmtree(dump, ignore_errors=True)
            command = [sys.executable, __file__, "--one", name, variant, str(dump)]
            started = time.monotonic()
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            seconds = f"{time.monotonic() - started:.0f} s"
            if done.returncode:
                print(name, variant, "failed", seconds, done.stderr[-1500:], flush=True)
                # A program too large for its chip has a buffer assignment all the same.
                if not list(dump.glob("*buffer-assignment.txt")):
                    continue
            pack(dump, archive)
            print(name, variant, seconds, archive.stat().st_size, flush=True)


if __name__ == "__main__":
    main()

"""Compiles the programs of programs.py at several sizes; finds the largest ones.

    pip install "jax[tpu]==0.10.2" && python make_dumps.py FOLDER [NAME…]

Gives FOLDER/NAME.tar.xz with the sizes to fit, and FOLDER/NAME.json: the limit, the
largest size that needs no more, and what every size needs in main memory. `python
make_dumps.py --search FOLDER [NAME…]`, where hlodb is installed too, adds to NAME.json
what `hlodb.largest_size` finds: the sizes, and how many it compiled beside the first.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = (
    ".before_optimizations",
    "after_optimizations",
    "-buffer-assignment",
    "-buffer-assignment-values",
    "-live-range",
    "target_arguments",
)
_ALLOCATION = re.compile(
    r"^allocation \d+: size (\d+)(?!.*, color [1-9])", re.MULTILINE
)


def compile_one(name: str, size: str, folder: str) -> None:
    """Dump a program at one size."""
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
    lowered(name, int(size)).compile()


def lowered(name: str, size: int) -> Any:
    """Return a program at one size, not compiled yet."""
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    series = import_module("programs").SERIES

    platform, function, arguments = series[name][0](size)
    if platform != "cpu":
        chip = topologies.get_topology_desc(platform, platform="tpu").devices[0]
        place = SingleDeviceSharding(chip)
        arguments = jax.tree.map(
            lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place), arguments
        )
    return jax.jit(function).lower(*arguments)


class Sized:
    """A function of a size, for `hlodb.largest_size`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def lower(self, size: int) -> Any:
        """Lower the program at a size."""
        return lowered(self.name, size)


def search(name: str, folder: Path) -> None:
    """Add what `hlodb.largest_size` finds to what is known of a series."""
    import hlodb

    sizes = import_module("programs").SERIES[name][1]
    file = folder / f"{name}.json"
    told = json.loads(file.read_text())
    found = hlodb.largest_size(
        Sized(name), lambda size: (size,), sizes, limit=told["limit"]
    )
    told["searched"] = {
        "fits": found.fits,
        "too_large": found.too_large,
        "compiled": len(found.reserved) - len(sizes),
    }
    file.write_text(json.dumps(told, indent=1) + "\n")
    print(name, told["largest"], told["searched"], flush=True)


def dump(name: str, size: int, folder: Path) -> int:
    """Return what a size needs; its dump goes into a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, __file__, "--one", name, str(size), str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    texts = [
        file.read_text()
        for file in folder.glob("*after_optimizations-buffer-assignment.txt")
    ]
    for file in list(folder.iterdir()):
        if file.is_dir():
            shutil.rmtree(file)
        elif not file.stem.endswith(KEPT):
            file.unlink()
    return max(sum(map(int, _ALLOCATION.findall(text))) for text in texts)


def main() -> None:
    """Compile the sizes of every series that is not there yet."""
    if sys.argv[1:2] == ["--one"]:
        compile_one(*sys.argv[2:])
        return
    if sys.argv[1:2] == ["--search"]:
        known = Path(sys.argv[2])
        for name in sys.argv[3:] or sorted(file.stem for file in known.glob("*.json")):
            search(name, known)
        return
    series = import_module("programs").SERIES

    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or list(series):
        _, sizes, near = series[name]
        if (folder / f"{name}.json").exists():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            tried = Path(scratch)
            needs = {
                size: dump(name, size, tried / str(size)) for size in (*sizes, near)
            }
            limit = needs[near]
            low, high = near, near + max(1, near // 4)
            needs[high] = dump(name, high, tried / str(high))
            step = 1
            while step < high - low:
                size = low + step
                needs[size] = dump(name, size, tried / str(size))
                low, high = (size, high) if needs[size] <= limit else (low, size)
                step = 1 if needs[size] > limit else 4 * step
            told = {
                "limit": limit,
                "largest": low,
                "needs": dict(sorted(needs.items())),
            }
            with tarfile.open(folder / f"{name}.tar.xz", "w:xz") as packed:
                for size in sizes:
                    packed.add(tried / str(size), f"{name}/{size}")
        (folder / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
        print(name, low, limit, flush=True)


if __name__ == "__main__":
    main()

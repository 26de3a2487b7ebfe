"""Interpreters that have JAX, for the tests that compile and for `make replay`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hlodb.replay.interpreters import Interpreter, find_interpreters

VARIABLE = "HLODB_REPLAY_PYTHONS"
"""Names paths of interpreters, and releases as jaxlib==0.10.2, between colons."""

SOURCES = Path(__file__).with_name("sources.py")
PROGRAMS = Path(__file__).parents[1] / "oracle" / "programs.py"
ALL = ("training", "loop", "branches", "scattered", "sharded")

_TPU = {
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}


def compilers() -> list[Interpreter]:
    """Return the interpreters that the variable names, the oldest release first."""
    names = [name for name in os.environ.get(VARIABLE, "").split(":") if name]
    found = find_interpreters(names, with_tpu=False) if names else []
    return sorted(found, key=release)


def release(one: Interpreter) -> tuple[int, ...]:
    """Return the release of jaxlib as numbers."""
    return tuple(int(part) for part in one.versions["jaxlib"].split(".")[:4])


def dump_of(
    interpreter: Interpreter, folder: Path, script: Path, *arguments: str
) -> Path:
    """Return the folder that XLA dumped into while `script` ran."""
    flags = f"--xla_dump_to={folder} --xla_force_host_platform_device_count=4"
    environment = {**os.environ, **_TPU, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    subprocess.run(
        [str(interpreter.path), str(script), *arguments],
        env=environment, check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    return folder

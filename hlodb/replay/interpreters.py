"""The compilers that replay uses: interpreters that have JAX, and how to make one.

`jaxlib==X` names a release: it is installed once, in an environment of its own below
the folder of caches, never in that of the user.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import UsageError

_RELEASE = re.compile(r"jax(?:lib)?==(\d+(?:\.\d+){1,4}[a-z0-9.]*)")
_SECONDS = 60
_PROBE = """
from importlib.metadata import PackageNotFoundError, version
for name in ("jax", "jaxlib", "libtpu"):
    try:
        print(name, version(name))
    except PackageNotFoundError:
        pass
"""


class Interpreter(NamedTuple):
    """A Python with JAX; `versions` are those of jax, jaxlib and libtpu."""

    path: Path
    versions: dict[str, str]

    @property
    def label(self) -> str:
        """Return its release as a name of folders, such as `jaxlib-0.12.0`."""
        return f"jaxlib-{self.versions['jaxlib']}"


def find_interpreters(names: Sequence[str], *, with_tpu: bool) -> list[Interpreter]:
    """Return interpreters by path or release; the running one where none is named.

    Raises UsageError where one has no JAX, or lacks libtpu that is needed.
    """
    found = [_named(name, with_tpu) for name in names or [sys.executable]]
    labels = [one.label for one in found]
    if twice := {label for label in labels if labels.count(label) > 1}:
        raise UsageError(f"two interpreters have {min(twice)}: name it once")
    for name, one in zip(names or ["this Python"], found, strict=True):
        if with_tpu and "libtpu" not in one.versions:
            raise UsageError(f"{name} has no libtpu, which compiles for TPUs")
    return found


def _named(name: str, with_tpu: bool) -> Interpreter:
    if release := _RELEASE.fullmatch(name):
        return probe(_environment(release[1], with_tpu))
    path = Path(shutil.which(name) or name)
    if not path.is_file():
        raise UsageError(
            f"--with {name}: there is no such interpreter; pass the path of a Python"
            " that has JAX, or a release such as jaxlib==0.10.2"
        )
    return probe(path)


def probe(path: Path) -> Interpreter:
    """Return an interpreter with its versions; UsageError where it has no JAX."""
    try:
        said = subprocess.run(
            [str(path.absolute()), "-I", "-c", _PROBE],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{path} cannot be run as a Python: {error}") from error
    lines = [line.split() for line in said.stdout.splitlines()]
    versions = {line[0]: line[1] for line in lines if len(line) == 2}
    if not {"jax", "jaxlib"} <= versions.keys():
        raise UsageError(
            f"{path} has no JAX: pass --with PYTHON that has it, or a release such as"
            " --with jaxlib==0.10.2, which is installed for replay alone"
        )
    return Interpreter(path.absolute(), versions)


def _environment(release: str, with_tpu: bool) -> Path:
    """Return the Python of an environment with a release of JAX; make it if missing."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = f"jax-{release}{'-tpu' if with_tpu else ''}"
    folder = Path(caches) / "hlodb" / "replay" / name
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        wanted = [f"jax{'[tpu]' if with_tpu else ''}=={release}", f"jaxlib=={release}"]
        _install(folder, python, wanted, release)
        done.touch()
    return python


def _install(folder: Path, python: Path, wanted: Sequence[str], release: str) -> None:
    """Install into a new environment, of the first Python that the release takes."""
    said = []
    for creating in _creating(folder):
        shutil.rmtree(folder, ignore_errors=True)
        pip = [str(python), "-m", "pip", "install", "-q"]
        if uv := shutil.which("uv"):
            pip = [uv, "pip", "install", "-q", "--python", str(python)]
        problem = _run(creating) or _run([*pip, *wanted])
        if not problem:
            return
        said.append(problem)
    problems = "\n".join(dict.fromkeys(said))
    raise UsageError(
        f"JAX {release} could not be installed: {problems}\nInstall it in an"
        " environment of yours, and pass --with PATH-TO-ITS-PYTHON"
    )


_COMMON = "3.12"
"""Python for releases of JAX that the running one is too old or too new for."""


def _creating(folder: Path) -> list[list[str]]:
    """Return commands that make an environment, each with another Python."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if uv := shutil.which("uv"):
        versions = dict.fromkeys((running, _COMMON))
        return [[uv, "venv", "-q", "--python", one, str(folder)] for one in versions]
    other = shutil.which(f"python{_COMMON}") if running != _COMMON else None
    pythons = [sys.executable, *([other] if other else [])]
    return [[one, "-m", "venv", str(folder)] for one in pythons]


def _run(command: Sequence[str]) -> str:
    """Return the end of what a command said where it failed, else nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    said = (done.stderr.strip() or done.stdout.strip())[-1_000:]
    return said or f"exit code {done.returncode}"

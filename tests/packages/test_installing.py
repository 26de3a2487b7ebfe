"""Packages are reproducible and complete, and work in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import DATA, REPOSITORY

DIST = REPOSITORY / "dist"
UV = shutil.which("uv")
LINKED = ("ingest", "queries", "schema")

pytestmark = pytest.mark.wheel


def package(ending: str) -> Path:
    found = list(DIST.glob(f"*{ending}"))
    assert len(found) == 1, f"no single {ending} in dist: make wheel"
    return found[0]


def tracked() -> list[str]:
    command = ["git", "ls-files", "-z"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True)
    return [name for name in done.stdout.decode().split("\0") if name]


def test_a_second_build_elsewhere_gives_equal_bytes(tmp_path: Path) -> None:
    source = tmp_path / "elsewhere"
    for name in tracked():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, target, follow_symlinks=False)
    time = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    subprocess.run(
        [sys.executable, source / ".ci" / "build.py", tmp_path / "dist"],
        env={**os.environ, "SOURCE_DATE_EPOCH": time, "TZ": "Asia/Tokyo"},
        umask=0o077,
        check=True,
    )
    assert {p.name: p.read_bytes() for p in (tmp_path / "dist").iterdir()} == {
        p.name: p.read_bytes() for p in DIST.iterdir()
    }


def test_packages_hold_every_file_of_the_package_and_no_other() -> None:
    expected = set()
    for name in tracked():
        first = name.split("/")[0]
        if first in LINKED:
            expected.add(f"hlodb/{name}")
        elif first == "hlodb" and name.removeprefix("hlodb/") not in LINKED:
            expected.add(name)
    with zipfile.ZipFile(package(".whl")) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == expected
    with tarfile.open(package(".tar.gz")) as sdist:
        paths = [m.name.partition("/")[2] for m in sdist if not m.isdir()]
    assert {p for p in paths if p.startswith("hlodb/")} == expected
    assert {p for p in paths if p.split("/")[0] not in ("hlodb", "hlodb.egg-info")} == {
        *("LICENSE", "MANIFEST.in", "PKG-INFO", "README.md"),
        *("pyproject.toml", "setup.cfg"),
    }


def clean_environment() -> dict[str, str]:
    """Return the environment without what would lead to this checkout."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HLODB", "PYTHON", "PYTEST", "VIRTUAL_ENV"))
    }


def run(*command: str | Path, folder: Path, **more: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean_environment(), **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(folder: Path, *what: str | Path) -> Path:
    """Return the scripts of a new environment with `what` installed."""
    home = folder / "environment"
    if UV:
        run(UV, "venv", "-q", "--python", sys.executable, home, folder=folder)
        python = home / "bin" / "python"
        run(UV, "pip", "install", "-q", "--python", python, *what, folder=folder)
    else:
        run(sys.executable, "-m", "venv", home, folder=folder)
        run(home / "bin" / "pip", "install", "-q", *what, folder=folder)
    return home / "bin"


def clone(folder: Path) -> Path:
    """Return a clone of the last commit."""
    run("git", "clone", "-q", REPOSITORY, folder / "clone", folder=folder)
    return folder / "clone"


def with_pip(what: str | Path, folder: Path) -> list[str | Path]:
    return [installed(folder, what) / "hlodb"]


def with_pipx(what: str | Path, folder: Path) -> list[str | Path]:
    """Install pipx, and hlodb with it."""
    pipx = installed(folder, "pipx") / "pipx"
    homes = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    run(pipx, "install", "--python", sys.executable, what, folder=folder, **homes)
    return [folder / "bin" / "hlodb"]


def with_uvx(what: str | Path, folder: Path) -> list[str | Path]:
    if UV is None:
        pytest.skip("uv is not there")
    return [
        UV,
        "tool",
        "run",
        "-q",
        "--python",
        sys.executable,
        "--from",
        what,
        "hlodb",
    ]


WAYS: dict[str, Callable[[Path], list[str | Path]]] = {
    "pip, wheel": lambda folder: with_pip(package(".whl"), folder),
    "pip, sdist": lambda folder: with_pip(package(".tar.gz"), folder),
    "pip, git address": lambda f: with_pip(f"git+file://{clone(f)}", f),
    "pipx, clone": lambda folder: with_pipx(clone(folder), folder),
    "uvx, clone": lambda folder: with_uvx(clone(folder), folder),
    "uvx, git address": lambda f: with_uvx(f"git+file://{clone(f)}", f),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_dump_is_explained_from_an_empty_folder(way: str, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "empty").mkdir()
    hlodb = WAYS[way](tmp_path / "made")
    shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "dump")
    page = run(*hlodb, "explain", tmp_path / "dump", folder=tmp_path / "empty")
    assert "jit_cg" in page
    assert "zoo.py:61" in page
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_the_demo_runs(ending: str, tmp_path: Path) -> None:
    binaries = installed(tmp_path, package(ending))
    (tmp_path / "examples").mkdir()
    shutil.copy(REPOSITORY / "examples" / "demo.sh", tmp_path / "examples")
    shutil.copytree(REPOSITORY / "examples" / "dumps", tmp_path / "examples" / "dumps")
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    shown = run("bash", "examples/demo.sh", folder=tmp_path, PATH=path)
    assert "jit_cnn" in shown
    assert (tmp_path / ".demo" / "demo.duckdb").exists()

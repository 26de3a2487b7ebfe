"""Completion as bash itself does it, and as click answers zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = str(Path(sys.executable).parent)
RUN = "jaxlib-0.5.3"

ASK_BASH = """\
eval "$(_HLODB_COMPLETE=bash_source hlodb)"
COMP_LINE=$1 COMP_POINT=${#1}
_hlodb_completion hlodb 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment(warehouse: Path, **more: str) -> dict[str, str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HLODB_DB": str(warehouse), **more}


def bash(line: str, warehouse: Path) -> list[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK_BASH, "bash", line],
        env=environment(warehouse, COMP_WORDBREAKS="\"'><=;|&(:"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def asked(shell: str, line: str, warehouse: Path) -> list[str]:
    words = line.split(" ")
    place = words[-1] if shell == "fish" else str(len(words) - 1)
    done = subprocess.run(
        ["hlodb"],
        env=environment(
            warehouse,
            _HLODB_COMPLETE=f"{shell}_complete",
            COMP_WORDS=line,
            COMP_CWORD=place,
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    if shell == "zsh":
        return lines[1::3]
    return [line.partition(",")[2].partition("\t")[0] for line in lines]


LINES = [
    ("hlodb re", ["replay", "report"]),
    ("hlodb query peak_by_s", ["peak_by_space", "peak_by_source_line"]),
    ("hlodb query peak_contents jit_cn", ["jit_cnn"]),
    ("hlodb query peak_contents -p pro", ["program="]),
    ("hlodb query peak_contents -p program=jit_cn", ["program=jit_cnn"]),
    ("hlodb query peak_regressions -p follow=t", ["follow=true"]),
    (f"hlodb modules --run {RUN[:-1]}", [RUN]),
    (f"hlodb diff {RUN[:-1]}", [RUN]),
    (f"hlodb diff {RUN}:jit_cn", [f"{RUN}:jit_cnn"]),
    ("hlodb rm v5", ["v5e-jax-0.10.2"]),
]

FEW = [LINES[0], LINES[4], LINES[8]]
"""A command, a value behind `=` and one behind `:`, which shells split otherwise."""


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_bash(line: str, expected: list[str], demo_warehouse: Path) -> None:
    """Readline replaces what is behind the last `=` or `:` only."""
    broken = max(line.split(" ")[-1].rfind(mark) for mark in "=:") + 1
    assert set(bash(line, demo_warehouse)) == {item[broken:] for item in expected}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(("line", "expected"), FEW, ids=[line for line, _ in FEW])
def test_other_shells(
    shell: str, line: str, expected: list[str], demo_warehouse: Path
) -> None:
    assert set(asked(shell, line, demo_warehouse)) == set(expected)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_that_its_shell_takes(shell: str, tmp_path: Path) -> None:
    variables = {"_HLODB_COMPLETE": f"{shell}_source"}
    script = subprocess.run(
        ["hlodb"],
        env=environment(tmp_path / "none", **variables),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "hlodb" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_nothing_is_said_where_there_is_no_warehouse(tmp_path: Path) -> None:
    assert asked("zsh", "hlodb rm v5", tmp_path / "none.duckdb") == []

"""Run the commands of README and guides, and show what they print below them.

A `console` block holds commands behind `$`, then the output of the last. The commands
of a page run in one shell, in a folder with the warehouse of `make demo`, on a terminal
of 120 columns. Where a page shows an output up to a line `…`, it keeps as many lines.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
GUIDES = ROOT / "docs" / "guides"
DEMO = Path(".demo") / "demo.duckdb"
RELEASES = (
    "0.4.13 0.4.20 0.4.30 0.4.35 0.5.3 0.6.2 0.7.2 0.9.2 0.10.2".split()  # noqa: SIM905
)
COLUMNS, LINES = 120, 40
CUT = "…"

_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.M | re.S)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_HERE_DOCUMENT = re.compile(r"<<'(\w+)'$", re.M)
_SECONDS = re.compile(r"in [\d.]+ s \([^()]+/s\)")
_MARK = "-- end of a command --"


class Command(NamedTuple):
    """A command of a page, and the lines that the page shows below it."""

    text: str
    shown: list[str]


def pages() -> list[Path]:
    """Return the pages whose commands are run."""
    return [ROOT / "README.md", *sorted(GUIDES.glob("*.md"))]


def commands(page: str) -> list[Command]:
    """Return the commands of every console block of a page."""
    return [c for block in _BLOCK.findall(page) for c in _commands_of(block)]


def _commands_of(block: str) -> list[Command]:
    """Return the commands that a block begins with; the last one has the output.

    Output may have lines that begin with `$`, too: reports suggest commands.
    """
    found: list[Command] = []
    lines = iter(block.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            found[-1].shown.extend([line, *lines])
            break
        text = line[2:]
        while not _is_complete(text):
            text += "\n" + next(lines)
        found.append(Command(text, []))
    return found


def _is_complete(text: str) -> bool:
    if text.endswith("\\"):
        return False
    if document := _HERE_DOCUMENT.search(text):
        return text.endswith(f"\n{document[1]}")
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def python_blocks(page: str) -> list[str]:
    """Return the Python programs of a page; blocks of `py` are fragments of others."""
    return _PYTHON.findall(page)


def make_demo(warehouse: Path) -> None:
    """Ingest what `make demo` ingests."""
    dumps = ROOT / "examples" / "dumps"
    nine = [str(dumps / "cpu" / f"jaxlib-{release}.tar.xz") for release in RELEASES]
    for sources in (
        [*nine, "--series", "xla-releases"],
        [str(dumps / "tpu" / "v5e-jax-0.10.2.tar.xz")],
    ):
        words = ["hlodb", "ingest", *sources, "--db", str(warehouse)]
        subprocess.run(words, check=True, capture_output=True, env=environment())


def prepare(folder: Path, warehouse: Path) -> None:
    """Make `folder` look like a checkout in which `make demo` has run."""
    (folder / DEMO).parent.mkdir()
    shutil.copy(warehouse, folder / DEMO)
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "tests").symlink_to(ROOT / "tests")


def renewed(page: str, folder: Path) -> str:
    """Return a page with the outputs of its commands, run in `folder`."""
    printed = iter(_outputs([c.text for c in commands(page)], folder))

    def with_outputs(block: re.Match[str]) -> str:
        *silent, last = _commands_of(block[1])
        for command in silent:
            if found := next(printed):
                raise ValueError(f"{command.text} prints {found}: end the block there")
        lines = [f"$ {command.text}" for command in (*silent, last)]
        lines += _cut(next(printed), last.shown)
        return "".join(f"{line}\n" for line in lines)

    return _BLOCK.sub(with_outputs, page)


def _cut(printed: list[str], shown: list[str]) -> list[str]:
    if CUT in shown:
        kept = shown.index(CUT)
        return [*printed[:kept], CUT] if len(printed) > kept else printed
    return printed


def _outputs(texts: list[str], folder: Path) -> list[list[str]]:
    """Return what each command prints on a terminal: data, then narration."""
    steps = [f"{{ {text}\n}} 2>.errors; code=$?\ncat .errors\n" for text in texts]
    script = f"echo '{_MARK}'\n(exit $code)\n".join(steps)
    controller, terminal = pty.openpty()
    size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        env=environment(),
    ):
        os.close(terminal)
        text = b"".join(_read(controller)).decode("utf-8")
    lines = _COLOUR.sub("", text).replace("\r\n", "\n").split(f"{_MARK}\n")
    timeless = [_SECONDS.sub("in … s", part) for part in lines]
    return [[line.rstrip() for line in part.rstrip().splitlines()] for part in timeless]


def _read(controller: int) -> Iterator[bytes]:
    with open(controller, "rb", buffering=0) as stream:
        try:
            while part := stream.read(2**16):
                yield part
        except OSError:  # How Linux says that nobody holds the terminal any more.
            return


def environment() -> dict[str, str]:
    """Return the environment of commands: what a user has, and no colour."""
    kept = {"HOME", "LANG", "TMPDIR"}
    found = {name: os.environ[name] for name in kept if name in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**found, "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "USER": "me"}


def run_python(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python program of a page in `folder`."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

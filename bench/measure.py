"""Runs a command as a cold process; tells its time and the memory of all its processes.

A run begins when the machine is idle, or after a minute; what other processes took of
the cores meanwhile is reported, because it is not to be trusted then.

Memory is PSS from /proc: pages that several processes share are divided among them, so
the sum over a process tree counts each page once. It is sampled in a run of its own,
because sampling takes time from what is measured.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_SAMPLE_SECONDS = 0.02
_IDLE_RATIO = 0.9
_PATIENCE_SECONDS = 60
REPOSITORY = Path(__file__).parent.parent
# Modules are compiled once, as where they are installed, whatever the shell says.
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


class Run(NamedTuple):
    """One finished process: what it took, and its standard output.

    `others_ratio` is the share of all cores that other processes had meanwhile.
    """

    seconds: float
    cpu_seconds: float
    others_ratio: float
    output: str


def run(command: Sequence[str]) -> Run:
    """Run `command` in the repository; raises CalledProcessError where it fails."""
    wait_until_idle()
    before, (busy_before, total_before) = os.times(), _machine_seconds()
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    after, (busy_after, total_after) = os.times(), _machine_seconds()
    if done.returncode:
        raise subprocess.CalledProcessError(
            done.returncode, command, done.stdout, done.stderr
        )
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    others = max(0.0, busy_after - busy_before - cpu)
    return Run(seconds, cpu, others / (total_after - total_before), done.stdout)


def wait_until_idle() -> None:
    """Wait until other processes leave the cores alone, for a minute at most."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        busy, total = _machine_seconds()
        time.sleep(0.3)
        busy_now, total_now = _machine_seconds()
        if busy_now - busy <= (1 - _IDLE_RATIO) * (total_now - total):
            return


def _machine_seconds() -> tuple[float, float]:
    """Return the busy time of all cores since the machine started, and all time."""
    fields = _read(Path("/proc/stat")).split("\n", 1)[0].split()[1:9]
    ticks = [int(field) for field in fields]
    idle = ticks[3] + ticks[4]
    total = max(sum(ticks), 1)
    rate = os.sysconf("SC_CLK_TCK")
    return (total - idle) / rate, total / rate


def peak_bytes(command: Sequence[str]) -> int:
    """Run `command`; give the most memory that its processes held at once (bytes)."""
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=_ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    most = 0
    while process.poll() is None:
        most = max(most, sum(map(_pss, _tree(process.pid))))
        time.sleep(_SAMPLE_SECONDS)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return most


def _tree(pid: int) -> Iterator[int]:
    """Yield a process and all that it started."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(path).split():
            yield from _tree(int(child))


def _pss(pid: int) -> int:
    for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: Path) -> str:
    # A process may end while it is looked at.
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""

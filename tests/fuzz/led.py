"""Fuzzing led by coverage: `python -m tests.fuzz.led SECONDS [TARGET…]`.

libFuzzer, through atheris, keeps inputs that reach new code. Without atheris
(`pip install atheris`) this says so and ends. With --record the number of inputs is
added to docs/figures/fuzzing.json.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.record import Tried, add

_MOST_MEMORY_MB = 3000
_NOTHING_LED = "no interesting inputs were found"
"""libFuzzer's word for code that is not instrumented."""

_DONE = re.compile(r"^Done ([0-9]+) (?:runs )?in ", re.MULTILINE)


def main() -> int:
    """Fuzz each target in a process of its own; give 1 where harm was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, help="for all together")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--alone", action="store_true", help="in this very process")
    parser.add_argument("--record", action="store_true", help="add to docs/figures")
    options = parser.parse_args()
    if find_spec("atheris") is None:
        print("atheris is not installed (pip install atheris): nothing is led")
        return 0
    if options.alone:
        _fuzz_alone(options.targets[0], int(options.seconds))
    from tests.fuzz.targets import TARGETS

    names = options.targets or list(TARGETS)
    harmed = 0
    for name in names:
        tried = _fuzz(name, max(1, int(options.seconds / len(names))))
        print(f"{name}: {tried.inputs} inputs, {tried.findings} findings", flush=True)
        harmed += tried.findings
        if options.record:
            add(name, "led", tried)
    return 1 if harmed else 0


def _fuzz(name: str, seconds: int) -> Tried:
    arguments = ["--alone", str(seconds), name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "tests.fuzz.led", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    cpu_seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(done.stdout, end="", flush=True)
    counted = _DONE.search(done.stderr)
    if done.returncode or counted is None or _NOTHING_LED in done.stderr:
        print(f"--- {name} ended with {done.returncode}: {done.stderr[-2000:]}")
        return Tried(0, cpu_seconds, 1)
    return Tried(int(counted[1]), cpu_seconds, done.stdout.count("--- "))


def _fuzz_alone(name: str, seconds: int) -> None:
    """Fuzz one target; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["hlodb.ingest"]):
        from tests.fuzz.__main__ import attempt, tell_new
        from tests.fuzz.seeds import seeds
        from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    told: set[str] = set()

    def read(data: bytes) -> None:
        tell_new(name, data, attempt(target, data), told)

    with tempfile.TemporaryDirectory() as folder:
        starts = [data for kind in target.kinds for data in seeds().get(kind, [])]
        for number, data in enumerate(starts):
            (Path(folder) / str(number)).write_bytes(data)
        limits = [f"-max_total_time={seconds}", f"-rss_limit_mb={_MOST_MEMORY_MB}"]
        atheris.Setup(["fuzz", *limits, "-max_len=40000", folder], read)
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

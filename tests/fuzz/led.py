"""Fuzzing led by coverage: `python -m tests.fuzz.led SECONDS [TARGET…]`.

libFuzzer, through atheris, keeps inputs that reach new code. Without atheris
(`pip install atheris`) this says so and ends.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

_MOST_MEMORY_MB = 3000


def main() -> int:
    """Fuzz each target in a process of its own; give 1 where harm was done."""
    seconds, *names = sys.argv[1:]
    if find_spec("atheris") is None:
        print("atheris is not installed (pip install atheris): nothing is led")
        return 0
    if names[:1] == ["--alone"]:
        _fuzz_alone(names[1], int(seconds))
    from tests.fuzz.targets import TARGETS

    names = names or list(TARGETS)
    each = max(1, int(float(seconds) / len(names)))
    harmed = 0
    for name in names:
        command = [sys.executable, "-m", "tests.fuzz.led", str(each), "--alone", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        runs = [line for line in done.stderr.splitlines() if line.startswith("Done ")]
        bad = done.stdout.count("--- ") + (done.returncode != 0)
        print(f"{name}: {runs[-1] if runs else done.stderr[-500:]}, {bad} did harm")
        print(done.stdout, end="", flush=True)
        harmed += bad
    return 1 if harmed else 0


def _fuzz_alone(name: str, seconds: int) -> None:
    """Fuzz one target; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["hlodb.ingest"]):
        from tests.fuzz.__main__ import attempt, keep
        from tests.fuzz.seeds import seeds
        from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    told: set[str] = set()

    def read(data: bytes) -> None:
        wrong = attempt(target, data)
        where = "\n".join(wrong.splitlines()[-3:])
        if wrong and where not in told:
            told.add(where)
            print(f"--- {name}: {keep(name, data)}\n{wrong}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        starts = [data for kind in target.kinds for data in seeds().get(kind, [])]
        for number, data in enumerate(starts):
            (Path(folder) / str(number)).write_bytes(data)
        limits = [f"-max_total_time={seconds}", f"-rss_limit_mb={_MOST_MEMORY_MB}"]
        atheris.Setup(["fuzz", *limits, "-max_len=40000", folder], read)
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

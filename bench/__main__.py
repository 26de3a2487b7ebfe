"""Measures ingest and storage: `python -m bench [CASE…]`, all cases unless named.

Figures go to bench/results/ingest.json, case by case, and to the standard output as
tables; bench/performance.md shows them. `--quick` is a check of the harness: small
inputs, one round, results beside the others as ingest-quick.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from bench.cases import CASES, SCALES, Bench
from bench.inputs import Inputs
from bench.measure import REPOSITORY
from bench.page import NAME, PAGE, table
from bench.tables import swollen, tables
from docs.measured import renew_page

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run the cases that were named and keep their figures."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="about a minute in all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, help="where inputs and warehouses are kept"
    )
    parser.add_argument(
        "--xla-python", default=sys.executable, help="a Python that has jaxlib"
    )
    given = parser.parse_args()
    if unknown := set(given.cases) - CASES.keys():
        parser.error(f"no case is called {', '.join(sorted(unknown))}")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="hlodb-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        Inputs(folder / ("quick" if given.quick else "full"), given.quick),
        folder,
        1 if given.quick else given.rounds,
        given.xla_python if _has_jaxlib(given.xla_python) else None,
        SCALES[:2] if given.quick else SCALES,
    )
    missed: list[str] = []
    results = RESULTS / ("ingest-quick.json" if given.quick else "ingest.json")
    try:
        for name in given.cases or CASES:
            figures = CASES[name](bench) | _circumstances(bench)
            _keep(results, name, figures)
            print(tables({name: figures}), flush=True)
            missed += swollen(figures) if name == "memory" else []
        if not given.quick:
            renew_page(PAGE, NAME, table())
    finally:
        if given.folder is None:
            shutil.rmtree(folder)
    for kind in missed:
        print(f"too much memory for one large file: {kind}", file=sys.stderr)
    return 1 if missed else 0


def _has_jaxlib(python: str) -> bool:
    command = [python, "-c", "import jaxlib"]
    found = subprocess.run(command, check=False, capture_output=True).returncode == 0
    if not found:
        print("jaxlib is not installed: XLA's parser is left out", file=sys.stderr)
    return found


def _circumstances(bench: Bench) -> dict[str, Any]:
    described = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(
        described, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": bench.rounds,
        "commit": commit.stdout.strip(),
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "python": platform.python_version(),
            "duckdb": duckdb.__version__,
        },
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _keep(path: Path, name: str, figures: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[name] = figures
    ordered = {case: known[case] for case in CASES if case in known}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

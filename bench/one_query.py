"""Runs one canned query in a process of its own and prints how long it took.

    python -m bench.one_query WAREHOUSE NAME

prints a JSON object: seconds of the cold first run (from opening the file to the last
row), of the warm runs after it on the same connection, the rows of the answer, and the
greatest memory of the process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from hlodb.errors import HlodbError
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

WARM_RUNS = 3
PATIENCE_SECONDS = 20.0
"""A query whose first run takes longer is not run again."""


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that `action` takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def measure(path: str, name: str) -> dict[str, object]:
    """Return the figures of the query `name` on the warehouse at `path`."""
    catalogue = load_catalogue()
    started = time.perf_counter()
    with connect(path) as connection:

        def ask() -> int:
            return len(run_query(connection, name, catalogue=catalogue).rows)

        rows = ask()
        cold = time.perf_counter() - started
        times = WARM_RUNS if cold < PATIENCE_SECONDS else 0
        warm = [timed(ask) for _ in range(times)]
    return {
        "cold_seconds": cold,
        "warm_seconds": median(warm or [cold]),
        "rows": rows,
        "peak_memory_bytes": peak_memory(),
    }


def peak_memory() -> int:
    """Return the greatest memory of this process, in bytes.

    getrusage tells that of the process that started it, where that was greater.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def main() -> None:
    """Measure, or print what went wrong."""
    try:
        print(json.dumps(measure(*sys.argv[1:3])))
    except HlodbError as error:
        print(json.dumps({"error": str(error)}))


if __name__ == "__main__":
    main()

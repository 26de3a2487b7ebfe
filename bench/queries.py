"""Times every canned query, the report and one more night, on warehouses of many runs.

    python -m bench.queries --runs 10 100 1000

Warehouses are generated (bench/generate_warehouse.py) and kept in a folder. Each query
runs in a process of its own: cold from opening the file to the last row, then warm, the
median of three. Commands are whole processes, as in a shell, the median of three.
Results go to bench/results/queries.json as they come; with `--seconds` the bench stops
after so long, and called again goes on with what is missing. At the end it puts them
into bench/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from bench.generate_warehouse import REPOSITORY, Scale, generate_warehouse
from bench.page import PAGE
from bench.query_tables import NAME, page
from docs.measured import renew_page
from hlodb.queries.catalogue import BUILDING_BLOCKS, Catalogue, load_catalogue
from hlodb.queries.macros import in_order
from hlodb.queries.query import Query
from hlodb.schema.warehouse import connect

Figures = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "queries.json"
DEFAULT_RUNS = [10, 100, 1000]
DEFAULT_MODULES = 300
ROUNDS = 3
LIMIT_SECONDS = 120
NIGHT = REPOSITORY / "examples" / "dumps" / "cpu" / "jaxlib-0.10.2.tar.xz"
"""One more night to ingest: 22 modules that no generated warehouse holds."""

COMMANDS = {
    "hlodb report": ["report", "--no-record"],
    "hlodb report --series cpu": ["report", "--no-record", "--series", "cpu"],
    "hlodb diff": ["diff", "{base}", "{candidate}"],
    "hlodb check --run": ["check", "--run", "{candidate}"],
    "hlodb runs": ["runs"],
    "hlodb query peak_by_space": ["query", "peak_by_space"],
}


def scope(query: Query, catalogue: Catalogue) -> str:
    """Return the scope of a query: one run, two runs, or all of them."""
    read = {q.name for q in in_order([query], catalogue)}
    if "selected_pair" in read:
        return "two runs"
    chooses = "run" in {parameter.name for parameter in query.parameters}
    return "one run" if chooses and "selected_run" in read else "all runs"


def open_warehouse(folder: Path, runs: int, modules: int) -> tuple[Path, Figures]:
    """Return a warehouse of so many runs, made unless it is there, and its size."""
    path = folder / f"runs-{runs}x{modules}.duckdb"
    about = path.with_suffix(".json")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        generate_warehouse(path, Scale(runs=runs, modules=modules))
        seconds = time.perf_counter() - started
        about.write_text(json.dumps({"generate_seconds": seconds} | contents(path)))
    figures: Figures = json.loads(about.read_text())
    return path, figures


def contents(path: Path) -> Figures:
    """Count what a warehouse holds."""
    counts = {
        "runs": "SELECT count(*) FROM runs",
        "modules": "SELECT count(*) FROM modules",
        "module_contents": "SELECT count(DISTINCT module_id) FROM modules",
        "files": "SELECT count(*) FROM dump_files",
        "instructions": "SELECT count(*) FROM store.instructions",
        "instruction_forms": "SELECT count(*) FROM store.instruction_forms",
        "memory_profiles": "SELECT count(*) FROM memory_profile",
    }
    with connect(path) as warehouse:
        found = {
            name: (warehouse.execute(sql).fetchone() or (0,))[0]
            for name, sql in counts.items()
        }
    return found | {"size_bytes": path.stat().st_size}


def measure_query(path: Path, name: str) -> Figures:
    """Time one query in a process of its own."""
    command = [sys.executable, "-m", "bench.one_query", str(path), name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=REPOSITORY,
            timeout=LIMIT_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LIMIT_SECONDS} s"}
    if done.returncode:
        return {"error": done.stderr.strip().rpartition("\n")[2]}
    figures: Figures = json.loads(done.stdout)
    return figures


def measure_command(path: Path, arguments: list[str]) -> Figures:
    """Time a whole command, from its start to its end."""
    seconds = [hlodb(path, arguments) for _ in range(ROUNDS)]
    return {"cold_seconds": seconds[0], "warm_seconds": median(seconds)}


def measure_night(path: Path, *, again: bool) -> Figures:
    """Time the ingest of one more night: of new modules, or of known ones alone."""
    copy = path.with_suffix(".copy.duckdb")
    shutil.copy(path, copy)
    try:
        if again:
            hlodb(copy, ["ingest", str(NIGHT), "--run", "before"])
        seconds = hlodb(copy, ["ingest", str(NIGHT), "--run", "night"])
    finally:
        copy.unlink()
    return {"cold_seconds": None, "warm_seconds": seconds}


def hlodb(path: Path, arguments: list[str]) -> float:
    """Run hlodb on a warehouse; give its seconds."""
    command = [sys.executable, "-m", "hlodb", *arguments, "--db", str(path)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return seconds


def latest_pair(path: Path) -> dict[str, str]:
    """Return the names of the latest run and of the one before it in its series."""
    with connect(path) as warehouse:
        rows = warehouse.execute("""
            SELECT name FROM runs SEMI JOIN
              (SELECT arg_max(series, started_at) AS series FROM runs) USING (series)
            ORDER BY started_at DESC LIMIT 2
        """).fetchall()
    return {"candidate": rows[0][0], "base": rows[-1][0]}


def measurements(path: Path) -> Iterator[tuple[str, str, Callable[[], Figures]]]:
    """Yield all that is measured on a warehouse: what it reads, its name, and how."""
    for name, night in (("new modules", False), ("known modules", True)):
        yield (
            "commands",
            f"hlodb ingest, {name}",
            partial(measure_night, path, again=night),
        )
    pair = latest_pair(path)
    for name, arguments in COMMANDS.items():
        filled = [argument.format(**pair) for argument in arguments]
        yield "commands", name, partial(measure_command, path, filled)
    catalogue = load_catalogue()
    for query in catalogue.values():
        if query.group not in BUILDING_BLOCKS:
            reads = scope(query, catalogue)
            yield reads, query.name, partial(measure_query, path, query.name)


def measure_all(folder: Path, runs: int, modules: int, until: float) -> bool:
    """Measure what has no figures yet; tell whether all of it has some."""
    path, about = open_warehouse(folder, runs, modules)
    for reads, name, measure in measurements(path):
        results = read_results()
        found = results.setdefault(str(runs), {"warehouse": about, "measured": {}})
        if name in found["measured"]:
            continue
        if time.monotonic() > until:
            return False
        found["measured"][name] = {"reads": reads} | measure()
        found["machine"] = machine()
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return True


def read_results() -> dict[str, Figures]:
    """Return earlier measurements, by the number of runs."""
    if not RESULTS.exists():
        return {}
    results: dict[str, Figures] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return results


def machine() -> Figures:
    """Return a description of the measured machine."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
    }


def main() -> int:
    """Measure, show the tables; 1 where the seconds were over before the end.

    The page gets them when the default warehouses are measured to the end.
    """
    parser = argparse.ArgumentParser(prog="bench.queries", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=DEFAULT_RUNS)
    parser.add_argument("--modules", type=int, default=DEFAULT_MODULES)
    parser.add_argument("--folder", type=Path, default=Path(".bench"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--anew", action="store_true", help="forget earlier figures")
    given = parser.parse_args()
    if given.anew:
        RESULTS.unlink(missing_ok=True)
    until = time.monotonic() + given.seconds
    scales = [
        measure_all(given.folder, runs, given.modules, until) for runs in given.runs
    ]
    tables = page(read_results())
    print(tables)
    if not all(scales):
        return 1
    if (given.runs, given.modules) == (DEFAULT_RUNS, DEFAULT_MODULES):
        renew_page(PAGE, NAME, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares lakes with files: sizes, seconds, and how both grow with the runs.

    python -m bench.lakes --runs 10 100 1000

Warehouses are those of `bench.queries`, in the same folder. Seconds are CPU seconds of
whole processes, the median of three, file and lake in turn. Results go to
bench/results/lakes.json and, when all of the default sizes are measured, into
docs/reference/lake.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.generate_warehouse import REPOSITORY
from bench.queries import DEFAULT_MODULES, DEFAULT_RUNS, latest_pair, open_warehouse
from docs.measured import renew_page
from hlodb.lake.layout import create_lake, lake_at
from hlodb.lake.packages import package_name, packed_runs, run_key, write_package
from hlodb.lake.packing import pack
from hlodb.schema.compact import compact
from hlodb.schema.warehouse import connect

Figures = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "lakes.json"
PAGE = REPOSITORY / "docs" / "reference" / "lake.md"
NAME = "lakes"
ROUNDS = 3
MOST_PACKAGES = 100
"""Runs up to which a lake with a package for each run is made: it takes long."""

DUMPS = sorted((REPOSITORY / "examples" / "dumps" / "cpu").glob("*.tar.xz"))

QUESTIONS = {
    "report": ["report", "--no-record", "--warn-only"],
    "report on two runs": ["report", "--no-record", "--warn-only",
                           "--run", "{candidate}", "--baseline", "{base}"],
    "peak_by_space": ["query", "peak_by_space"],
    "peak_contents": ["query", "peak_contents"],
    "peak_regressions": ["query", "peak_regressions", "-p", "candidate={candidate}",
                         "-p", "base={base}"],
    "environment_diff": ["query", "environment_diff", "-p", "candidate={candidate}",
                         "-p", "base={base}"],
    "nondeterminism": ["query", "nondeterminism", "-p",
                       "only_runs={candidate},{base}"],
}  # fmt: skip


def cpu_seconds(arguments: Sequence[str]) -> float:
    """Return the CPU seconds of `hlodb`, of the system's work for it, too."""
    command = [sys.executable, "-m", "hlodb", *arguments]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    after = os.times()
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return sum(after[2:4]) - sum(before[2:4])


def in_turn(sides: Mapping[str, Sequence[str]]) -> Figures:
    """Return the median CPU seconds of commands that are run in turn."""
    found: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, arguments in sides.items():
            found[side].append(cpu_seconds(arguments))
    return {side: median(values) for side, values in found.items()}


def size_of(path: Path) -> tuple[int, int]:
    """Return bytes and files below a folder, or of a file."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files), len(files)


def measure_runs(folder: Path, runs: int, modules: int) -> Figures:
    """Measure one number of runs."""
    file, about = open_warehouse(folder, runs, modules)
    compact(file)
    lake = file.with_suffix(".lake")
    shutil.rmtree(lake, ignore_errors=True)
    pack(file, lake)
    figures: Figures = {
        "modules": about["modules"],
        "file_bytes": size_of(file)[0],
        "lake_bytes": size_of(lake)[0],
        "lake_files": size_of(lake)[1],
        "catalogue_bytes": size_of(lake / "lake.duckdb")[0],
    }
    pair = latest_pair(file)
    figures["questions"] = {
        name: in_turn(
            {
                side: [*(word.format(**pair) for word in words), "--db", str(path)]
                for side, path in (("file", file), ("lake", lake))
            }
        )
        for name, words in QUESTIONS.items()
    }
    if runs <= MOST_PACKAGES:
        figures |= measure_packages(file, lake.with_suffix(".many.lake"))
    return figures


def measure_packages(file: Path, lake: Path) -> Figures:
    """Measure a lake with a package for each run, and its compaction."""
    shutil.rmtree(lake, ignore_errors=True)
    create_lake(lake)
    storage = lake_at(lake)
    with storage.drafts() as drafts, connect(file, folders=[drafts]) as connection:
        for run in packed_runs(connection):
            key = run_key(run)
            name = package_name([run.name], [key])
            write_package(connection, storage, drafts, name, {run.run_id: key})
    size, files = size_of(lake)
    first = cpu_seconds(["query", "peak_by_space", "--db", str(lake)])
    then = cpu_seconds(["query", "peak_by_space", "--db", str(lake)])
    merging = cpu_seconds(["compact", "--db", str(lake)])
    shutil.rmtree(lake)
    return {
        "packages_bytes": size,
        "packages_files": files,
        "first_seconds": first,
        "then_seconds": then,
        "compact_seconds": merging,
    }


def measure_ingest() -> Figures:
    """Measure ingests one after another: a file and a lake that are there already."""
    seconds: dict[str, list[float]] = {"file": [], "lake": []}
    with tempfile.TemporaryDirectory() as folder:
        sides = {"file": Path(folder) / "w.duckdb", "lake": Path(folder) / "w.lake"}
        first, *nights = DUMPS
        cpu_seconds(["lake", "create", str(sides["lake"])])
        for path in sides.values():
            cpu_seconds(["ingest", str(first), "--db", str(path)])
        for night in nights:
            for side, path in sides.items():
                command = ["ingest", str(night), "--jobs", "1", "--db", str(path)]
                seconds[side].append(cpu_seconds(command))
    return {side: sum(values) for side, values in seconds.items()}


def table(results: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    scales = {runs: results["runs"][runs] for runs in sorted(results["runs"], key=int)}
    heads = [f"{int(runs):,} runs" for runs in scales]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]

    def add(title: str, *values: str) -> None:
        lines.append(f"| {title} | {' | '.join(values)} |")

    add("modules", *(f"{s['modules']:,}" for s in scales.values()))
    for title, key in (
        ("file, MB", "file_bytes"),
        ("compacted lake, MB", "lake_bytes"),
        ("its catalogue, MB", "catalogue_bytes"),
        ("lake with a package for each run, MB", "packages_bytes"),
    ):
        add(title, *(_megabytes(s.get(key)) for s in scales.values()))
    for title, key in (
        ("its files", "packages_files"),
        ("files of a compacted lake", "lake_files"),
    ):
        add(title, *(f"{s[key]:,}" if key in s else "-" for s in scales.values()))
    for title, key in (
        ("first query of many packages, s", "first_seconds"),
        ("same query again, s", "then_seconds"),
        ("compaction, s", "compact_seconds"),
    ):
        add(title, *(f"{s[key]:.1f}" if key in s else "-" for s in scales.values()))
    for name in QUESTIONS:
        add(
            f"{name}: file / lake, s",
            *(
                "{file:.2f} / {lake:.2f}".format(**s["questions"][name])
                for s in scales.values()
            ),
        )
    ingest = results["ingest"]
    lines += [
        "",
        f"Ingesting the dumps of {len(DUMPS) - 1} releases one after another took"
        f" {ingest['file']:.1f} s into a file, {ingest['lake']:.1f} s into a lake.",
    ]
    return "\n".join(lines)


def _megabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e6:.1f}"


def main() -> int:
    """Measure, and renew the page when all is measured."""
    parser = argparse.ArgumentParser(prog="bench.lakes", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="*", default=DEFAULT_RUNS)
    parser.add_argument("--modules", type=int, default=DEFAULT_MODULES)
    parser.add_argument("--folder", type=Path, default=Path(".bench"))
    given = parser.parse_args()
    results: Figures = {"runs": {}}
    if RESULTS.exists():
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for runs in given.runs:
        found = measure_runs(given.folder.resolve(), runs, given.modules)
        results["runs"][str(runs)] = found
    results["ingest"] = measure_ingest()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    if {*map(str, DEFAULT_RUNS)} <= results["runs"].keys():
        renew_page(PAGE, NAME, table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

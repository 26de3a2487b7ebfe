"""What is compared on one input: commands that run as processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.copy_tables import export_tables
from bench.inputs import Input
from bench.measure import Run, peak_bytes, run

HLODB = [sys.executable, "-m", "hlodb"]
Figures = dict[str, Any]


@dataclass(frozen=True)
class Side:
    """A command, what has to be done before each run, and what it says of itself."""

    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    read: Callable[[Run], Figures] = lambda _: {}


def ingest(paths: Sequence[str], database: Path) -> list[str]:
    """Return the command that ingests directories."""
    return [*HLODB, "ingest", *paths, "--db", str(database)]


def ingest_into_new(given: Input, database: Path) -> Side:
    """Return the whole ingest into a file that it has to make."""
    return Side(ingest(given.paths, database), lambda: remove(database))


def ingest_into_empty(given: Input, database: Path, empty: Path) -> Side:
    """Return the whole ingest into an existing warehouse, as on most nights."""

    def prepare() -> None:
        remove(database)
        shutil.copyfile(empty, database)
        # Written the night before, while unpacked dumps have the times they had.
        os.utime(database, (0, 0))

    return Side(ingest(given.paths, database), prepare)


def ingest_again(given: Input, database: Path) -> Side:
    """Return the ingest of what the warehouse holds already."""
    return Side(ingest(given.paths, database))


def parse_with_xla(given: Input, python: str) -> Side:
    """Return XLA's parser on the HLO texts of the input; only its parsing is timed."""
    command = [python, "-m", "bench.xla_parser", *given.paths]
    return Side(command, read=lambda done: {"parser": json.loads(done.output)})


def read_and_hash(given: Input) -> Side:
    """Return the reading and hashing of all files."""
    return Side([sys.executable, "-m", "bench.read_and_hash", *given.paths])


def copy_tables(warehouse: Path, folder: Path) -> Side:
    """Return DuckDB's copying of the tables that the ingest made."""
    parquet, copy = folder / "parquet", folder / "copy.duckdb"
    shutil.rmtree(parquet, ignore_errors=True)
    rows = export_tables(warehouse, parquet)
    return Side(
        [sys.executable, "-m", "bench.copy_tables", str(parquet), str(copy)],
        lambda: remove(copy),
        lambda _: {"rows": rows},
    )


def compare(sides: dict[str, Side], rounds: int) -> dict[str, Figures]:
    """Run all sides in turn, `rounds` times; give medians, and the peak of memory.

    The first, uncounted run of each is the one whose memory is sampled.
    """
    figures: dict[str, Figures] = {}
    for name, side in sides.items():
        side.prepare()
        figures[name] = {"peak_bytes": peak_bytes(side.command)}
    runs: dict[str, list[Run]] = {name: [] for name in sides}
    told: dict[str, list[Figures]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            side.prepare()
            runs[name].append(run(side.command))
            told[name].append(side.read(runs[name][-1]))
    for name, found in figures.items():
        found["seconds"] = median(r.seconds for r in runs[name])
        found["all_seconds"] = [round(r.seconds, 3) for r in runs[name]]
        found["others_ratio"] = median(r.others_ratio for r in runs[name])
        found["cpu_seconds"] = median(r.cpu_seconds for r in runs[name])
        found |= _median_told(told[name])
    return figures


def _median_told(told: list[Figures]) -> Figures:
    """Return the report of a side in the round with the median parsing time."""
    ordered = sorted(told, key=lambda t: t.get("parser", {}).get("seconds", 0))
    return ordered[len(ordered) // 2]


def remove(database: Path) -> None:
    """Delete a database and its log, if they are there."""
    database.unlink(missing_ok=True)
    Path(f"{database}.wal").unlink(missing_ok=True)

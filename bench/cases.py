"""The cases of `python -m bench`: each gives figures as JSON has them."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from bench.inputs import Input, Inputs
from bench.large_files import LARGE
from bench.measure import REPOSITORY, peak_bytes, run
from bench.sides import (
    HLODB,
    Figures,
    Side,
    compare,
    copy_tables,
    ingest,
    ingest_again,
    ingest_into_empty,
    ingest_into_new,
    parse_with_xla,
    read_and_hash,
    remove,
)
from bench.widen import move_dump

SCALES = (1, 4, 16, 64)
NIGHTS = 50
MOVED_NIGHTS = 10
"""So many that room which a file keeps for blocks written anew weighs little."""

EXPLAINED = REPOSITORY / "examples" / "dumps" / "cpu" / "jaxlib-0.10.2.tar.xz"
MOVED = REPOSITORY / "tests" / "data" / "moved_lines"


@dataclass(frozen=True)
class Bench:
    """Where inputs lie, where warehouses are made, and how often all is run."""

    inputs: Inputs
    folder: Path
    rounds: int
    xla_python: str | None
    scales: tuple[int, ...] = SCALES


def passes(bench: Bench) -> Figures:
    """Compare the sides on pass dumps."""
    return _speed(bench, bench.inputs.passes())


def wide_passes(bench: Bench) -> Figures:
    """Compare the sides on half a gigabyte of pass dumps."""
    return _speed(bench, bench.inputs.wide_passes())


def distinct(bench: Bench) -> Figures:
    """Compare the sides on final dumps."""
    return _speed(bench, bench.inputs.distinct())


def protos(bench: Bench) -> Figures:
    """Compare the sides on dumps that have each module twice, as text and as proto."""
    return _speed(bench, bench.inputs.protos())


def large(bench: Bench) -> Figures:
    """Compare the sides on a gigabyte of both."""
    return _speed(bench, bench.inputs.large())


def single(bench: Bench) -> Figures:
    """Compare the sides on one large file."""
    return _speed(bench, bench.inputs.single())


def _speed(bench: Bench, given: Input) -> Figures:
    """Compare all sides on an input; the warehouse that comes out is looked at, too."""
    database, empty = bench.folder / "new.duckdb", bench.folder / "empty.duckdb"
    copy = bench.folder / "into.duckdb"
    _make_empty(empty)
    remove(database)
    run(ingest(given.paths, database))
    size = database.stat().st_size
    sides = {
        "hlodb, new warehouse": ingest_into_new(given, database),
        "hlodb": ingest_into_empty(given, copy, empty),
        "hlodb, all known": ingest_again(given, database),
        "reading and hashing": read_and_hash(given),
        "DuckDB from Parquet": copy_tables(database, bench.folder),
    }
    if bench.xla_python:
        sides["XLA's parser"] = parse_with_xla(given, bench.xla_python)
    figures = compare(sides, bench.rounds)
    run([*HLODB, "compact", "--db", str(database)])
    return {
        "input": _described(given),
        "sides": figures,
        "warehouse_bytes": size,
        "compact_bytes": database.stat().st_size,
        "empty_bytes": empty.stat().st_size,
    }


def _make_empty(path: Path) -> None:
    """Make a warehouse that has its macros, and no run."""
    remove(path)
    seed = next((MOVED / "before").rglob("*.txt"))
    run(ingest([str(seed)], path))
    run([*HLODB, "rm", seed.parent.name, "--db", str(path)])
    run([*HLODB, "compact", "--db", str(path)])


def _described(given: Input) -> Figures:
    return {
        "title": given.title,
        "bytes": given.bytes,
        "files": given.files,
        "runs": len(given.roots),
        "missing": given.missing,
    }


def nights(bench: Bench) -> Figures:
    """Return the file's growth in nights that changed nothing or moved lines."""
    final = bench.inputs.distinct().roots[0]
    return {
        "pass dumps": _grown(bench, bench.inputs.passes().roots[0]),
        final.name: _grown(bench, final),
        "real pair": _grown(bench, MOVED / "before", (MOVED / "after",)),
    }


def _grown(bench: Bench, root: Path, moved: tuple[Path, ...] = ()) -> Figures:
    """Ingest a dump night by night, then with source lines that move every night."""
    database = bench.folder / "nights.duckdb"
    _make_empty(database)
    sizes, used = [database.stat().st_size], [_used_bytes(database)]
    dumps = [root] * (NIGHTS + 1) + [*moved, *_moving(bench, (root, *moved)[-1])]
    for number, dump in enumerate(dumps[: NIGHTS + 1 + MOVED_NIGHTS]):
        run([*ingest([str(dump)], database), "--run", f"night-{number}"])
        sizes.append(database.stat().st_size)
        used.append(_used_bytes(database))
    return {
        "first_bytes": sizes[1] - sizes[0],
        "unchanged_bytes": (sizes[NIGHTS + 1] - sizes[1]) / NIGHTS,
        "unchanged_used_bytes": (used[NIGHTS + 1] - used[1]) / NIGHTS,
        "moved_bytes": (sizes[-1] - sizes[NIGHTS + 1]) / MOVED_NIGHTS,
        "moved_used_bytes": (used[-1] - used[NIGHTS + 1]) / MOVED_NIGHTS,
        "sizes": sizes,
    }


def _moving(bench: Bench, root: Path) -> list[Path]:
    """Return a dump whose source lines move by seven every night."""
    folders = []
    for night in range(1, MOVED_NIGHTS + 1):
        folder = bench.folder / "moved" / str(night) / root.parent.name / root.name
        move_dump(root, folder, 7 * night)
        folders.append(folder)
    return folders


def _used_bytes(database: Path) -> int:
    """Return the used bytes: the used parts of metadata blocks, others whole.

    The rest of the file waits to be used again.
    """
    with duckdb.connect(str(database), read_only=True) as connection:
        row = connection.execute("""
            SELECT s.block_size * (s.used_blocks - m.free_share)
            FROM pragma_database_size() AS s
            CROSS JOIN (
              SELECT sum(free_blocks / total_blocks) AS free_share
              FROM pragma_metadata_info()
            ) AS m
        """).fetchone()
    return int(row[0]) if row else 0


def scaling(bench: Bench) -> Figures:
    """Return time and memory of one run's dump, 4, 16 and 64 of them, widened."""
    database = bench.folder / "scale.duckdb"
    points = []
    for scale in bench.scales:
        given = bench.inputs.copies(scale)
        side = ingest_into_new(given, database)
        found = compare({"hlodb": side}, bench.rounds)["hlodb"]
        points.append({"times": scale, "bytes": given.bytes, **found})
    return {
        "points": points,
        "time_exponent": _exponent(bench.scales, [p["seconds"] for p in points]),
        "memory_exponent": _exponent(bench.scales, [p["peak_bytes"] for p in points]),
    }


def _exponent(sizes: tuple[int, ...], values: list[float]) -> float:
    """Return the slope of the logarithms (least squares): 1 is linear."""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)


def explain(bench: Bench) -> Figures:
    """Compare a first look at a dump with its ingest: both cold, nothing kept."""
    folder = bench.folder / "explained"
    with tarfile.open(EXPLAINED) as archive:
        archive.extractall(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    database = bench.folder / "explained.duckdb"
    looks = {
        "ingest": Side(ingest([str(folder)], database), lambda: remove(database)),
        "explain": Side([*HLODB, "explain", str(folder)]),
    }
    return {"bytes": size, "looks": compare(looks, bench.rounds)}


def memory(bench: Bench) -> Figures:
    """Return the memory for one large file of each kind.

    `times` is how often its size is in what it takes beyond a small dump.
    """
    database = bench.folder / "memory.duckdb"

    def peak(given: Input) -> int:
        remove(database)
        return peak_bytes(ingest(given.paths, database))

    small = peak(bench.inputs.small_file())
    files: Figures = {}
    for kind in LARGE:
        given = bench.inputs.large_file(kind)
        most = peak(given)
        files[kind] = {
            "bytes": given.bytes,
            "peak_bytes": most,
            "times": (most - small) / given.bytes,
        }
    return {"small_peak_bytes": small, "files": files}


CASES: dict[str, Callable[[Bench], Figures]] = {
    "passes": passes,
    "distinct": distinct,
    "protos": protos,
    "wide_passes": wide_passes,
    "large": large,
    "single": single,
    "nights": nights,
    "scaling": scaling,
    "explain": explain,
    "memory": memory,
}
"""What can be asked for by name, in the order in which all are run."""

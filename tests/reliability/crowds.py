"""Many processes at one warehouse, for as long as it takes to trust them."""

from __future__ import annotations

import os
import random
import time
from itertools import product
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from hlodb.ingest.load.delete import prune_runs
from hlodb.schema.backup import back_up
from hlodb.schema.warehouse import connect, transaction
from tests.reliability import children
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.lakes import race_in_lake
from tests.reliability.races import (
    REAL,
    in_turn,
    make_mixed,
    mixed_in_turn,
    mixed_race,
    race,
)
from tests.reliability.record import Figure
from tests.reliability.writers import (
    absorb,
    make_dumps,
    prune_until,
    read_until,
    report_until,
    run_names,
    write_in_turn,
    write_runs,
    write_together,
    write_until,
)

_WRITERS, _RUNS = 10, 20
_SOAK_SECONDS = 600
_SOAK_WRITERS, _SOAK_RUNS = 4, 50
_SAMPLE_SECONDS = 5
_LAKES = 3
_KEPT_WHOLE = 5
_MOST_GROWTH = 1.25
"""Of the file and of the largest process, from the first half to the second."""


def writers(folder: Path) -> Figure:
    """Ingest runs of ten processes, twenty of each, into one new file."""
    dumps, db = folder / "dumps", folder / "w.duckdb"
    made = make_dumps(dumps, _WRITERS, _RUNS)
    began = time.perf_counter()
    codes = write_together(dumps, db, _WRITERS, _RUNS)
    seconds = time.perf_counter() - began
    return _compared(folder, db, made, codes, seconds)


def staged(folder: Path) -> Figure:
    """Ingest runs of ten processes while another holds the lock; absorb them later."""
    dumps, db = folder / "dumps", folder / "w.duckdb"
    made = make_dumps(dumps, _WRITERS, _RUNS)
    write_runs(dumps, db, 0, 1)
    began = time.perf_counter()
    is_held = children.context().SimpleQueue()
    holder = children.start(children.hold, db, is_held, 3600)
    is_held.get()
    codes = write_together(dumps, db, _WRITERS, _RUNS, timeout_seconds=0)
    holder.kill()
    holder.join()
    kept_out = [code for code in codes if code != children.LOCKED_OUT]
    absorbing = [children.start(absorb, db) for _ in range(3)]
    for process in absorbing:
        process.join()
    codes = kept_out + [process.exitcode or 0 for process in absorbing]
    return _compared(folder, db, made, codes, time.perf_counter() - began)


def together(folder: Path) -> Figure:
    """Writers that begin together, each with a real dump of 4 MB.

    100 rounds of four, half of them into a new file, and 20 of eight.
    """
    began = time.perf_counter()
    wrong: list[str] = []
    tried = 0
    for writers, rounds in ((4, 50), (8, 10)):
        dumps = REAL[:writers]
        for existing in (False, True):
            home = folder / f"{writers}-{existing}"
            home.mkdir()
            expected = in_turn(home, dumps, existing=existing)
            for number in range(rounds):
                wrong += race(dumps, expected, existing=existing, jobs=1 + number % 2)
                tried += writers
    if wrong:
        print(wrong, flush=True)
    missing = sum(text.endswith("is missing") for text in wrong)
    found = f"{tried - missing} of {tried} runs are present, as if in turn."
    return Figure(tried, len(wrong), time.perf_counter() - began, found)


def races(folder: Path) -> Figure:
    """Real dumps of 4 MB among small ones, ten processes at once, twenty runs of each.

    Into a new and an existing file, with one and two jobs, with every writer killed
    twice and begun again, and not.
    """
    dumps = make_mixed(folder / "dumps", _WRITERS, _RUNS)
    began = time.perf_counter()
    expected = {
        existing: mixed_in_turn(folder, dumps, existing=existing)
        for existing in (False, True)
    }
    wrong: list[str] = []
    tried = 0
    for number, (existing, jobs, is_killed) in enumerate(
        product((False, True), (1, 2), (False, True))
    ):
        wrong += mixed_race(
            dumps,
            expected[existing],
            writers=_WRITERS,
            existing=existing,
            jobs=jobs,
            killed=random.Random(number) if is_killed else None,
        )
        tried += len(dumps)
    if wrong:
        print(wrong, flush=True)
    return Figure(tried, len(wrong), time.perf_counter() - began)


def lake_writers(folder: Path) -> Figure:
    """Ingest runs of twenty processes, ten of each, into one lake, three times.

    Every writer is killed twice and begun again, a compaction beside them whenever it
    comes; a reader looks for all that was committed.
    """
    began = time.perf_counter()
    wrong: list[str] = []
    there = []
    for number in range(_LAKES):
        room = folder / str(number)
        room.mkdir()
        faulty, present = race_in_lake(room, 20, 10, 2, random.Random(number))
        wrong += faulty
        there.append(str(present))
    if wrong:
        print(wrong, flush=True)
    found = f"{', '.join(there)} of 200 runs are present, as in a file."
    return Figure(200 * _LAKES, len(wrong), time.perf_counter() - began, found)


def _compared(
    folder: Path, db: Path, made: list[Path], codes: list[int], seconds: float
) -> Figure:
    """Compare the warehouse with one into which the same runs came in turn."""
    turns = folder / "turns.duckdb"
    write_in_turn(folder / "dumps", turns, _WRITERS, _RUNS)
    lost = {path.name for path in made} - set(run_names(db))
    unequal = differences(content(turns), content(db))
    wrong = [*faults(db), *unequal, *(f"exit code {code}" for code in codes if code)]
    if lost or wrong:
        print(sorted(lost), wrong, flush=True)
    found = f"{len(made) - len(lost)} of {len(made)} runs are present, as if in turn."
    return Figure(len(made), len(lost) + len(wrong), seconds, found)


def soak(folder: Path) -> Figure:
    """Ingest, prune, read and report on runs in many processes for ten minutes."""
    dumps, db = folder / "dumps", folder / "w.duckdb"
    made = make_dumps(dumps, _SOAK_WRITERS, _SOAK_RUNS)
    for writer in range(_SOAK_WRITERS):
        write_runs(dumps, db, writer, 1)
    began = time.perf_counter()
    pool, counts = _start_all(folder, dumps, db, time.time() + _SOAK_SECONDS)
    sizes, memory = _watch(pool, db)
    seconds = time.perf_counter() - began
    codes = {process.exitcode or 0 for process in pool}
    lost = {path.name for path in made} - set(run_names(db))
    fresh = _fresh_one(folder, db)
    back_up(db, folder / "copy.duckdb")
    wrong = [
        *faults(db),
        *differences(content(fresh), content(db)),
        *differences(content(folder / "copy.duckdb"), content(db)),
        *(f"exit code {code}" for code in codes if code),
        *(f"growth of {name}" for name in _growing(file=sizes, memory=memory)),
    ]
    if lost or wrong:
        print(sorted(lost), wrong, flush=True)
    done = {name: int(path.read_text()) for name, path in counts.items()}
    found = (
        f"{len(made) - len(lost)} of {len(made)} runs are present, as in a fresh file;"
        f" {done['reads']:,} reads, {done['reports']:,} reports,"
        f" {done['prunings']:,} prunings;"
        f" file {_halves(sizes)} (a fresh one {_megabytes(fresh.stat().st_size)}),"
        f" largest process {_halves(memory)}."
    )
    return Figure(len(made), len(lost) + len(wrong), seconds, found)


def _start_all(
    folder: Path, dumps: Path, db: Path, end: float
) -> tuple[list[ForkServerProcess], dict[str, Path]]:
    counts = {name: folder / name for name in ("reads", "reports", "prunings")}
    pool = [
        children.start(write_until, dumps, db, writer, _SOAK_RUNS, end)
        for writer in range(_SOAK_WRITERS)
    ]
    pool.append(children.start(prune_until, db, end, _KEPT_WHOLE, counts["prunings"]))
    pool.append(children.start(read_until, db, end, counts["reads"]))
    pool.append(children.start(report_until, db, end, counts["reports"]))
    return pool, counts


def _watch(pool: list[ForkServerProcess], db: Path) -> tuple[list[int], list[int]]:
    """Wait for the end; give sizes of the file and of the largest process (bytes)."""
    sizes, memory = [], []
    while all(process.is_alive() for process in pool):
        time.sleep(_SAMPLE_SECONDS)
        sizes.append(db.stat().st_size)
        memory.append(max(_resident_bytes(process.pid) for process in pool))
    for process in pool:
        process.join()
    return sizes, memory


def _fresh_one(folder: Path, db: Path) -> Path:
    """Make a warehouse of the same runs in turn, pruned where `db` is."""
    fresh = folder / "fresh.duckdb"
    write_in_turn(folder / "dumps", fresh, _SOAK_WRITERS, _SOAK_RUNS)
    with connect(db) as connection:
        names = connection.execute("SELECT name FROM runs WHERE pruned_at IS NOT NULL")
        pruned = [row[0] for row in names.fetchall()]
    with transaction(fresh) as connection:
        ids = connection.execute(
            "SELECT run_id FROM runs WHERE name IN (SELECT unnest(?::VARCHAR[]))",
            [pruned],
        )
        prune_runs(connection, [row[0] for row in ids.fetchall()])
    return fresh


def _growing(**sampled: list[int]) -> list[str]:
    return [
        name
        for name, values in sampled.items()
        if max(_half(values, 1)) > _MOST_GROWTH * max(_half(values, 0))
    ]


def _half(values: list[int], which: int) -> list[int]:
    middle = max(1, len(values) // 2)
    return values[middle:] if which else values[:middle]


def _halves(values: list[int]) -> str:
    first, second = (_megabytes(max(_half(values, which))) for which in (0, 1))
    return f"{first} at most in the first half, {second} in the second"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _resident_bytes(pid: int | None) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")

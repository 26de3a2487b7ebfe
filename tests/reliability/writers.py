"""Many processes that write to one warehouse, and read it meanwhile."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from hlodb.cli import main
from hlodb.errors import WarehouseLocked
from hlodb.ingest.load.delete import Retention, prune_runs, runs_to_prune
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA
from tests.reliability import children

# Large enough for any machine: a time-out is a fault here.
_PATIENCE_SECONDS = 600.0
_MODULES = sorted((DATA / "moved_lines" / "before").glob("*before_optimizations.txt"))


def write_dump(folder: Path, number: int) -> Path:
    """Make a small dump: one module that all share, one that only this number has."""
    folder.mkdir(parents=True)
    shared, own = _MODULES
    shutil.copy(shared, folder / shared.name)
    text = own.read_text(encoding="utf-8").replace("constant(0)", f"constant({number})")
    (folder / own.name).write_text(f"{text}\n// {number}\n", encoding="utf-8")
    return folder


def write_runs(
    dumps: Path,
    database: Path,
    writer: int,
    runs: int,
    timeout_seconds: float = _PATIENCE_SECONDS,
) -> None:
    """Ingest `runs` runs of a writer; raise WarehouseLocked where any was kept out."""
    os.environ["HLODB_LOCK_TIMEOUT"] = str(timeout_seconds)
    kept_out = None
    for run in range(runs):
        name = f"{writer}-{run}"
        request = RunRequest(name=name, series=f"writer-{writer}")
        try:
            ingest([str(dumps / name)], database, request=request, jobs=1)
        except WarehouseLocked as error:
            kept_out = error
    if kept_out is not None:
        raise kept_out


def write_until(
    dumps: Path, database: Path, writer: int, runs: int, end: float
) -> None:
    """Ingest the writer's runs, then the same ones again and again."""
    while True:
        write_runs(dumps, database, writer, runs)
        if time.time() >= end:
            return


def absorb(database: Path) -> None:
    """Ingest nothing but what is staged."""
    os.environ["HLODB_LOCK_TIMEOUT"] = str(_PATIENCE_SECONDS)
    ingest([], database, jobs=1)


def make_dumps(dumps: Path, writers: int, runs: int) -> list[Path]:
    """Make the dumps that `write_runs` ingests."""
    return [
        write_dump(dumps / f"{writer}-{run}", writer * runs + run)
        for writer in range(writers)
        for run in range(runs)
    ]


def write_together(
    dumps: Path,
    database: Path,
    writers: int,
    runs: int,
    timeout_seconds: float = _PATIENCE_SECONDS,
) -> list[int]:
    """Let writers work at the same time; give their exit codes."""
    started = [
        children.start(write_runs, dumps, database, writer, runs, timeout_seconds)
        for writer in range(writers)
    ]
    for process in started:
        process.join()
    return [process.exitcode or 0 for process in started]


def write_in_turn(dumps: Path, database: Path, writers: int, runs: int) -> None:
    """Do the same undisturbed."""
    for writer in range(writers):
        write_runs(dumps, database, writer, runs)


def read_until(database: Path, end: float, counted: Path) -> None:
    """Read again and again; write down how often that went well."""

    def read() -> None:
        with connect(database) as connection:
            connection.execute("SELECT count(*) FROM module_memory").fetchone()

    _repeat(read, end, counted, pause_seconds=0.02)


def report_until(database: Path, end: float, counted: Path) -> None:
    """Report on each series in turn; write down how often that went well."""
    series = cycle(range(4))
    page = str(counted.with_suffix(".md"))

    def report() -> None:
        only = f"writer-{next(series)}"
        options = ["--series", only, "--allow-empty", "--db", str(database)]
        assert main(["report", "--format", "markdown", "-o", page, *options]) == 0

    _repeat(report, end, counted, pause_seconds=0.5)


def prune_until(database: Path, end: float, keep: int, counted: Path) -> None:
    """Prune again and again; write down how often that went well."""

    def prune() -> None:
        with transaction(database) as connection:
            prune_runs(connection, runs_to_prune(connection, Retention(keep)))

    _repeat(prune, end, counted, pause_seconds=0.5)


def _repeat(
    work: Callable[[], None], end: float, counted: Path, pause_seconds: float
) -> None:
    os.environ["HLODB_LOCK_TIMEOUT"] = str(_PATIENCE_SECONDS)
    count = 0
    while time.time() < end:
        work()
        count += 1
        counted.write_text(str(count), encoding="utf-8")
        time.sleep(pause_seconds)


def run_names(database: Path) -> list[str]:
    """Return the names of all runs, sorted."""
    with connect(database) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY name").fetchall()
    return [row[0] for row in rows]

"""Many processes that write to one warehouse, and read it meanwhile."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from hlodb.ingest.forget import prune_runs
from hlodb.ingest.ingest import ingest
from hlodb.ingest.retention import Retention, runs_to_prune
from hlodb.ingest.run_records import RunRequest
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA
from tests.reliability import children

# Large enough for any machine: a time-out is a fault here.
_PATIENCE_SECONDS = "600"
_MODULES = sorted((DATA / "moved_lines" / "before").glob("*before_optimizations.txt"))


def write_dump(folder: Path, number: int) -> Path:
    """Make a small dump: one module that all share, one that only this number has."""
    folder.mkdir(parents=True)
    shared, own = _MODULES
    shutil.copy(shared, folder / shared.name)
    text = own.read_text(encoding="utf-8").replace("constant(0)", f"constant({number})")
    (folder / own.name).write_text(f"{text}\n// {number}\n", encoding="utf-8")
    return folder


def write_runs(dumps: Path, database: Path, writer: int, runs: int) -> None:
    """Ingest `runs` runs of a writer, one after another."""
    os.environ["HLODB_LOCK_TIMEOUT"] = _PATIENCE_SECONDS
    for run in range(runs):
        name = f"{writer}-{run}"
        request = RunRequest(name=name, series=f"writer-{writer}")
        ingest([str(dumps / name)], database, request=request, jobs=1)


def make_dumps(dumps: Path, writers: int, runs: int) -> list[Path]:
    """Make the dumps that `write_runs` ingests."""
    return [
        write_dump(dumps / f"{writer}-{run}", writer * runs + run)
        for writer in range(writers)
        for run in range(runs)
    ]


def write_together(dumps: Path, database: Path, writers: int, runs: int) -> list[int]:
    """Let writers work at the same time; give their exit codes."""
    started = [
        children.start(write_runs, dumps, database, writer, runs)
        for writer in range(writers)
    ]
    for process in started:
        process.join()
    return [process.exitcode or 0 for process in started]


def write_in_turn(dumps: Path, database: Path, writers: int, runs: int) -> None:
    """Do the same undisturbed."""
    for writer in range(writers):
        write_runs(dumps, database, writer, runs)


def read_until(database: Path, end: float, answers: Path) -> None:
    """Read again and again; write down how often that went well."""
    os.environ["HLODB_LOCK_TIMEOUT"] = _PATIENCE_SECONDS
    count = 0
    while time.time() < end:
        with connect(database) as connection:
            connection.execute("SELECT count(*) FROM module_memory").fetchone()
        count += 1
        answers.write_text(str(count), encoding="utf-8")
        time.sleep(0.02)


def prune_until(database: Path, end: float, keep: int) -> None:
    """Prune again and again."""
    os.environ["HLODB_LOCK_TIMEOUT"] = _PATIENCE_SECONDS
    while time.time() < end:
        time.sleep(0.5)
        with transaction(database) as connection:
            prune_runs(connection, runs_to_prune(connection, Retention(keep)))


def run_names(database: Path) -> list[str]:
    """Give the names of all runs, sorted."""
    with connect(database) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY name").fetchall()
    return [row[0] for row in rows]

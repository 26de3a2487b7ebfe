"""Many processes that write to one lake and are killed, while another compacts it."""

from __future__ import annotations

import os
import random
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.sources.discover import discover
from hlodb.lake.ingestion import ingest_into_lake
from hlodb.lake.layout import create_lake
from hlodb.lake.opening import reading
from hlodb.lake.packing import compact_lake, unpack
from tests.reliability import children
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.writers import make_dumps

_PAUSE_SECONDS = 0.2


def race_in_lake(
    folder: Path, writers: int, runs: int, kills: int, chance: random.Random
) -> tuple[list[str], int]:
    """Let writers ingest, each killed so often and begun again, beside a compaction.

    Returns what was wrong, and how many of the runs are there at the end.
    """
    dumps, lake, ended = folder / "dumps", folder / "runs.lake", folder / "ended"
    made = make_dumps(dumps, writers, runs)
    create_lake(lake)
    wrong: list[str] = []
    others = [
        children.start(work, lake, folder, ended)
        for work in (compact_until, read_until)
    ]
    left = dict.fromkeys(range(writers), kills)
    at_work = {writer: _begin(folder, writer, runs) for writer in left}
    while at_work:
        time.sleep(chance.uniform(0, _PAUSE_SECONDS))
        writer = chance.choice([*at_work])
        process = at_work[writer]
        if process.is_alive() and left[writer]:
            process.kill()
            process.join()
            left[writer] -= 1
            at_work[writer] = _begin(folder, writer, runs)
        elif not left[writer]:
            process.join()
            if process.exitcode:
                wrong.append(f"writer {writer}: exit code {process.exitcode}")
            del at_work[writer]
        elif not process.is_alive():
            left[writer] = 0
        # The compaction is killed as well, now and then.
        if others[0].is_alive() and chance.random() < 1 / (2 * writers):
            others[0].kill()
            others[0].join()
            others[0] = children.start(compact_until, lake, folder, ended)
    ended.touch()
    for process in others:
        process.join()
        if process.exitcode:
            wrong.append(f"beside the writers: exit code {process.exitcode}")
    for _ in range(2):
        compact_lake(lake, readers_seconds=0)
    there = {*_names(lake)}
    lost = {path.name for path in made} - there
    wrong += [f"{name} is missing" for name in sorted(lost)]
    return wrong + _unequal(folder, lake, made), len(made) - len(lost)


def _begin(folder: Path, writer: int, runs: int) -> ForkServerProcess:
    return children.start(write_runs, folder, writer, runs)


def write_runs(folder: Path, writer: int, runs: int) -> None:
    """Ingest the runs of a writer, and write down each that is committed."""
    committed = folder / f"committed-{writer}"
    for run in range(runs):
        name = f"{writer}-{run}"
        sources = discover([str(folder / "dumps" / name)], run_name=name)
        request = RunRequest(name=name, series=f"writer-{writer}")
        ingest_into_lake(sources, folder / "runs.lake", request=request, jobs=1)
        with committed.open("a") as file:
            file.write(f"{name}\n")


def compact_until(lake: Path, folder: Path, ended: Path) -> None:
    """Compact a lake again and again."""
    while not ended.exists():
        compact_lake(lake)
        time.sleep(_PAUSE_SECONDS)


def read_until(lake: Path, folder: Path, ended: Path) -> None:
    """Read a lake again and again: what was committed before has to be there."""
    while not ended.exists():
        committed = {
            name
            for path in folder.glob("committed-*")
            for name in path.read_text().splitlines()
        }
        shown = _names(lake)
        assert len(shown) == len({*shown}), shown
        assert committed <= {*shown}, committed - {*shown}
        time.sleep(_PAUSE_SECONDS)


def _names(lake: Path) -> list[str]:
    with reading(lake) as connection:
        # All rows of a table that packages share are read as well.
        connection.execute("SELECT sum(hash(i)) FROM instructions AS i").fetchall()
        return [
            name for (name,) in connection.execute("SELECT name FROM runs").fetchall()
        ]


def _unequal(folder: Path, lake: Path, made: list[Path]) -> list[str]:
    """Compare a lake with a file into which the same runs came in turn."""
    turns, unpacked = folder / "turns.duckdb", folder / "unpacked.duckdb"
    unpack(lake, unpacked)
    for path in made:
        series = f"writer-{path.name.partition('-')[0]}"
        request = RunRequest(name=path.name, series=series)
        ingest([str(path)], turns, request=request, jobs=1)
    unequal = [*faults(unpacked), *differences(content(turns), content(unpacked))]
    os.remove(unpacked)
    return unequal

"""Writers that begin at the same moment, each with a dump that takes seconds."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from hlodb.cli import main
from tests.conftest import DATA, DUMPS
from tests.reliability import children
from tests.reliability.content import Content, content, differences
from tests.reliability.integrity import faults
from tests.reliability.writers import run_names, write_dump

REAL = (
    *(
        DUMPS / "cpu" / f"jaxlib-{release}.tar.xz"
        for release in (
            *("0.4.35", "0.5.3", "0.9.2", "0.10.2"),
            *("0.4.13", "0.4.20", "0.6.2"),
        )
    ),
    DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz",
)
"""Real dumps of about 4 MB of text each, which come to the same in any order.

Where two dumps hold an equal module with different memory reports, the report of the
first that is ingested stays: no two of these do.
"""

_PATIENCE_SECONDS = 600
"""Long enough for any machine: nobody is to give up."""


def name_of(dump: Path) -> str:
    """Return the name of the run that a dump becomes."""
    return dump.name.removesuffix(".tar.xz")


def ingest_dump(dump: Path, database: Path, jobs: int) -> None:
    """Ingest a dump by the command line; end the process with its exit code."""
    os.environ["HLODB_LOCK_TIMEOUT"] = str(_PATIENCE_SECONDS)
    os._exit(main(["ingest", str(dump), "--db", str(database), "--jobs", str(jobs)]))


def write_seeds(database: Path) -> None:
    """Make a warehouse of one small run."""
    assert main(["ingest", str(DATA / "seeds"), "--db", str(database)]) == 0


def in_turn(folder: Path, dumps: Sequence[Path], *, existing: bool) -> Content:
    """Return the content that the dumps come to undisturbed."""
    database = folder / f"turns-{existing}.duckdb"
    if existing:
        write_seeds(database)
    for dump in dumps:
        assert children.run(ingest_dump, dump, database, 1) == 0
    return content(database)


def race(
    dumps: Sequence[Path], expected: Content, *, existing: bool, jobs: int
) -> list[str]:
    """Ingest all dumps at once, each in a process; return what is wrong afterwards."""
    with TemporaryDirectory() as name:
        database = Path(name) / "w.duckdb"
        if existing:
            write_seeds(database)
        writers = [children.start(ingest_dump, dump, database, jobs) for dump in dumps]
        for writer in writers:
            writer.join()
        runs = {name_of(dump) for dump in dumps} | ({"seeds"} if existing else set())
        return [
            *(f"exit code {w.exitcode}" for w in writers if w.exitcode),
            *wrong_with(database, runs, expected),
        ]


def wrong_with(database: Path, runs: Iterable[str], expected: Content) -> list[str]:
    """Return what is wrong with a warehouse that is to hold `runs` and `expected`."""
    lost = sorted({*runs} - {*run_names(database)})
    unequal = differences(expected, content(database))
    return [
        *(f"{run} is missing" for run in lost),
        *faults(database),
        *(f"{table} differs" for table in unequal),
    ]


# --- Many runs of each writer, of different sizes ----------------------------------


def make_mixed(folder: Path, writers: int, runs: int) -> dict[str, Path]:
    """Return the dump of every run by its name: one in five is real, others small."""
    return {
        f"{writer}-{run}": REAL[(writer + run // 5) % len(REAL)]
        if (writer + run) % 5 == 0
        else write_dump(folder / f"{writer}-{run}", writer * runs + run)
        for writer in range(writers)
        for run in range(runs)
    }


def ingest_mixed(dumps: dict[str, Path], database: Path, jobs: int) -> None:
    """Ingest runs one after the other; end the process with the worst exit code."""
    os.environ["HLODB_LOCK_TIMEOUT"] = str(_PATIENCE_SECONDS)
    into = ("--db", str(database), "--jobs", str(jobs))
    codes = [
        main(["ingest", str(dump), "--run", name, *into])
        for name, dump in dumps.items()
    ]
    os._exit(max(codes, default=0))


def mixed_in_turn(folder: Path, dumps: dict[str, Path], *, existing: bool) -> Content:
    """Return the content that the runs come to undisturbed."""
    database = folder / f"turns-{existing}.duckdb"
    if existing:
        write_seeds(database)
    assert children.run(ingest_mixed, dumps, database, 1) == 0
    return content(database)


def mixed_race(
    dumps: dict[str, Path],
    expected: Content,
    *,
    writers: int,
    existing: bool,
    jobs: int,
    killed: random.Random | None,
) -> list[str]:
    """Let writers ingest their runs together; return what is wrong afterwards.

    With `killed`, each writer is killed at a random moment and begun again, twice.
    """
    with TemporaryDirectory() as name:
        database = Path(name) / "w.duckdb"
        if existing:
            write_seeds(database)
        of_writer = [
            {run: dump for run, dump in dumps.items() if run.startswith(f"{writer}-")}
            for writer in range(writers)
        ]
        for _ in range(0 if killed is None else 2):
            begun = [
                children.start(ingest_mixed, own, database, jobs) for own in of_writer
            ]
            _kill_all(begun, killed or random.Random(0))
        begun = [children.start(ingest_mixed, own, database, jobs) for own in of_writer]
        for process in begun:
            process.join()
        runs = {*dumps} | ({"seeds"} if existing else set())
        return [
            *(f"exit code {process.exitcode}" for process in begun if process.exitcode),
            *wrong_with(database, runs, expected),
        ]


def _kill_all(begun: Sequence[ForkServerProcess], chance: random.Random) -> None:
    """Kill every process at a random moment within some seconds."""
    started = time.monotonic()
    moments = sorted((chance.uniform(0.5, 12.0), place) for place in range(len(begun)))
    for moment, place in moments:
        time.sleep(max(0.0, started + moment - time.monotonic()))
        begun[place].kill()
    for process in begun:
        process.join()

"""Everybody at one warehouse: ten writers, readers and all that keeps it in order.

Every process works through the command line, again and again until the end, and now
and then one is killed at a random moment and begun anew. What was committed has to be
there at any time and whole; in the end the warehouse has to hold what the same dumps
come to in turn.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NamedTuple

from hlodb.cli import main
from hlodb.ingest.load.delete import prune_runs
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.packing import compact_lake, unpack
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA
from tests.reliability import children
from tests.reliability.buckets import bucket
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.record import Figure
from tests.reliability.writers import make_dumps, write_dump

_PATIENCE_SECONDS = "600"
_CHANGES = DATA / "changes" / "donation"
_STARTED = ("base", "dropped")
"""Runs with a finding, for decisions."""

_MODULES = 2
"""Of each dump that a writer ingests."""

_FINDINGS = ("findings", "finding_events")
"""They depend on when a report was made, and on what was decided."""

_SECONDS_PER_KILL = 1.5


class Place(NamedTuple):
    """The warehouse of a crowd, its folder of work and the variables it needs."""

    folder: Path
    database: str
    environment: Mapping[str, str]
    runs: int

    @property
    def is_lake(self) -> bool:
        """Return whether the warehouse is a lake."""
        return not self.database.endswith(".duckdb")

    @property
    def is_over(self) -> bool:
        """Return whether all are to end after what they do now."""
        return (self.folder / "over").exists()


def crowd_at_file(
    folder: Path, seconds: float = 300, writers: int = 10, runs: int = 20
) -> Figure:
    """Ten writers, readers, report, compact, prune, rm, backup, triage and migrate.

    At one file; one of them is killed every one and a half seconds.
    """
    place = Place(folder, str(folder / "w.duckdb"), {}, runs)
    return _crowd(place, seconds, writers)


def crowd_at_lake(
    folder: Path, seconds: float = 300, writers: int = 10, runs: int = 20
) -> Figure:
    """Ten writers, readers, report, compact, prune, rm, unpack and triage.

    At one lake in a folder; one of them is killed every one and a half seconds.
    """
    return _crowd(Place(folder, str(folder / "runs.lake"), {}, runs), seconds, writers)


def crowd_at_bucket(
    folder: Path, seconds: float = 300, writers: int = 10, runs: int = 20
) -> Figure:
    """Ten writers, readers, report, compact, prune, rm, unpack and triage.

    At one lake in S3; one of them is killed every one and a half seconds.
    """
    with bucket("dumps") as environment:
        place = Place(folder, "s3://dumps/runs.lake", environment, runs)
        return _crowd(place, seconds, writers)


def _crowd(place: Place, seconds: float, writers: int) -> Figure:
    chance = random.Random(7)
    made = make_dumps(place.folder / "dumps", writers, place.runs)
    # Clients of a bucket leave threads behind: all is done by processes of their own.
    assert children.run(_begin, place) == 0
    works: list[tuple[Callable[..., None], int]] = [
        *((write, writer) for writer in range(writers)),
        *((work, 0) for work in (read, read_again, report, compact, prune, remove)),
        *((work, 0) for work in (copy, triage)),
        *(() if place.is_lake else ((migrate, 0),)),
    ]
    at_work = [(work, who, _start(work, place, who)) for work, who in works]
    while len([*place.folder.glob("begun-*")]) < len(at_work):
        time.sleep(0.1)
    began = time.monotonic()
    wrong: list[str] = []
    killed: Counter[str] = Counter()
    kills = round(seconds / _SECONDS_PER_KILL)
    for number in range(kills):
        moment = began + seconds * (number + chance.random()) / kills
        time.sleep(max(0.0, moment - time.monotonic()))
        slot = chance.randrange(len(at_work))
        work, who, process = at_work[slot]
        if not process.is_alive():
            wrong.append(f"{work.__name__} ended with {process.exitcode}")
        process.kill()
        process.join()
        killed[work.__name__] += 1
        at_work[slot] = work, who, _start(work, place, who)
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    (place.folder / "over").touch()
    for work, _, process in at_work:
        process.join()
        if process.exitcode:
            wrong.append(f"{work.__name__} ended with {process.exitcode}")
    took = time.monotonic() - began
    wrong += _compared(place, made)
    if wrong:
        print(wrong, flush=True)
    done = _counts(place)
    found = (
        f"{done['write']:,} ingests, {done['read'] + done['read_again']:,} reads,"
        f" {done['report']:,} reports, {done['compact']:,} compactions,"
        f" {done['prune']:,} prunings, {done['remove']:,} deletions,"
        f" {done['copy']:,} copies, {done['triage']:,} decisions;"
        f" {killed['write']:,} of the kills hit writers."
    )
    return Figure(killed.total(), len(wrong), took, found)


def _begin(place: Place) -> None:
    """Make the warehouse, with two runs whose report has findings."""
    os.environ.update(place.environment)
    if place.is_lake:
        assert main(["lake", "create", place.database]) == 0
    for day, name in enumerate(_STARTED, 1):
        options = ["--run", name, "--series", "changes", "--jobs", "1"]
        time_of = ["--started-at", f"2026-11-0{day}"]
        dump = str(_CHANGES / name)
        assert main(["ingest", dump, "--db", place.database, *options, *time_of]) == 0


def _start(work: Callable[..., None], place: Place, who: int) -> ForkServerProcess:
    return children.start(_repeat, work, place, who)


def _repeat(work: Callable[[Place, int, int], None], place: Place, who: int) -> None:
    """Work until all is over, and count how often that went well."""
    os.environ.update(place.environment)
    os.environ["HLODB_LOCK_TIMEOUT"] = _PATIENCE_SECONDS
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    (place.folder / f"begun-{work.__name__}-{who}").touch()
    counted = place.folder / f"count-{work.__name__}-{who}"
    for number in count(int(counted.read_text()) if counted.exists() else 0):
        if place.is_over:
            return
        work(place, who, number)
        draft = counted.with_suffix(".draft")
        draft.write_text(str(number + 1))
        draft.replace(counted)


def _counts(place: Place) -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in place.folder.glob("count-*-*"):
        if path.suffix != ".draft":
            counts[path.name.split("-")[1]] += int(path.read_text())
    return counts


def _do(place: Place, *arguments: str, allowed: tuple[int, ...] = (0,)) -> int:
    """Carry a command out; end this process where its exit code is not allowed."""
    code = main([*arguments, "--db", place.database])
    if code not in allowed:
        print(f"hlodb {' '.join(arguments)}: exit code {code}", file=sys.stderr)
        os._exit(code or children.INTERNAL_ERROR)
    return code


# --- What each does, once ----------------------------------------------------------


def write(place: Place, who: int, number: int) -> None:
    """Ingest the next dump of a writer, all of them again and again."""
    name = f"{who}-{number % place.runs}"
    options = ("--series", f"writer-{who}", "--jobs", "1")
    _do(place, "ingest", str(place.folder / "dumps" / name), *options)
    with (place.folder / f"committed-{who}").open("a") as file:
        file.write(f"{name}\n")


def read(place: Place, who: int, number: int) -> None:
    """Look for all that was committed before; what is there has to be whole."""
    committed = _committed(place)
    page = place.folder / f"runs-{os.getpid()}.json"
    _do(place, "runs", "--format", "json", "--output", str(page))
    _check_runs(json.loads(page.read_text()), committed)
    page.unlink()
    time.sleep(0.05)


def read_again(place: Place, who: int, number: int) -> None:
    """Read all rows of the tables that runs share."""
    _do(place, "sql", "SELECT sum(hash(i)) FROM instructions AS i")
    _do(place, "query", "peak_history")


def _check_runs(rows: list[dict[str, object]], committed: set[str]) -> None:
    shown = {str(row["run"]): row["module_count"] for row in rows}
    assert len(shown) == len(rows), sorted(str(row["run"]) for row in rows)
    assert committed <= shown.keys(), committed - shown.keys()
    torn = [n for n, c in shown.items() if n not in _STARTED and c != _MODULES]
    assert not torn, torn


def _committed(place: Place) -> set[str]:
    """Return the runs whose commands have ended and written so, in a whole line."""
    lines = [
        line
        for path in place.folder.glob("committed-*")
        for line in path.read_text().splitlines(keepends=True)
    ]
    return {*_STARTED, *(line[:-1] for line in lines if line.endswith("\n"))}


def report(place: Place, who: int, number: int) -> None:
    """Report on a series, and record its findings."""
    series = "changes" if number % 3 == 0 else f"writer-{number % 10}"
    page = str(place.folder / "report.md")
    options = ("--allow-empty", "--format", "markdown", "-o", page, "--warn-only")
    # A series may have no run yet.
    _do(place, "report", "--series", series, *options, allowed=(0, 2, 3))
    time.sleep(0.2)


def compact(place: Place, who: int, number: int) -> None:
    """Compact it."""
    _do(place, "compact")
    time.sleep(1)


def prune(place: Place, who: int, number: int) -> None:
    """Prune all but the five latest runs of each series."""
    _do(place, "prune", "--keep", "5")
    time.sleep(1)


def remove(place: Place, who: int, number: int) -> None:
    """Ingest a run and delete it: nobody else wants it."""
    dump = place.folder / "gone"
    if not dump.exists():
        draft = place.folder / f"gone-{os.getpid()}"
        write_dump(draft, 10_000)
        draft.rename(dump)
    name = f"gone-{number % 3}"
    _do(place, "ingest", str(dump), "--run", name, "--jobs", "1")
    _do(place, "rm", name)
    time.sleep(0.2)


def copy(place: Place, who: int, number: int) -> None:
    """Copy it, by backup or by unpacking; the copy has all that was committed."""
    committed = _committed(place)
    target = place.folder / "copy.duckdb"
    if place.is_lake:
        target.unlink(missing_ok=True)
        code = main(["lake", "unpack", place.database, str(target)])
        assert code == 0, code
    else:
        _do(place, "backup", str(target), "--force")
    page = place.folder / "copy.json"
    listing = ["runs", "--format", "json", "--output", str(page)]
    assert main([*listing, "--db", str(target)]) == 0
    _check_runs(json.loads(page.read_text()), committed)
    time.sleep(1)


def triage(place: Place, who: int, number: int) -> None:
    """Decide about the first finding, this way and that."""
    page = place.folder / "triage.json"
    _do(place, "triage", "--format", "json", "--output", str(page))
    findings = json.loads(page.read_text() or "[]")
    if findings:
        decision = ("acknowledge", "reopen")[number % 2]
        _do(place, "triage", findings[0]["finding"], decision)
    time.sleep(0.2)


def migrate(place: Place, who: int, number: int) -> None:
    """Migrate what is current: it is opened and left as it is."""
    _do(place, "migrate")
    time.sleep(0.5)


# --- In the end ----------------------------------------------------------------------


def _compared(place: Place, made: list[Path]) -> list[str]:
    """Return what is missing, torn or unlike the same runs ingested in turn."""
    end = place.folder / "end.duckdb"
    if place.is_lake:
        assert children.run(_unpack, place, end) == 0
    else:
        end = Path(place.database)
    with connect(end) as connection:
        runs = connection.execute("SELECT name, pruned_at IS NOT NULL FROM runs")
        is_pruned = dict(runs.fetchall())
    lost = _committed(place) - is_pruned.keys()
    turns = _in_turn(place, is_pruned)
    unequal = differences(content(turns), content(end))
    known = {path.name for path in made} | {*_STARTED}
    strange = {name for name in is_pruned if name not in known and name[:5] != "gone-"}
    return [
        *(f"{name} is missing" for name in sorted(lost)),
        *(f"{name} is nobody's" for name in sorted(strange)),
        *faults(end),
        *(f"{table} differs" for table in unequal if table not in _FINDINGS),
    ]


def _unpack(place: Place, file: Path) -> None:
    os.environ.update(place.environment)
    for _ in range(2):
        compact_lake(Path(place.database), readers_seconds=0)
    unpack(Path(place.database), file)


def _in_turn(place: Place, is_pruned: Mapping[str, bool]) -> Path:
    """Ingest the same runs one after the other, and prune those that are pruned."""
    turns = place.folder / "turns.duckdb"
    for day, name in enumerate(_STARTED, 1):
        options = ["--run", name, "--series", "changes", "--jobs", "1"]
        time_of = ["--started-at", f"2026-11-0{day}", "--db", str(turns)]
        assert main(["ingest", str(_CHANGES / name), *options, *time_of]) == 0
    for name in sorted(is_pruned.keys() - {*_STARTED}):
        is_gone = name.startswith("gone-")
        dump = place.folder / ("gone" if is_gone else f"dumps/{name}")
        series = None if is_gone else f"writer-{name.partition('-')[0]}"
        ingest([str(dump)], turns, request=RunRequest(name, series), jobs=1)
    with transaction(turns) as connection:
        ids = connection.execute("SELECT name, run_id FROM runs").fetchall()
        prune_runs(connection, [number for name, number in ids if is_pruned[name]])
    return turns

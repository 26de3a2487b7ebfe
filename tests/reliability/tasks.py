"""What else changes a warehouse or copies it: killed on the way, then done again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb

from hlodb.ingest.load.delete import forget_run, prune_runs
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.staging import stage_run
from hlodb.ingest.pipeline.staging_folder import staging_folder
from hlodb.ingest.sources.discover import discover
from hlodb.schema.backup import back_up
from hlodb.schema.compact import compact
from hlodb.schema.migration import migrate
from hlodb.schema.versions import SCHEMA_VERSION
from hlodb.schema.warehouse import transaction
from tests.conftest import DATA
from tests.reliability import children
from tests.reliability.content import Content, content, differences
from tests.reliability.integrity import faults

DUMP = DATA / "moved_lines"
OLD_VERSION = SCHEMA_VERSION - 1
LAST_STEP = {SCHEMA_VERSION: "ALTER TABLE allocations ADD COLUMN shape VARCHAR;\n"}
"""Leads here from OLD_VERSION as `lower_version` makes it, which only tests do."""

Work = Callable[[Path], object]


class Task(NamedTuple):
    """What is done to a warehouse of two runs, seeds and DUMP, or beside it.

    `prepare` makes the warehouse what `work` begins with; `outcome` gives the file that
    shows whether it was done.
    """

    work: Work
    prepare: Work = lambda _: None
    outcome: Callable[[Path], Path] = lambda database: database


def lower_version(database: Path) -> None:
    """Make the warehouse one of OLD_VERSION, whose allocations have no shape."""
    with duckdb.connect(str(database)) as connection:
        connection.execute("ALTER TABLE allocations DROP COLUMN shape")
        connection.execute(
            "UPDATE warehouse_info SET value = ? WHERE key = 'schema_version'",
            [str(OLD_VERSION)],
        )


def _migrate(database: Path) -> None:
    migrate(database, steps=LAST_STEP)


def _copy(database: Path) -> Path:
    return database.with_name("copy.duckdb")


def _back_up(database: Path) -> None:
    back_up(database, _copy(database), replace=True)


def _remove(database: Path) -> None:
    with transaction(database) as connection:
        found = connection.execute("SELECT run_id FROM runs WHERE name = 'moved_lines'")
        for (run_id,) in found.fetchall():
            forget_run(connection, run_id)


def _prune(database: Path) -> None:
    with transaction(database) as connection:
        prune_runs(connection, [1, 2], drop_timelines=True)


def _stage(database: Path) -> None:
    # As after a death: what is staged already is not staged again.
    if not _staged(database):
        stage_run(discover([str(DUMP)])[0], RunRequest(), database)


def _remove_and_stage(database: Path) -> None:
    _remove(database)
    _stage(database)


def _absorb(database: Path) -> None:
    ingest([], database, jobs=1)


def _absorbed(database: Path) -> Path:
    _absorb(database)
    return database


def _staged(database: Path) -> list[Path]:
    folders = staging_folder(database).glob("*")
    return [path for path in folders if not path.name.startswith(".")]


TASKS = {
    "rm": Task(_remove),
    "prune": Task(_prune),
    "compact": Task(compact),
    "backup": Task(_back_up, outcome=_copy),
    "migrate": Task(_migrate, lower_version),
    "stage": Task(_stage, _remove, _absorbed),
    "absorb": Task(_absorb, _remove_and_stage),
}


class Begun(NamedTuple):
    """A task, the folder with which it begins, and what it comes to undisturbed."""

    task: Task
    folder: Path
    expected: Content


def begin(name: str, folder: Path) -> Begun:
    """Make what the task of that name begins with, below `folder`."""
    task = TASKS[name]
    start, done = folder / f"{name}-start", folder / f"{name}-done"
    start.mkdir(parents=True)
    ingest([str(DATA / "seeds")], start / "w.duckdb", jobs=1)
    ingest([str(DUMP)], start / "w.duckdb", jobs=1)
    task.prepare(start / "w.duckdb")
    shutil.copytree(start, done)
    task.work(done / "w.duckdb")
    return Begun(task, start, content(task.outcome(done / "w.duckdb")))


def moments_of(begun: Begun) -> int:
    """Return the number of moments of the whole task."""
    found = children.context().SimpleQueue()
    with TemporaryDirectory() as name:
        db = Path(shutil.copytree(begun.folder, name, dirs_exist_ok=True)) / "w.duckdb"
        assert children.run(children.count_moments, found, begun.task.work, db) == 0
    count: int = found.get()
    return count


def die_during(begun: Begun, moment: int) -> list[str]:
    """Die at a moment of the task, do it again; give what was found wrong."""
    work = begun.task.work
    with TemporaryDirectory() as name:
        db = Path(shutil.copytree(begun.folder, name, dirs_exist_ok=True)) / "w.duckdb"
        code = children.run(children.die_at, moment, None, work, db)
        wrong = [] if code == children.KILLED else [f"it ended with {code}"]
        work(db)
        outcome = begun.task.outcome(db)
        unequal = differences(begun.expected, content(outcome))
        return [*wrong, *faults(db), *(f"{name} differs" for name in unequal)]

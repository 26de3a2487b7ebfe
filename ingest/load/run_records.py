"""What is asked of an ingest, recorded of runs, and summarised of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal, NamedTuple

from hlodb.ingest.load.statements import statement
from hlodb.schema.connection import Connection

LABEL_COLUMNS = (
    "compiler_version",
    "framework_version",
    "platform",
    "device",
    "topology",
    "branch",
)
"""Labels that fill a column of `runs` where the dump itself says nothing."""


Passes = Literal["full", "metrics", "none"]
"""What is kept of per-pass dumps: everything, no instructions, or nothing."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user says about the runs to be ingested.

    `retry_rejects`: files that were rejected are read again though they are the same.
    """

    name: str | None = None
    series: str | None = None
    commit: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    started_at: datetime | None = None
    passes: Passes = "full"
    retry_rejects: bool = False


def run_id_of(connection: Connection, name: str) -> int | None:
    """Return the id of the run called `name`, if there is one."""
    row = connection.execute("SELECT run_id FROM runs WHERE name = ?", [name])
    found = row.fetchone()
    return int(found[0]) if found else None


class RecordedFile(NamedTuple):
    """A file as a run has it."""

    sha256: str
    size_bytes: int

    def holds(self, data: bytes) -> bool:
        """Return whether these are its bytes."""
        return sha256(data).hexdigest() == self.sha256

    def begins(self, data: bytes) -> bool:
        """Return whether `data` begins with its bytes, as in a file that has grown."""
        return self.holds(data[: self.size_bytes])


def origin_of(connection: Connection, name: str) -> str | None:
    """Return the first origin of the run called `name`, where it is known."""
    rows = connection.execute("SELECT origin FROM runs WHERE name = ?", [name])
    row = rows.fetchone()
    return row[0] if row else None


def recorded_files(connection: Connection, name: str) -> dict[str, RecordedFile] | None:
    """Return the files of a run by path, or None where no run has that name."""
    run_id = run_id_of(connection, name)
    if run_id is None:
        return None
    rows = connection.execute(
        "SELECT path, sha256, size_bytes FROM dump_files WHERE run_id = ?", [run_id]
    ).fetchall()
    return {path: RecordedFile(*file) for path, *file in rows}


class EarlierRun(NamedTuple):
    """What the warehouse holds of a run, and which files are to be read again."""

    origin: str | None
    files: dict[str, RecordedFile]
    is_pruned: bool
    retried: set[str]


class Holdings(NamedTuple):
    """What the warehouse holds: names of its runs, digests of the units it knows."""

    run_names: frozenset[str]
    unit_digests: frozenset[int]


def holdings(connection: Connection) -> Holdings:
    """Return the holdings of the warehouse."""
    names = connection.execute("SELECT name FROM runs").fetchall()
    [(units,)] = connection.execute(statement("list_known_units")).fetchall()
    return Holdings(frozenset(name for (name,) in names), frozenset(units))


def is_run_pruned(connection: Connection, name: str) -> bool:
    """Return whether a run is there and has lost its details."""
    found = connection.execute(
        "SELECT 1 FROM runs WHERE name = ? AND pruned_at IS NOT NULL", [name]
    )
    return found.fetchone() is not None


def rejected_files(connection: Connection, name: str) -> set[str]:
    """Return the paths of a run's files that were rejected, wholly or in part."""
    run_id = run_id_of(connection, name)
    rows = connection.execute(
        "SELECT path FROM dump_files WHERE run_id = ? AND status = 'rejected'"
        " UNION SELECT path FROM rejects WHERE run_id = ?",
        [run_id, run_id],
    ).fetchall()
    return {row[0] for row in rows}


def reduced_files(connection: Connection, name: str) -> set[str]:
    """Return the paths of a run's passes of which not everything was kept."""
    rows = connection.execute(
        statement("list_reduced_files"), {"run_id": run_id_of(connection, name)}
    ).fetchall()
    return {row[0] for row in rows}


def moment(seconds: float | None) -> datetime | None:
    """Return a file's time as `runs` has it: UTC, whole seconds."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)


Progress = Callable[[str, int, int], None]
"""Called with the name of a run, and its bytes and files read so far."""


@dataclass(slots=True)
class RunSummary:
    """What one run holds now; `new_modules` were nowhere in the warehouse before.

    `has_dump` is False where no file of the run is one that hlodb reads.
    """

    run_id: int
    name: str
    files: int = 0
    bytes: int = 0
    modules: int = 0
    instructions: int = 0
    allocations: int = 0
    values: int = 0
    live_ranges: int = 0
    rejects: int = 0
    seconds: float = 0.0
    unchanged_files: int = 0
    new_modules: int = 0
    has_dump: bool = True
    notes: list[str] = field(default_factory=list)

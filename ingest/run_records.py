"""Rows of `runs`: found again, begun, finished with what the dump says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow as pa

from hlodb.ingest.columns import arrow_schema
from hlodb.ingest.evidence import Evidence, load_evidence
from hlodb.ingest.forget import restore_pruned
from hlodb.ingest.formats.memory_analysis import MemoryAnalysis
from hlodb.ingest.formats.module_metadata import PassTiming
from hlodb.ingest.statements import statement
from hlodb.version import __version__

Connection = duckdb.DuckDBPyConnection

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


@dataclass(slots=True)
class RunFacts:
    """What the files of a run say about it; the first to speak wins."""

    facts: dict[str, str] = field(default_factory=dict)
    newest_file_at: float | None = None
    flags: dict[tuple[str, str], set[int | None]] = field(default_factory=dict)
    flag_owners: set[int | None] = field(default_factory=set)
    passes: list[tuple[int | None, PassTiming]] = field(default_factory=list)
    analyses: dict[str, list[MemoryAnalysis]] = field(default_factory=dict)

    def learn(self, facts: Mapping[str, str | None]) -> None:
        """Keep facts not known yet."""
        for key, value in facts.items():
            if value:
                self.facts.setdefault(key, value)

    def saw_file_at(self, modified_at: float | None) -> None:
        """Keep the newest file time."""
        if modified_at is not None:
            self.newest_file_at = max(modified_at, self.newest_file_at or modified_at)

    def add_flags(
        self, module_number: int | None, flags: Iterable[tuple[str, str]]
    ) -> None:
        """Add the compiler flags that one module's files list."""
        self.flag_owners.add(module_number)
        for name, value in flags:
            self.flags.setdefault((name, value), set()).add(module_number)

    def add_analyses(self, path: str, analyses: list[MemoryAnalysis]) -> None:
        """Add what the file at `path` says of programs' memory."""
        self.analyses[path] = analyses

    def analysis_rows(self) -> list[dict[str, Any]]:
        """Give rows of memory_analysis."""
        return [
            {
                "path": path,
                "ordinal": ordinal,
                "module_name": analysis.module_name,
                **analysis.sizes,
            }
            for path, analyses in sorted(self.analyses.items())
            for ordinal, analysis in enumerate(analyses)
        ]

    def flag_rows(self) -> list[dict[str, Any]]:
        """Give rows of compiler_flags; a flag that all modules share has no number."""
        shared: list[int | None] = [None]
        return [
            {"module_number": owner, "name": name, "value": value}
            for (name, value), owners in sorted(self.flags.items())
            for owner in (shared if owners == self.flag_owners else sorted_ids(owners))
        ]

    def pass_rows(self) -> list[dict[str, Any]]:
        """Give rows of passes, in the order in which they ran."""
        return [
            {
                "module_number": number,
                "ordinal": ordinal,
                "pipeline": timing.pipeline_name,
                "pass_name": timing.pass_name,
                "has_changed": timing.module_changed,
                "started_us": timing.start_timestamp_us,
                "duration_us": timing.duration_us,
            }
            for ordinal, (number, timing) in enumerate(self.passes)
        ]


def sorted_ids(ids: Iterable[int | None]) -> list[int | None]:
    """Give ids in order, None first."""
    return sorted(ids, key=lambda number: -1 if number is None else number)


def _run_id(connection: Connection, name: str) -> int | None:
    row = connection.execute("SELECT run_id FROM runs WHERE name = ?", [name])
    found = row.fetchone()
    return int(found[0]) if found else None


class RecordedFile(NamedTuple):
    """A file as a run has it."""

    sha256: str
    size_bytes: int

    def holds(self, data: bytes) -> bool:
        """Tell whether these are its bytes."""
        return sha256(data).hexdigest() == self.sha256

    def begins(self, data: bytes) -> bool:
        """Tell whether `data` begins with its bytes, as a file does that has grown."""
        return self.holds(data[: self.size_bytes])


def recorded_files(connection: Connection, name: str) -> dict[str, RecordedFile] | None:
    """Give the files of a run by path, or None where no run has that name."""
    run_id = _run_id(connection, name)
    if run_id is None:
        return None
    rows = connection.execute(
        "SELECT path, sha256, size_bytes FROM dump_files WHERE run_id = ?", [run_id]
    ).fetchall()
    return {path: RecordedFile(*file) for path, *file in rows}


def run_names(connection: Connection) -> set[str]:
    """Give the names of all runs."""
    return {row[0] for row in connection.execute("SELECT name FROM runs").fetchall()}


def is_run_pruned(connection: Connection, name: str) -> bool:
    """Tell whether a run is there and has lost its details."""
    found = connection.execute(
        "SELECT 1 FROM runs WHERE name = ? AND pruned_at IS NOT NULL", [name]
    )
    return found.fetchone() is not None


def rejected_files(connection: Connection, name: str) -> set[str]:
    """Give the paths of a run's files that were rejected, wholly or in part."""
    run_id = _run_id(connection, name)
    rows = connection.execute(
        "SELECT path FROM dump_files WHERE run_id = ? AND status = 'rejected'"
        " UNION SELECT path FROM rejects WHERE run_id = ?",
        [run_id, run_id],
    ).fetchall()
    return {row[0] for row in rows}


def reduced_files(connection: Connection, name: str) -> set[str]:
    """Give the paths of a run's passes of which not everything was kept."""
    rows = connection.execute(
        statement("list_reduced_files"), {"run_id": _run_id(connection, name)}
    ).fetchall()
    return {row[0] for row in rows}


def begin_run(
    connection: Connection, name: str, origin: str, request: RunRequest
) -> int:
    """Give the id of the run called `name`, which is begun where there is none.

    A pruned run is begun anew: its details come back.
    """
    known = _run_id(connection, name)
    if known is not None:
        restore_pruned(connection, known)
        return known
    newest = connection.execute("SELECT coalesce(max(run_id), 0) FROM runs").fetchone()
    run_id = int(newest[0]) + 1 if newest else 1
    connection.execute(
        "INSERT INTO runs BY NAME SELECT ? AS run_id, ? AS name, ? AS origin,"
        " ? AS series, ? AS commit_sha, ? AS labels, ? AS hlodb_version,"
        " ?::TIMESTAMP AS ingested_at",
        [
            run_id,
            name,
            origin,
            request.series,
            request.commit,
            json.dumps(dict(request.labels), sort_keys=True),
            __version__,
            datetime.now(UTC).replace(tzinfo=None),
        ],
    )
    return run_id


def finish_run(
    connection: Connection, run_id: int, request: RunRequest, facts: RunFacts
) -> None:
    """Write what the dump says of itself, labels where it is silent, and the flags."""
    values = {
        name: facts.facts.get(name) or request.labels.get(name)
        for name in LABEL_COLUMNS
    }
    started = request.started_at or _moment(facts.newest_file_at)
    assignments = ", ".join(f"{n} = coalesce(?, {n})" for n in [*values, "started_at"])
    connection.execute(
        f"UPDATE runs SET {assignments} WHERE run_id = ?",
        [*values.values(), started, run_id],
    )
    _replace_rows(connection, "compiler_flags", run_id, facts.flag_rows())
    _replace_rows(connection, "passes", run_id, facts.pass_rows())
    _replace_analyses(connection, run_id, facts)


def _replace_rows(
    connection: Connection, table: str, run_id: int, rows: list[dict[str, Any]]
) -> None:
    connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
    if not rows:
        return
    schema = arrow_schema(table, dropped=("run_id",))
    connection.register("incoming", pa.Table.from_pylist(rows, schema))
    connection.execute(
        f"INSERT INTO {table} BY NAME SELECT ? AS run_id, * FROM incoming", [run_id]
    )
    connection.unregister("incoming")


def _replace_analyses(connection: Connection, run_id: int, facts: RunFacts) -> None:
    """Write what the files say of programs' memory; files of earlier days stay."""
    connection.execute(
        "DELETE FROM memory_analysis"
        " WHERE run_id = ? AND path IN (SELECT unnest(?::VARCHAR[]))",
        [run_id, list(facts.analyses)],
    )
    rows = [Evidence("memory_analysis", row) for row in facts.analysis_rows()]
    load_evidence(connection, [(run_id, row) for row in rows])


def _moment(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)

"""Runs that lie there just as the warehouse has them: read and hashed, nothing else.

What is stored of a run follows from its files, their times, the request and hlodb's
version. A run that has just these files was finished with them: its last files come in
with the transaction that finishes it (`Store`), and those whose facts were lost go
(`finish_run`). So where nothing differs there is nothing to be written. All that isn't
sure goes the way of every other run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

from hlodb.ingest.load.run_records import Progress, RunRequest, RunSummary, moment
from hlodb.ingest.load.statements import statement
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.limits import Limits, Refusal
from hlodb.ingest.sources.units import Entry, content_of
from hlodb.schema.connection import Connection
from hlodb.version import __version__

_SUMMARISED = (
    "run_id",
    "name",
    "modules",
    "instructions",
    "allocations",
    "values",
    "live_ranges",
    "rejects",
)


class WholeRun(NamedTuple):
    """A run as it was finished: its row and counts, and digests of files by path."""

    row: dict[str, Any]
    files: dict[str, str]


def whole_runs(
    connection: Connection,
    sources: Sequence[RunSource],
    request: RunRequest,
) -> dict[str, WholeRun]:
    """Return the runs that are called as `sources` and may well be unchanged."""
    names = [source.name for source in sources if source.entries]
    if request.retry_rejects or not names:
        return {}
    found = connection.execute(
        statement("list_whole_runs"),
        {"names": names, "version": __version__, "passes": request.passes},
    )
    columns = [column[0] for column in found.description]
    rows = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    runs = {row["run_id"]: WholeRun(row, {}) for row in rows}
    recorded = connection.execute(
        "SELECT run_id, path, sha256 FROM dump_files"
        " WHERE run_id IN (SELECT unnest(?::BIGINT[]))",
        [list(runs)],
    )
    for run_id, path, digest in recorded.fetchall():
        runs[run_id].files[path] = digest
    return {run.row["name"]: run for run in runs.values()}


class FileDigest(NamedTuple):
    """What a file holds: the SHA-256 and the size of its content."""

    sha256: str
    size_bytes: int


def digest_of(entry: Entry, limits: Limits) -> FileDigest:
    """Hash a file piece by piece; raise Refusal or OSError where that fails."""
    digest, size_bytes = sha256(), 0
    for piece in content_of(entry, limits):
        digest.update(piece)
        size_bytes += len(piece)
    return FileDigest(digest.hexdigest(), size_bytes)


def unchanged_run(
    source: RunSource,
    run: WholeRun,
    request: RunRequest,
    progress: Progress | None,
    limits: Limits,
) -> RunSummary | None:
    """Read a run; return its summary if nothing need be written of it, else None."""
    began = perf_counter()
    if not _is_said_already(source, run, request):
        return None
    summary = RunSummary(**{name: run.row[name] for name in _SUMMARISED})
    for entry in source.entries:
        try:
            file = digest_of(entry, limits)
        except (Refusal, OSError):
            return None
        if file.sha256 != run.files[entry.path]:
            return None
        summary.files += 1
        summary.bytes += file.size_bytes
        if progress:
            progress(source.name, summary.bytes, summary.files)
    summary.unchanged_files = summary.files
    summary.seconds = perf_counter() - began
    return summary


def _is_said_already(source: RunSource, run: WholeRun, request: RunRequest) -> bool:
    """Return whether file names, times and the request are those of the run."""
    row = run.row
    labels = json.loads(row["labels"] or "{}")
    return (
        _is_time(source, row, request.started_at)
        and request.series in (None, row["series"])
        and request.commit in (None, row["commit_sha"])
        and labels | request.labels == labels
        and {entry.path for entry in source.entries} == run.files.keys()
    )


def _is_time(source: RunSource, row: Mapping[str, Any], given: datetime | None) -> bool:
    """Return whether a run has the time that it would get."""
    if given is not None or row["is_started_at_given"]:
        return row["is_started_at_given"] and given in (None, row["started_at"])
    times = [e.modified_at for e in source.entries if e.modified_at is not None]
    return bool(times) and moment(max(times)) == row["started_at"]

"""Dumps into a lake: parsed into a warehouse of their own, then added as packages.

Any number of processes do so at once: none reads what another is writing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hlodb.errors import UsageError
from hlodb.ingest.load.run_records import Progress, RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.pipeline.unchanged import WholeRun, unchanged_run, whole_runs
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.lake.catalogue import open_lake
from hlodb.lake.columns import literals
from hlodb.lake.layout import lake_at, names_in, part_address
from hlodb.lake.packages import (
    PackedRun,
    base_name,
    is_of_many,
    package_name,
    package_prefix,
    packed_runs,
    run_key,
    write_package,
)
from hlodb.lake.storage import Storage, writing
from hlodb.schema.connection import Connection, in_memory
from hlodb.schema.warehouse import connect

_RUNS_AT_ONCE = 32
"""Runs that are committed together: what a killed ingest loses, and what a package
shares between its runs."""


def ingest_into_lake(
    sources: Sequence[RunSource],
    lake: Path,
    *,
    request: RunRequest,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> list[RunSummary]:
    """Bring runs into a lake.

    A dump that is there already changes nothing. One that holds all files of a run of
    its name, and more, takes its place; one with other files gets another name.
    Raises UsageError for what only a file can do, WarehouseError.
    """
    if request.retry_rejects:
        raise UsageError(
            "--retry-rejects needs a warehouse that is a file; delete the run with"
            " `hlodb rm`, and ingest it again"
        )
    storage = lake_at(lake)
    whole: dict[str, WholeRun] = {}
    with _known(storage, [source.name for source in sources]) as connection:
        if connection is not None:
            whole = whole_runs(connection, sources, request)
    found = [
        unchanged_run(source, run, request, progress, limits)
        if (run := whole.get(source.name))
        else None
        for source in sources
    ]
    rest = [s for s, known in zip(sources, found, strict=True) if known is None]
    added: list[RunSummary] = []
    for start in range(0, len(rest), _RUNS_AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
            file = Path(folder) / "runs.duckdb"
            summaries = ingest_sources(
                rest[start : start + _RUNS_AT_ONCE],
                file,
                request=request,
                jobs=jobs,
                limits=limits,
                progress=progress,
            )
            shown = add_runs(file, storage)
        for summary in summaries:
            _rename(summary, shown[summary.run_id])
        added += summaries
    stored = iter(added)
    return [known or next(stored) for known in found]


def add_runs(file: Path, lake: Storage) -> dict[int, str]:
    """Add the runs of a warehouse to a lake as a package; return their names there.

    Runs whose name others have, too, are packages of their own. Readers make the
    catalogue anew, once for all that came meanwhile.
    """
    with (
        writing(lake.address),
        lake.drafts() as drafts,
        connect(file, folders=[drafts]) as connection,
    ):
        runs = packed_runs(connection)
        with _known(lake, [run.name for run in runs]) as known:
            if known is not None:
                return {
                    run.run_id: _add_run(connection, known, lake, drafts, run)
                    for run in runs
                }
        gone = _marked(lake)
        keys = {run.run_id: run_key(run, gone) for run in runs}
        name = package_name([run.name for run in runs], keys.values())
        write_package(connection, lake, drafts, name, keys, is_whole=True)
        return {run.run_id: run.name for run in runs}


@contextmanager
def _known(lake: Storage, names: Sequence[str]) -> Iterator[Connection | None]:
    """Open a lake where it may hold a run of one of these names; else yield None.

    Most ingests need no more: to read a whole lake takes longer than they do.
    """
    prefixes = {f"{package_prefix([name])}-" for name in names}
    candidates = [
        package
        for package in names_in(lake, "runs")
        if f"{package.rpartition('-')[0]}-" in prefixes or is_of_many(package)
    ]
    if not candidates:
        yield None
        return
    files = [part_address(lake, "runs", package) for package in candidates]
    held = _listed(lake, f"SELECT DISTINCT name FROM read_parquet({literals(files)})")
    if not {*map(base_name, held)} & {*map(base_name, names)}:
        yield None
        return
    with closing(open_lake(lake)) as connection:
        yield connection


def _marked(lake: Storage) -> list[int]:
    """Return the keys of runs that were deleted or pruned."""
    files = [part_address(lake, "marks", mark) for mark in names_in(lake, "marks")]
    if not files:
        return []
    return _listed(lake, f"SELECT run_key FROM read_parquet({literals(files)})")


def _listed(lake: Storage, select: str) -> list[Any]:
    """Return the one column of a SELECT that reads parts."""
    with closing(in_memory()) as connection:
        connection.execute("SET enable_progress_bar = false")
        lake.prepare(connection)
        return [value for (value,) in connection.execute(select).fetchall()]


def _add_run(
    connection: Connection,
    known: Connection,
    lake: Storage,
    drafts: Path,
    run: PackedRun,
) -> str:
    """Add a run unless the lake has all it holds; return its name there."""
    rows = known.execute("SELECT run_key FROM parts.marks").fetchall()
    key = run_key(run, (marked for (marked,) in rows))
    holds = _holdings(connection, run.run_id)
    replaced, kept = [], [""]
    for other, run_id, name, is_pruned in known.execute(
        _OF_NAME, [base_name(run.name)]
    ).fetchall():
        held = _holdings(known, run_id)
        if not is_pruned and (other == key or holds <= held):
            return str(name)
        if held <= holds:
            replaced.append(other)
        else:
            kept.append(f"~{len(kept) + 1}")
    package = package_name([run.name], [key])
    write_package(
        connection, lake, drafts, package, {run.run_id: key}, deletes=replaced
    )
    return run.name + kept[-1]


_OF_NAME = """
SELECT k.run_key, k.run_id, k.name, r.pruned_at IS NOT NULL
FROM parts.run_keys AS k JOIN runs AS r USING (run_id)
WHERE regexp_replace(k.name, '~[0-9]+$', '') = ?
"""


def _holdings(connection: Connection, run_id: int) -> set[tuple[str, str]]:
    """Return the files of a run with their digests, and its modules with details."""
    rows = connection.execute(
        "SELECT path, sha256 FROM dump_files WHERE run_id = $run UNION ALL"
        " SELECT path, 'part ' || part FROM modules"
        " WHERE run_id = $run AND is_detailed",
        {"run": run_id},
    )
    return {(path, digest) for path, digest in rows.fetchall()}


def _rename(summary: RunSummary, name: str) -> None:
    """Write the name that the lake shows into a summary."""
    if name != summary.name:
        summary.notes.append(
            f"run {summary.name} holds other files; stored as {name}"
            " (give runs their own names with --run)"
        )
    summary.name = name

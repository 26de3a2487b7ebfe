"""Dumps into a lake: parsed into a warehouse of their own, then added run by run.

Any number of processes do so at once: none reads what another is writing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from hlodb.errors import UsageError, WarehouseError
from hlodb.ingest.load.run_records import Progress, RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.pipeline.unchanged import unchanged_run, whole_runs
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.lake.catalogue import open_for_names
from hlodb.lake.layout import root_of
from hlodb.lake.packages import (
    PackedRun,
    package_prefix,
    packed_runs,
    run_key,
    write_package,
)
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect


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
    root = root_of(lake)
    names = [source.name for source in sources]
    with closing(open_for_names(root, names)) as connection:
        whole = whole_runs(connection, sources, request)
    found = [
        unchanged_run(source, run, request, progress, limits)
        if (run := whole.get(source.name))
        else None
        for source in sources
    ]
    rest = [s for s, known in zip(sources, found, strict=True) if known is None]
    added: list[RunSummary] = []
    if rest:
        with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
            file = Path(folder) / "runs.duckdb"
            added = ingest_sources(
                rest,
                file,
                request=request,
                jobs=jobs,
                limits=limits,
                progress=progress,
            )
            shown = add_runs(file, root)
        for summary in added:
            _rename(summary, shown[summary.run_id])
    stored = iter(added)
    return [known or next(stored) for known in found]


def add_runs(file: Path, root: Path) -> dict[int, str]:
    """Add the runs of a warehouse to a lake, each a package; return their names there.

    Readers make the catalogue anew, once for all that came meanwhile.
    """
    try:
        with connect(file) as connection:
            runs = packed_runs(connection)
            names = [run.name for run in runs]
            with closing(open_for_names(root, names)) as lake:
                return {
                    run.run_id: _add_run(connection, lake, root, run) for run in runs
                }
    except OSError as error:
        raise WarehouseError(f"cannot write {root}: {error.strerror}") from error


def _add_run(
    connection: Connection, lake: Connection, root: Path, run: PackedRun
) -> str:
    """Add a run unless the lake has all it holds; return its name there."""
    rows = lake.execute("SELECT run_key FROM parts.marks").fetchall()
    key = run_key(run, (marked for (marked,) in rows))
    holds = _holdings(connection, run.run_id)
    replaced, kept = [], [""]
    for other, run_id, name, is_pruned in lake.execute(_OF_NAME, [run.name]).fetchall():
        held = _holdings(lake, run_id)
        if not is_pruned and (other == key or holds <= held):
            return str(name)
        if held <= holds:
            replaced.append(other)
        else:
            kept.append(f"~{len(kept) + 1}")
    package = f"{package_prefix(run.name)}-{key % 2**64:016x}"
    write_package(connection, root, package, {run.run_id: key}, deletes=replaced)
    return run.name + kept[-1]


_OF_NAME = """
SELECT k.run_key, k.run_id, k.name, r.pruned_at IS NOT NULL
FROM parts.run_keys AS k JOIN runs AS r USING (run_id)
WHERE regexp_replace(k.name, '~[0-9]+$', '') = regexp_replace(?, '~[0-9]+$', '')
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

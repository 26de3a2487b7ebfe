"""The whole way of dumps into the warehouse.

    discover → recognise → parse → normalise → load

Files are read and hashed here, parsed in worker processes, and loaded here, a few
batches a transaction; a crash at any moment leaves whole modules behind, and ingesting
again completes the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hlodb.ingest.discover import discover
from hlodb.ingest.limits import DEFAULT_LIMITS, Limits
from hlodb.ingest.run_ingest import Progress, RunIngest, RunSummary
from hlodb.ingest.run_records import RunRequest
from hlodb.ingest.workers import Units, default_jobs, parse_batches
from hlodb.schema.warehouse import connect

DEFAULT_REQUEST = RunRequest()


def ingest(
    paths: Sequence[str],
    database: str | Path,
    *,
    request: RunRequest = DEFAULT_REQUEST,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> list[RunSummary]:
    """Bring dump directories, archives and files into the warehouse at `database`.

    Raises UsageError where nothing is there to read, WarehouseError where the warehouse
    cannot be written. Bad input is recorded, never raised.
    """
    sources = discover(paths, run_name=request.name, limits=limits)
    with connect(database, read_only=False):
        pass
    runs = [RunIngest(s, Path(database), request, progress) for s in sources]
    summaries: list[RunSummary] = []
    for run, result in parse_batches(_tagged(runs), jobs or default_jobs()):
        # Results come in order, so an earlier run has given all of its own.
        while runs[len(summaries)] is not run:
            summaries.append(runs[len(summaries)].finish())
        run.take(result)
    summaries += [run.finish() for run in runs[len(summaries) :]]
    return summaries


def _tagged(runs: list[RunIngest]) -> Iterator[tuple[RunIngest, Units]]:
    for run in runs:
        for batch in run.batches():
            yield run, batch

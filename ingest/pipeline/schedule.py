"""Runs that bring something: parsed, normalised and loaded, after those staged before.

Files are read and hashed here, parsed in worker processes, and loaded here, a few
batches a transaction; a crash at any moment leaves whole modules behind, and ingesting
again completes the run. What a locked warehouse keeps out is staged beside it, and the
next ingest absorbs it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from hlodb.errors import HlodbError, WarehouseError, WarehouseLocked
from hlodb.garbage import no_collection
from hlodb.ingest.load.run_records import Holdings, Progress, RunRequest, RunSummary
from hlodb.ingest.pipeline.cores import default_jobs
from hlodb.ingest.pipeline.retry import rejected_runs
from hlodb.ingest.pipeline.run_ingest import RunIngest
from hlodb.ingest.pipeline.staging_folder import is_anything_staged
from hlodb.ingest.pipeline.store import Store
from hlodb.ingest.pipeline.workers import Units, parse_batches
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.limits import Limits
from hlodb.ingest.tables.batch import parse_batch
from hlodb.schema.drafts import remove_abandoned_drafts
from hlodb.schema.warehouse import Preparation

if TYPE_CHECKING:
    from hlodb.ingest.pipeline.staging import Package

_log = logging.getLogger(__name__)


def store_sources(
    sources: Sequence[RunSource],
    database: Path,
    request: RunRequest,
    *,
    jobs: int | None,
    limits: Limits,
    progress: Progress | None,
    held: Holdings | None,
    prepare: Preparation | None,
) -> list[RunSummary]:
    """Bring runs into the warehouse; give their summaries, then those of staged runs.

    Without sources and with `request.retry_rejects` it is the runs that have rejects.
    `held` is what the warehouse was found to hold just now, if it was asked, `prepare`
    what is to be done with it beside. Raises as `ingest_sources` does.
    """
    remove_abandoned_drafts(database)
    runs = [RunIngest(source, request, progress) for source in sources]
    packages = _packages(database)
    staged = [RunIngest(p.source, p.request, progress) for p in packages]
    again: list[RunIngest] = []
    done: list[RunSummary] = []
    try:
        if request.retry_rejects and not sources:
            found = rejected_runs(database, limits)
            again = [RunIngest(s, r, progress) for s, r in found]
        # Staged runs are older, and have to be in before others get their names.
        for group in (staged, [*again, *runs]):
            store = Store(database, None if staged else held, prepare)
            prepare = None if group else prepare
            with no_collection(), closing(store):
                for summary in _store(group, store, jobs or default_jobs()):
                    if len(done) < len(packages):
                        _absorbed(packages[len(done)], summary)
                    done.append(summary)
    except BrokenExecutor as error:
        raise HlodbError(
            "a worker process was killed, mostly for want of memory: try fewer --jobs."
            " What is stored is whole, and ingesting again completes it"
        ) from error
    except WarehouseLocked as error:
        left = sources[max(0, len(done) - len(staged) - len(again)) :]
        raise staged_error(error, left, request, database) from error
    finally:
        for package in packages:
            package.close()
    return [*done[len(staged) :], *done[: len(staged)]]


def _store(runs: list[RunIngest], store: Store, jobs: int) -> Iterator[RunSummary]:
    """Ingest runs; give the summary of each when it is written."""
    if not runs:
        return
    store.settle(runs)
    ended = 0
    for run, result in parse_batches(_tagged(runs), jobs):
        # Results come in order, so an earlier run has given all of its own.
        while runs[ended] is not run:
            yield from _end(runs[ended], store)
            ended += 1
        yield from store.take(run, result)
    for run in runs[ended:]:
        yield from _end(run, store)
    yield from store.flush()


def _end(run: RunIngest, store: Store) -> Iterator[RunSummary]:
    for batch in run.reading.unsound_repeats():
        yield from store.take(run, parse_batch(batch))
    store.end(run)


def _tagged(runs: list[RunIngest]) -> Iterator[tuple[RunIngest, Units]]:
    for run in runs:
        for batch in run.reading.batches():
            yield run, batch


def _packages(database: Path) -> list[Package]:
    """Take the runs that wait beside the warehouse; tell of those that are broken."""
    if not is_anything_staged(database):
        return []
    # Reading Parquet is loaded when it is needed, as writing it below.
    from hlodb.ingest.pipeline.staging import take_packages

    packages, faults = take_packages(database)
    for fault in faults:
        _log.warning(fault)
    return packages


def _absorbed(package: Package, summary: RunSummary) -> None:
    package.remove()
    summary.notes.append(f"run {summary.name} had been staged and is in now")


def staged_error(
    error: WarehouseLocked,
    sources: Sequence[RunSource],
    request: RunRequest,
    database: Path,
) -> WarehouseError:
    """Stage runs; give the error that tells where they are."""
    if not sources:
        return error
    from hlodb.ingest.pipeline.staging import stage_run

    folders = []
    for source in sources:
        try:
            folders.append(stage_run(source, request, database))
        except OSError as failure:
            return WarehouseLocked(
                f"{error}; run {source.name} could not be staged either: {failure}"
            )
    where = ", ".join(str(folder) for folder in folders)
    return WarehouseLocked(
        f"{error}. Nothing is lost: the dump is staged in {where}, and the next"
        f" `hlodb ingest --db {database}` absorbs it",
        is_staged=True,
    )

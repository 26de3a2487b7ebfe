"""The whole way of dumps into the warehouse.

    discover → unchanged → recognise → parse → normalise → load

Most of what is ingested night by night is there already: runs that are unchanged are
read and hashed, and what the others need is not even loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hlodb.errors import WarehouseLocked
from hlodb.ingest.load.run_records import (
    Holdings,
    Progress,
    RunRequest,
    RunSummary,
    holdings,
)
from hlodb.ingest.pipeline.staging_folder import is_anything_staged
from hlodb.ingest.pipeline.unchanged import WholeRun, unchanged_run, whole_runs
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.schema.warehouse import Preparation, connect

DEFAULT_REQUEST = RunRequest()


def ingest(
    paths: Sequence[str],
    database: str | Path,
    *,
    request: RunRequest = DEFAULT_REQUEST,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    prepare: Preparation | None = None,
) -> list[RunSummary]:
    """Bring dump directories, archives and files into the warehouse at `database`.

    With no paths and `request.retry_rejects`, files rejected before are read again
    where they came from. Otherwise as `ingest_sources`; raises UsageError where nothing
    is there to read.
    """
    sources = discover(paths, run_name=request.name, limits=limits) if paths else []
    return ingest_sources(
        sources,
        database,
        request=request,
        jobs=jobs,
        limits=limits,
        progress=progress,
        prepare=prepare,
    )


def ingest_sources(
    sources: Sequence[RunSource],
    database: str | Path,
    *,
    request: RunRequest = DEFAULT_REQUEST,
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    prepare: Preparation | None = None,
) -> list[RunSummary]:
    """Bring runs into the warehouse at `database`, wherever they come from.

    Runs that were staged beside it come along, and are the last of the summaries.
    `prepare` is done once, of a new warehouse while workers parse.

    Raises WarehouseError where the warehouse cannot be written. Bad input is recorded,
    never raised. Where the warehouse is locked for too long, what it lacks is staged
    before WarehouseLocked is raised.
    """
    database = Path(database)
    later = None if database.exists() else prepare
    whole, held = _open(sources, database, request, None if later else prepare)
    found = [
        unchanged_run(source, run, request, progress, limits)
        if (run := whole.get(source.name))
        else None
        for source in sources
    ]
    rest = [s for s, known in zip(sources, found, strict=True) if known is None]
    if sources and not rest and not is_anything_staged(database):
        return [known for known in found if known is not None]
    # Loading this takes longer than most ingests that find nothing new.
    from hlodb.ingest.pipeline.schedule import store_sources

    stored = iter(
        store_sources(
            rest,
            database,
            request,
            jobs=jobs,
            limits=limits,
            progress=progress,
            held=held,
            prepare=later,
        )
    )
    return [*(known or next(stored) for known in found), *stored]


def _open(
    sources: Sequence[RunSource],
    database: Path,
    request: RunRequest,
    prepare: Preparation | None,
) -> tuple[dict[str, WholeRun], Holdings | None]:
    """Open or make the warehouse; give the runs that it may have already, by name.

    Where it has none of them, also give what it does hold.
    """
    try:
        with connect(database, read_only=False) as connection:
            if prepare is not None:
                prepare(connection)
            # Staged runs are older, and have to be in before others are looked for.
            if is_anything_staged(database):
                return {}, None
            whole = whole_runs(connection, sources, request)
            # Reading what may be known takes long; by then others may have written.
            return whole, None if whole else holdings(connection)
    except WarehouseLocked as error:
        from hlodb.ingest.pipeline.schedule import staged_error

        raise staged_error(error, sources, request, database) from error

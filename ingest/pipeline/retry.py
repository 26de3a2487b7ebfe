"""Runs of which something was rejected, found again where they came from."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hlodb.errors import UsageError
from hlodb.ingest.load.run_records import RecordedFile, RunRequest, recorded_files
from hlodb.ingest.load.statements import statement
from hlodb.ingest.sources.archives import Refuse
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.ingest.sources.limits import Limits
from hlodb.ingest.sources.units import Unit
from hlodb.schema.warehouse import connect

_log = logging.getLogger(__name__)


def rejected_runs(
    database: Path, limits: Limits
) -> Iterator[tuple[RunSource, RunRequest]]:
    """Yield every run with rejected files whose dump is still as it was.

    A warning tells of those that are gone or have changed, or that only the warehouse
    says where to fetch.
    """
    with connect(database) as connection:
        runs = connection.execute(statement("list_rejected_runs")).fetchall()
        recorded = {name: recorded_files(connection, name) or {} for name, _ in runs}
    for name, origin in runs:
        if is_fetched(origin):
            _log.warning(
                "run %s came from %s, which is fetched only if you name it: `hlodb"
                " ingest %s --run %s --retry-rejects`",
                name,
                origin,
                shlex.quote(origin),
                shlex.quote(name),
            )
            continue
        source = unchanged_source(name, origin, recorded[name], limits)
        if source is None:
            _log.warning(
                "run %s is no longer at %s as it was; its rejects stay",
                name,
                origin,
            )
            continue
        yield source, RunRequest(name=name, retry_rejects=True)


def is_fetched(origin: str) -> bool:
    """Return whether a dump lies at an address, as `discover` takes it."""
    return not RunSource("", origin).is_local


def unchanged_source(
    name: str, origin: str, recorded: dict[str, RecordedFile], limits: Limits
) -> RunSource | None:
    """Return the dump of a run, if it still holds all recorded files unchanged."""
    source = _same_source(origin, recorded, limits)
    if source is None:
        return None
    read = partial(_read_recorded, source, recorded)
    return RunSource(name, origin, source.file_count, _read=read)


def _same_source(
    origin: str, recorded: dict[str, RecordedFile], limits: Limits
) -> RunSource | None:
    try:
        sources = discover([origin], limits=limits)
    except UsageError:
        return None
    for source in sources:
        if source.origin == origin:
            same = {
                file.path
                for unit in source.units()
                for file in unit.files
                if file.path in recorded and recorded[file.path].holds(file.data)
            }
            return source if same == recorded.keys() else None
    return None


def _read_recorded(
    source: RunSource, recorded: dict[str, RecordedFile], refuse: Refuse
) -> Iterator[Unit]:
    # A run of loose files says only the folder, where others may lie as well.
    for unit in source.units():
        if any(file.path in recorded for file in unit.files):
            yield unit
    for file in source.refused.summed_up():
        refuse(file)

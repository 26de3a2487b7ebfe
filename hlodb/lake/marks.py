"""Runs of a lake deleted or pruned: marks say so, compaction drops the rows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hlodb.ingest.load.delete import Retention, runs_to_prune
from hlodb.lake.catalogue import open_lake, refresh
from hlodb.lake.layout import lake_at, part_name
from hlodb.lake.packages import copy_rows
from hlodb.lake.storage import Storage, writing
from hlodb.schema.connection import Connection


def delete_runs(lake: Path, run_ids: Iterable[int]) -> None:
    """Hide runs, given by their numbers, and what only they use."""
    storage = lake_at(lake)
    with _drafting(storage) as (connection, folder):
        _mark(connection, storage, folder, run_ids, "deleted")
    refresh(storage)


def prune_lake(
    lake: Path, retention: Retention, *, drop_timelines: bool, dry_run: bool
) -> dict[int, str]:
    """Hide the details of old runs; return run_id → name of those runs, in order."""
    storage = lake_at(lake)
    if dry_run:
        with closing(open_lake(storage)) as connection:
            return runs_to_prune(connection, retention)
    with _drafting(storage) as (connection, folder):
        runs = runs_to_prune(connection, retention)
        if not runs:
            return runs
        _mark(
            connection, storage, folder, runs, "pruned", drops_timelines=drop_timelines
        )
    refresh(storage)
    return runs


@contextmanager
def _drafting(lake: Storage) -> Iterator[tuple[Connection, Path]]:
    """Yield a connection that reads a lake, and a folder that it may write to."""
    with (
        writing(lake.address),
        lake.drafts() as folder,
        closing(open_lake(lake, [folder])) as connection,
    ):
        yield connection, folder


def _mark(
    connection: Connection,
    lake: Storage,
    folder: Path,
    run_ids: Iterable[int],
    mark: str,
    *,
    drops_timelines: bool = False,
) -> None:
    numbers = ", ".join(map(str, run_ids))
    select = (
        f"SELECT run_key, '{mark}' AS mark, now()::TIMESTAMP AS happened_at,"
        f" {drops_timelines} AS drops_timelines"
        f" FROM parts.run_keys WHERE run_id IN ({numbers})"
    )
    name = f"{mark}-{secrets.token_hex(8)}"
    draft = folder / "mark.parquet"
    copy_rows(connection, select, draft)
    lake.put(draft, part_name("marks", name))

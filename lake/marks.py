"""Runs of a lake deleted or pruned: marks say so, compaction drops the rows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hlodb.ingest.load.delete import Retention, runs_to_prune
from hlodb.lake.catalogue import open_lake, refresh
from hlodb.lake.layout import drafts, part_path, publish, root_of
from hlodb.lake.packages import copy_rows
from hlodb.schema.connection import Connection


def delete_runs(lake: Path, run_ids: Iterable[int]) -> None:
    """Hide runs, given by their numbers, and what only they use."""
    root = root_of(lake)
    with closing(open_lake(root)) as connection:
        _mark(connection, root, run_ids, "deleted")
    refresh(root)


def prune_lake(
    lake: Path, retention: Retention, *, drop_timelines: bool, dry_run: bool
) -> dict[int, str]:
    """Hide the details of old runs; return run_id → name of those runs, in order."""
    root = root_of(lake)
    with closing(open_lake(root)) as connection:
        runs = runs_to_prune(connection, retention)
        if dry_run or not runs:
            return runs
        _mark(connection, root, runs, "pruned", drops_timelines=drop_timelines)
    refresh(root)
    return runs


def _mark(
    connection: Connection,
    root: Path,
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
    with drafts(root) as folder:
        draft = folder / "mark.parquet"
        copy_rows(connection, select, draft)
        publish(draft, part_path(root, "marks", name))
